package repair

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// shownKeys are the members of a record whose text is no one's words.
var shownKeys = map[string]bool{
	"type": true, "timestamp": true, "id": true, "call_id": true, "turn_id": true, "thread_id": true, "session_id": true, "role": true,
	"status": true, "name": true, "reason": true, "phase": true, "history_mode": true, "cli_version": true, "originator": true,
	"source": true, "execution": true, "forked_from_id": true,
}

// knownKeys are further members that the format has; any other key may be someone's word.
var knownKeys = map[string]bool{
	"payload": true, "ordinal": true, "content": true, "text": true, "output": true, "arguments": true, "input": true, "item": true,
	"message": true, "summary": true, "encrypted_content": true, "error": true, "metadata": true, "cwd": true, "base_instructions": true,
	"model_provider": true, "instructions": true, "last_agent_message": true, "info": true, "rate_limits": true, "namespace": true,
	"internal_chat_message_metadata_passthrough": true, "replacement_history": true, "action": true, "tools": true,
}

// recordDepth is how deep the members of a payload lie; what lies deeper may be a tool's own.
const recordDepth = 2

// Redact shows the outline of a line: its structure, the keys of the format and short technical values, and of every
// other text only its length in bytes. It reads as far as the line goes; what is no JSON is counted, not shown.
func Redact(line []byte) string {
	if bytes.IndexByte(line, '{') != 0 {
		return fmt.Sprintf("‹%d bytes›", len(line))
	}
	o := outline{line: line}
	for o.at < len(line) {
		o.step()
	}
	o.endJunk()
	return o.b.String()
}

// outline writes what may be shown of a line.
type outline struct {
	line  []byte
	at    int
	b     strings.Builder
	key   string
	value bool   // a value comes next, no key
	open  []byte // brackets
	junk  int    // bytes outside of strings that are no JSON
}

func (o *outline) step() {
	switch c := o.line[o.at]; {
	case c == '"':
		o.endJunk()
		o.text()
		return
	case c == '{' || c == '[':
		o.open = append(o.open, c)
		o.value = c == '['
	case c == '}' || c == ']':
		o.open = o.open[:max(0, len(o.open)-1)]
	case c == ':':
		o.value = true
	case c == ',':
		o.value = len(o.open) > 0 && o.open[len(o.open)-1] == '['
	default:
		if n := scalar(o.line[o.at:]); n > 0 {
			o.endJunk()
			o.b.Write(o.line[o.at : o.at+n])
			o.at += n
			return
		}
		o.junk++
		o.at++
		return
	}
	o.endJunk()
	o.b.WriteByte(o.line[o.at])
	o.at++
}

// text shows a string literal, or its length.
func (o *outline) text() {
	n := literal(o.line[o.at:])
	raw := o.line[o.at : o.at+n]
	words := bytes.TrimSuffix(raw[1:], []byte{'"'})
	show := false
	if o.value {
		deep := len(o.open) > recordDepth && o.key != "type"
		show = shownKeys[o.key] && !deep && len(words) <= 64
	} else {
		o.key = string(words)
		show = shownKeys[o.key] || knownKeys[o.key]
	}
	if show {
		o.b.WriteString(safe(raw, 80))
	} else {
		fmt.Fprintf(&o.b, "‹%d bytes›", len(words))
	}
	o.at += n
}

func (o *outline) endJunk() {
	if o.junk > 0 {
		fmt.Fprintf(&o.b, "‹%d bytes›", o.junk)
		o.junk = 0
	}
}

// scalar returns the length of the number or literal that raw begins with, 0 if it begins with none.
func scalar(raw []byte) int {
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(raw, []byte(word)) {
			return len(word)
		}
	}
	n := 0
	for n < len(raw) && bytes.IndexByte([]byte("0123456789+-.eE"), raw[n]) >= 0 {
		n++
	}
	if n > 0 && raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0
	}
	return n
}

// literal returns the length of the string literal that line begins with, or all of it if it does not end.
func literal(line []byte) int {
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(line)
}

// safe shows bytes so that a terminal does nothing with them.
func safe(b []byte, limit int) string {
	text := string(b[:min(len(b), limit)])
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7F || r >= 0x80 && r < 0xA0 || r == utf8.RuneError {
			return '·'
		}
		return r
	}, text)
}
