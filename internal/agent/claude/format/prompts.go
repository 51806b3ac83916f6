package format

import (
	"bytes"
	"slices"
	"strings"
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
	content = bytes.TrimPrefix(bytes.TrimPrefix(content, []byte(`[{"type":"text","text":`)), []byte(`"`))
	if !bytes.HasPrefix(content, []byte("Unknown ")) { // as nearly all
		return false
	}
	words, _, _ := bytes.Cut(content, []byte(`"`))
	for _, start := range unknownCommands {
		if name, ok := bytes.CutPrefix(words, start); ok {
			return len(name) > 0 && !bytes.ContainsAny(name, ` \`)
		}
	}
	return false
}

// AsksNothing says whether a message's content begins with such a text.
func AsksNothing(content []byte) bool {
	if namesUnknownCommand(content) {
		return true
	}
	const front = len(`[{"type":"text","text":`)
	for i := range min(len(content)-1, front+1) {
		if content[i] != '"' || strings.IndexByte("[</", content[i+1]) < 0 {
			continue
		}
		if slices.ContainsFunc(ownWords, func(w []byte) bool { return bytes.HasPrefix(content[i:], w) }) {
			return true
		}
	}
	return false
}

// asks says whether a message's content waits for an answer: a prompt does, and so does a command that stands for one, which names its
// words first. What a user runs by hand, what that prints, and the client's own words do not.
func asks(content []byte) bool {
	return !AsksNothing(content) || bytes.HasPrefix(content, []byte(`"<command-message>`))
}

// Clears says whether a text of the client's is the command to forget the conversation. 1.0.17 names it without a slash.
func Clears(content []byte) bool {
	return bytes.Contains(content, []byte("<command-name>clear</command-name>")) || bytes.Contains(content, []byte("<command-name>/clear</command-name>"))
}

// ByHand says whether a text of the client's is about something that users do in a terminal only: interrupt a turn, or run a command of the
// shell's or the client's by hand.
func ByHand(content []byte) bool {
	const compacting = "<command-name>compact" // a program can ask for that, too
	return bytes.Contains(content, []byte("[Request interrupted by user")) || bytes.Contains(content, []byte("<bash-input>")) ||
		bytes.Contains(content, []byte("<command-name>")) && !bytes.Contains(content, []byte(compacting)) && !bytes.Contains(content, []byte("<command-name>/compact"))
}

// Continues says whether a message is a summary, by its first words: 1.0.17 does not mark summaries in any other way.
func Continues(content []byte) bool {
	return bytes.HasPrefix(content, []byte(`"This session is being continued from a previous conversation`))
}

// StoppedByHook begins what a client says to the model of a prompt that a hook of the user's has stopped.
const StoppedByHook = `"Operation stopped by hook`
