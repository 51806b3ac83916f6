package jsonl

import (
	"strings"
	"testing"
)

func TestPastString(t *testing.T) {
	for _, body := range []string{``, `a`, `\"`, `\\`, `\\\"`, `\u0022\u005c`, `号`, "\x01"} {
		for length := range 200 {
			text := "[" + `"` + strings.Repeat("x", length) + strings.Repeat(body, 1+length%40) + `"`
			for _, behind := range []string{"", `,"next"]`, strings.Repeat(`"`, 130)} {
				if got := PastString([]byte(text+behind), 1); got != len(text) {
					t.Fatalf("%q: %d, want %d", text+behind, got, len(text))
				}
			}
		}
	}
	for _, text := range []string{`"`, `"a`, `"a\`, `"` + strings.Repeat(`\`, 127), `"` + strings.Repeat("a", 200)} {
		if got := PastString([]byte(text), 0); got != len(text) {
			t.Errorf("%q: %d, want its end", text, got)
		}
	}
}
