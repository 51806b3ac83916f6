package mend

import (
	"bytes"
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// The client keeps large outputs, and the conversations of sub-agents, in files of their own (2.1.2 to 2.1.330, measured). The session
// shows how an output begins and how long it is, so damage to its file can be told.

// filed is an output or a sub-agent's conversation in a file of its own.
type filed struct {
	of     *node
	output string // the path of an output's file, as the record names it; "" for a sub-agent's
	agent  string // the sub-agent's id
	size   int64  // of the output in bytes; 0 if the record does not say
	starts string // how it begins; of a sub-agent: its answer
}

// Limits of what is checked beside a session.
const (
	maxFiled  = 64       // files
	maxStarts = 16 << 10 // bytes of an output's beginning that are compared
)

// How an output begins that has a file, and what the client writes of a sub-agent that has answered (2.0.29 to 2.1.332, measured). Looking
// for their marks anywhere took 4 % of lint's time.
var (
	persistedStart = []byte(`"<persisted-output>`)
	agentStart     = []byte(`{"status":"completed"`)
)

// persisted is how the client tells the model where an output is.
var persisted = regexp.MustCompile(`^<persisted-output>\nOutput too large \([^)]*\)\. Full output saved to: ([^\n]+)\n`)

// noteFiled keeps what a record tells of a file beside the session.
func (c *Checker) noteFiled(rec *session.Record, n *node) {
	result := format.Field(rec, format.FieldToolResult)
	if c.opts.Beside == nil || n.Role != content.RoleResult || n.Side || len(result) == 0 || result[0] != '{' || len(c.filed) == maxFiled {
		return
	}
	if content := format.Field(rec, format.FieldBlockContent); bytes.HasPrefix(content, persistedStart) {
		words, _ := jsonl.Unquote(content)
		if m := persisted.FindStringSubmatch(words); m != nil {
			told := gjson.GetManyBytes(result, "persistedOutputSize", "stdout")
			c.filed = append(c.filed, filed{of: n, output: m[1], size: told[0].Int(), starts: told[1].String()[:wholeRunes(told[1].String(), maxStarts)]})
		}
		return
	}
	if len(result) < content.MaxTold && bytes.HasPrefix(result, agentStart) {
		id, said := gjson.GetBytes(result, "agentId").String(), gjson.GetBytes(result, "content.#.text").Array()
		if id != "" && len(said) > 0 { // the client may tell of the tools in front of the answer
			c.filed = append(c.filed, filed{of: n, agent: id, starts: said[len(said)-1].String()})
		}
	}
}

// wholeRunes is how many bytes of a text, up to a number, are whole characters.
func wholeRunes(s string, most int) int {
	if len(s) <= most {
		return len(s)
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return most
}

// damagedFiles reports files beside the session that are missing or damaged. No conversation depends on them: the model only finds
// less when it looks into an output, or the user into what a sub-agent did.
func (c *Checker) damagedFiles() {
	if c.opts.Live || c.opts.Beside == nil {
		return
	}
	for _, f := range c.filed {
		fault := ""
		if f.output != "" {
			fault = c.opts.Beside.OutputFault(f.output, f.size, f.starts, time.UnixMilli(f.of.When))
		} else {
			fault = c.opts.Beside.AgentFault(f.agent, f.starts, time.UnixMilli(f.of.When))
		}
		if fault != "" {
			c.find(f.of, faults.DamagedFile, fault)
		}
	}
}

const clientsWords = "the client's own wording"

// fileOutput finds the lost output of a call: of one that read or changed a file, if the session or the client's file history
// shows it, or of a command that printed nothing.
func (c *Checker) fileOutput(call *node, callID string) (words, source string) {
	if c.opts.Beside == nil || call.new != nil || call.mended {
		return "", ""
	}
	block := c.callBlock(call, callID)
	in := block.Get("input")
	file := in.Get("file_path").String()
	sent := func(words string) bool {
		return c.provedOutput(call, format.Object{"type": "tool_result", "tool_use_id": callID, "content": words}) != ""
	}
	proofs := len(c.proof.sent) > 0
	switch name := block.Get("name").String(); {
	case name == "Bash" && proofs && sent(silent):
		return silent, clientsWords
	case file == "":
	case name == "Read":
		if !proofs {
			sent = nil
		}
		return c.opts.Beside.ReadOutput(content.FileRead{File: file, Offset: in.Get("offset").Int(), Limit: in.Get("limit").Int(), At: call.Offset}, sent)
	case proofs && (name == "Edit" || name == "Write"):
		for _, words := range changedWords(file) {
			if sent(words) {
				return words, clientsWords
			}
		}
	}
	return "", ""
}

// callBlocks are the blocks of one record, by their ids.
type callBlocks struct {
	of   *node
	byID map[string]gjson.Result
}

// callBlock is the block of a call as it stands in the file. The calls of a record are asked for one after another, so the
// record is read once.
func (c *Checker) callBlock(call *node, callID string) gjson.Result {
	if c.asked.of != call {
		c.asked = callBlocks{call, map[string]gjson.Result{}}
		gjson.GetBytes(c.opts.Beside.Line(call.Offset), "message.content").ForEach(func(_, b gjson.Result) bool {
			if id := b.Get("id").String(); !c.asked.byID[id].Exists() {
				c.asked.byID[id] = b
			}
			return true
		})
	}
	return c.asked.byID[callID]
}

// silent is what the client sends for a command without output (2.1.75 to 2.1.330, measured).
const silent = "(Bash completed with no output)"

// changedWords are all outputs that a client which logs hashes of its requests has for a changed file (2.1.300 to 2.1.330,
// measured). The hash shows which one it was.
func changedWords(file string) (list []string) {
	for _, note := range []string{"", " (file state is current in your context — no need to Read it back)"} {
		for _, words := range []string{
			"The file " + file + " has been updated successfully.", "The file " + file + " has been updated.",
			"The file " + file + " has been updated. All occurrences were successfully replaced.", "File created successfully at: " + file,
		} {
			list = append(list, words+note)
		}
	}
	return list
}
