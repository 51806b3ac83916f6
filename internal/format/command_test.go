package format

import (
	"os/exec"
	"strings"
	"testing"
)

// A shell gives back the words, and does nothing else with them.
func TestCommand(t *testing.T) {
	for _, word := range []string{"01a1edfd-e191-74b0-9003-79b97f4a7c15", "/home/a b/c", "$(touch x)", "`id`", "it's", "a;b", "", "~", "*", "-n", "!x", "é"} {
		text := Command("printf", "%s", word)
		out, err := exec.Command("sh", "-c", text).Output()
		if err != nil || string(out) != word {
			t.Errorf("%s gives %q, want %q (%v)", text, out, word, err)
		}
	}
	if got := Command("x", "a\x1b[31m\n\u009b\u202eb"); strings.ContainsAny(got, "\x1b\n\u009b\u202e") || got != "x 'a·[31m···b'" {
		t.Errorf("%q", got)
	}
	if got := Command("codex", "resume", "01a1"); got != "codex resume 01a1" {
		t.Errorf("%q", got)
	}
}
