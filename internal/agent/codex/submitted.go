package codex

import (
	"strconv"
	"strings"
)

// What the log says of a prompt, in the form in which Rust shows a value for debugging: the id is that of the turn that begins
// with the prompt, and the text is in a list of parts (0.120 to 0.145: items; from 0.148 on: content).
const (
	logSubmitted = "}: Submission sub=Submission { id: \""
	logText      = ": [Text { text: \""
	logTextEnd   = "\", text_elements: [] }]"
)

// PromptFromLog reads a prompt that was typed in a thread, and the turn that began with it, from a row of the client's log; ok
// is false if the row is about something else, or about a prompt of several parts.
func PromptFromLog(thread, row string) (turn, text string, ok bool) {
	rest, ok := strings.CutPrefix(row, logThread+thread+logSubmitted)
	if !ok {
		return "", "", false
	}
	turn, rest, ok = strings.Cut(rest, "\", op: ")
	input := strings.HasPrefix(rest, "UserInput {") || strings.HasPrefix(rest, "TurnInput {")
	_, rest, has := strings.Cut(rest, logText)
	if !ok || !input || !has {
		return "", "", false
	}
	text, rest, ok = unquoteDebug(rest)
	return turn, text, ok && strings.HasPrefix(rest, logTextEnd)
}

// debugEscapes are the characters that follow a backslash in Rust's debug form, and what each stands for.
var debugEscapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', '0': 0, '\\': '\\', '"': '"', '\'': '\''}

// unquoteDebug reads a text up to its closing quote, with which rest begins. Quotes and unprintable characters in it are
// escaped in Rust's debug form.
func unquoteDebug(s string) (text, rest string, ok bool) {
	var out strings.Builder
	for {
		i := strings.IndexAny(s, `"\`)
		if i < 0 {
			return "", "", false
		}
		out.WriteString(s[:i])
		if s = s[i:]; s[0] == '"' {
			return out.String(), s, true
		}
		if len(s) > 1 {
			if c, known := debugEscapes[s[1]]; known {
				out.WriteByte(c)
				s = s[2:]
				continue
			}
		}
		hex, behind, closed := strings.Cut(strings.TrimPrefix(s, `\u{`), "}")
		n, err := strconv.ParseUint(hex, 16, 21)
		if !strings.HasPrefix(s, `\u{`) || !closed || err != nil {
			return "", "", false
		}
		out.WriteRune(rune(n))
		s = behind
	}
}
