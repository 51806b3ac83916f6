package claude

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// ownWords are the beginnings of texts that a client writes in the user's name without a question, or only to compact. Few
// other texts begin with the first characters of these.
var ownWords = [][]byte{
	[]byte(`"[Request interrupted by user`), []byte(`"<command-name>`), []byte(`"<command-message>`), []byte(`"<local-command-`), []byte(`"<bash-`), []byte(`"/compact`),
	[]byte(`"<session-start-hook>`), // 1.0.72
}

// unknownCommands begin what a client says when the user types a command that it does not know; the command's name follows, and nothing
// else (2.1.77 to 2.1.96 seen).
var unknownCommands = [][]byte{[]byte(`Unknown skill: `), []byte(`Unknown slash command: `), []byte(`Unknown command: `)}

// namesUnknownCommand says whether a message's content is such a text.
func namesUnknownCommand(content []byte) bool {
	content = bytes.TrimPrefix(content, []byte(`[{"type":"text","text":`))
	words, _, _ := bytes.Cut(bytes.TrimPrefix(content, []byte(`"`)), []byte(`"`))
	for _, start := range unknownCommands {
		if name, ok := bytes.CutPrefix(words, start); ok {
			return len(name) > 0 && !bytes.ContainsAny(name, ` \`)
		}
	}
	return false
}

// asksNothing says whether a message's content begins with such a text.
func asksNothing(content []byte) bool {
	if namesUnknownCommand(content) {
		return true
	}
	const front = len(`[{"type":"text","text":`)
	for i := 0; ; i++ {
		next := bytes.IndexByte(content[i:max(i, min(len(content), front+1))], '"')
		if next < 0 {
			return false
		}
		i += next
		if rest := content[i:]; len(rest) > 1 && strings.IndexByte("[</", rest[1]) >= 0 && slices.ContainsFunc(ownWords, func(w []byte) bool { return bytes.HasPrefix(rest, w) }) {
			return true
		}
	}
}

// asks says whether a message's content waits for an answer: a prompt does, and so does a command that stands for one, which names its
// words first. What a user runs by hand, what that prints, and the client's own words do not.
func asks(content []byte) bool {
	return !asksNothing(content) || bytes.HasPrefix(content, []byte(`"<command-message>`))
}

// clears says whether a text of the client's is the command to forget the conversation. 1.0.17 names it without a slash.
func clears(content []byte) bool {
	return bytes.Contains(content, []byte("<command-name>clear</command-name>")) || bytes.Contains(content, []byte("<command-name>/clear</command-name>"))
}

// byHand says whether a text of the client's is about something that users do in a terminal only: interrupt a turn, or run a command of the
// shell's or the client's by hand.
func byHand(content []byte) bool {
	const compacting = "<command-name>compact" // a program can ask for that, too
	return bytes.Contains(content, []byte("[Request interrupted by user")) || bytes.Contains(content, []byte("<bash-input>")) ||
		bytes.Contains(content, []byte("<command-name>")) && !bytes.Contains(content, []byte(compacting)) && !bytes.Contains(content, []byte("<command-name>/compact"))
}

// continues says whether a message is a summary, by its first words: 1.0.17 does not mark summaries in any other way.
func continues(content []byte) bool {
	return bytes.HasPrefix(content, []byte(`"This session is being continued from a previous conversation`))
}

// stoppedByHook begins what a client says to the model of a prompt that a hook of the user's has stopped.
const stoppedByHook = `"Operation stopped by hook`

// saysOver says whether a client tells with a record how a turn ended: it prints what a command has given, notes how long the turn took,
// or that the user's limit of turns or a hook has ended it (2.1.100 and 2.1.332, measured; up to 2.1.2 the last two leave no word).
func (n *node) saysOver(rec *session.Record) bool {
	switch n.typ {
	case "attachment":
		kind := string(text(rec, fieldAttachment))
		return kind == "max_turns_reached" || kind == "hook_stopped_continuation"
	case "system":
		kind := string(text(rec, fieldSubtype))
		return kind == "local_command" || kind == "turn_duration"
	}
	return n.synthetic || n.typ == "user" && bytes.HasPrefix(field(rec, fieldContent), []byte(stoppedByHook))
}

// lastTurn reports that the session ends in the middle of a turn.
func (c *Checker) lastTurn() {
	if c.opts.Live || c.opts.SubAgent {
		return
	}
	last := c.tipOf(c.leaf)
	for last != nil && !last.over && (!last.sent() || last.filler || last.meta || last.dropped != nil) {
		last = last.up
	}
	if last != nil && last.over {
		return // the client itself says how the turn ended
	}
	if last == nil || last.new != nil || slices.ContainsFunc(c.found, func(d *draft) bool { return d.Rule == ruleUnfinishedCall }) {
		return // the finding about an unfinished call says as much
	}
	note := func(rule *finding.Rule, message string) {
		c.add(&draft{about: last, always: true, Finding: finding.Finding{Rule: rule, Impact: finding.Notes, Message: message}})
	}
	switch {
	case last.isPrompt() && !last.asksNothing:
		note(check.UnansweredPrompt, "the last prompt got no answer")
	case last.role == roleResult && c.answersForm(last): // that was the answer
	case last.role == roleResult && !last.denied && !before(last.version, "1.0.128"): // older ones do not record an error here either
		note(ruleCutTurn, "the last turn stopped between a tool's output and the model's next answer")
	case last.role == roleAssistant && last.stop == "" && len(last.ids(blockCall)) == 0 && last.version != "" && !before(last.version, "2.1.100") && before(last.version, "2.1.216"):
		note(ruleCutTurn, "the last answer was cut off in the middle: the client took what had come for all of it")
	}
}

// answersForm says whether a result is of the call by which the model gives an answer in the form that the user has asked for: with
// --json-schema a turn ends so (2.1.332, measured).
func (c *Checker) answersForm(result *node) bool {
	call := c.callOf(result)
	return call != nil && slices.ContainsFunc(call.blocks, func(b block) bool { return b.kind == blockCall && b.name == "StructuredOutput" })
}

// reachable reports how much of the session the client sends, if damage has made that less.
func (c *Checker) reachable() {
	if c.opts.Branch != "" {
		return // what is left out is left out on purpose
	}
	damaged := false
	for _, d := range c.found {
		damaged = damaged || d.Impact >= finding.Loses && (d.Rule.Family == "chain" || d.Rule.Family == "lost")
	}
	if s := c.Summary; damaged && s.Reached < s.Holding {
		c.add(&draft{about: c.nodes[0], always: true, Finding: finding.Finding{
			Rule: ruleReachable, Impact: finding.Notes, Message: fmt.Sprintf("the client sends %d of the %d records that hold content", s.Reached, s.Holding),
		}})
	}
}
