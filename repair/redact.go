package repair

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// plainKeys are members whose text is no one's words: they may be shown.
var plainKeys = map[string]bool{
	"type": true, "timestamp": true, "id": true, "call_id": true, "turn_id": true, "thread_id": true, "session_id": true, "role": true,
	"status": true, "name": true, "tool": true, "server": true, "reason": true, "phase": true, "history_mode": true, "cli_version": true,
	"originator": true, "source": true, "execution": true, "kind": true, "model": true, "forked_from_id": true,
}

// Redact shows the outline of a line: its keys and short technical values, and of every other text only its length
// in bytes. It reads as far as the line goes; what is no JSON is counted, not shown.
func Redact(line []byte) string {
	if !utf8.Valid(line) && bytes.IndexByte(line, '{') != 0 {
		return fmt.Sprintf("‹%d bytes that are no text›", len(line))
	}
	if i := bytes.IndexByte(line, '{'); i != 0 {
		return fmt.Sprintf("‹%d bytes›", len(line))
	}
	var b strings.Builder
	key := ""
	value := false
	var stack []byte
	for i := 0; i < len(line); {
		switch c := line[i]; c {
		case '"':
			n := literal(line[i:])
			text := line[i+1 : min(i+n, len(line))]
			text = bytes.TrimSuffix(text, []byte{'"'})
			if !value {
				key = string(text)
				b.WriteString(safe(line[i:min(i+n, len(line))], 64))
			} else if plainKeys[key] && len(text) <= 64 {
				b.WriteString(safe(line[i:min(i+n, len(line))], 80))
			} else {
				fmt.Fprintf(&b, "‹%d bytes›", len(text))
			}
			i += n
			continue
		case ':':
			value = true
		case ',':
			value = len(stack) > 0 && stack[len(stack)-1] == '['
		case '{', '[':
			stack = append(stack, c)
			value = c == '['
		case '}', ']':
			stack = stack[:max(0, len(stack)-1)]
		}
		if c := line[i]; c >= 0x20 && c < 0x7F {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\x%02x`, c)
		}
		i++
	}
	return b.String()
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
