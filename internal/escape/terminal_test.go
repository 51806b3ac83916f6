package escape

import (
	"strings"
	"testing"
)

func TestTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b[1;31mred\x1b[0m\r\x1b[K":         "\x1b[1;31mred\x1b[0m\r\x1b[K",
		"\x1b]0;title\x07\x1b[2J\u009b2J\x1bc": "·]0;title··[2J·2J·c",
		"\u202e\U000e0041é":                    "··é",
	} {
		var b strings.Builder
		if n, err := Terminal(&b).Write([]byte(text)); err != nil || n != len(text) || b.String() != want {
			t.Errorf("%q: %q, want %q (%v)", text, b.String(), want, err)
		}
	}
}
