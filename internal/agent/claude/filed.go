package claude

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/agent/claude/home"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/regular"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/walk"
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

// maxAgent is how many bytes of a sub-agent's file are read.
const maxAgent = 4 << 20

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
			c.add(&draft{about: f.of, always: true, Finding: finding.Finding{Rule: faults.DamagedFile, Impact: finding.Notes, Message: fault}})
		}
	}
}

// mayBeDeleted says whether the client deletes files that it wrote at a given time.
func (f *folder) mayBeDeleted(written time.Time) bool {
	return home.TooOld(written, home.Retention(filepath.Dir(filepath.Dir(filepath.Dir(f.path)))))
}

// OutputFault compares an output's file with what the session tells of it.
func (f *folder) OutputFault(path string, size int64, starts string, written time.Time) string {
	path = strings.ReplaceAll(path, `\`, "/")
	base := path[strings.LastIndexByte(path, '/')+1:]
	within := strings.Split(path, "/")
	if len(within) < 3 || !format.IsID(within[len(within)-3]) {
		return ""
	}
	dir := filepath.Join(filepath.Dir(f.path), within[len(within)-3], "tool-results")
	if !isDir(dir) {
		return "" // the session was copied without what lies beside it
	}
	name := "the output's own file, tool-results/" + base + ", "
	file, err := regular.Open(filepath.Join(dir, base))
	if err != nil {
		if f.mayBeDeleted(written) {
			return ""
		}
		return name + "is not there: no more of the output is left than the session shows"
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(file, maxAgent))
	switch {
	case err != nil:
		return ""
	case size > 0 && info.Size() != size && !isLength(text, info.Size(), size):
		return name + fmt.Sprintf("is damaged: it has %d bytes, of %d", info.Size(), size)
	case bytes.IndexByte(text, 0) >= 0 && strings.IndexByte(starts, 0) < 0:
		return name + "is damaged: it holds NUL bytes"
	case !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte(strings.TrimLeft(starts, " \t\r\n"))):
		return name + "is damaged: it does not begin as the session shows"
	}
	return ""
}

// isLength says whether a length that the session tells may be that of a file, of which text is the beginning: a length may count
// characters as JavaScript does, not bytes.
func isLength(text []byte, size, told int64) bool {
	if int64(len(text)) < size {
		return told < size && len(text) > utf16Length(text)
	}
	return utf8.Valid(text) && int64(utf16Length(text)) == told
}

func utf16Length(text []byte) (units int) {
	for _, r := range string(text) {
		units += utf16.RuneLen(r)
	}
	return units
}

// AgentFault looks for the file of a sub-agent, for lines in it that are no records, and for the sub-agent's answer.
func (f *folder) AgentFault(id, answer string, written time.Time) string {
	name := "agent-" + id + format.Extension
	if filepath.Base(name) != name {
		return ""
	}
	own := filepath.Join(strings.TrimSuffix(f.path, format.Extension), "subagents")
	path := filepath.Join(own, name)
	if !home.Exists(path) {
		if !isDir(own) || f.agentElsewhere(name) || f.mayBeDeleted(written) {
			return ""
		}
		return "the sub-agent's own file, subagents/" + name + ", is not there: nothing but its answer is left"
	}
	bad, said := int64(0), false
	home.EachLine(path, func(l jsonl.Line, record func() bool) bool {
		switch {
		case record():
			said = said || slices.ContainsFunc(gjson.GetBytes(l.Raw, "message.content.#.text").Array(), func(t gjson.Result) bool { return t.String() == answer })
		case len(bytes.TrimSpace(l.Raw)) > 0:
			bad = l.Number
		}
		return bad == 0 && l.Offset < maxAgent
	})
	switch {
	case bad == 0 && !said && lastAnswer(path) == "": // a sub-agent may go on after its answer
		return "the sub-agent's own file, subagents/" + name + ", is damaged: it does not end with the sub-agent's answer"
	case bad == 0:
		return ""
	}
	return fmt.Sprintf("the sub-agent's own file, subagents/%s, is damaged from line %d on: hist repairs it like a session", name, bad)
}

// agentElsewhere says whether a sub-agent's file lies in the folder of another session, of which this one may be a fork, or where older
// clients write it.
func (f *folder) agentElsewhere(name string) bool {
	project := filepath.Dir(f.path)
	found, _ := filepath.Glob(filepath.Join(walk.Literal(project), "*", "subagents", walk.Literal(name)))
	return len(found) > 0 || home.Exists(filepath.Join(project, name))
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
