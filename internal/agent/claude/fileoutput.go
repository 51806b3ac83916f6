package claude

import (
	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/tidwall/gjson"
)

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
		return c.opts.Beside.ReadOutput(content.FileRead{CallID: callID, File: file, Offset: in.Get("offset").Int(), Limit: in.Get("limit").Int(), At: call.Offset}, sent)
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
