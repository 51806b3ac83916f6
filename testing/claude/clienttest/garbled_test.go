package clienttest

import (
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestGarbledPrompt: the words of a prompt in which bytes are broken come back from the record that says what came in, if what is left
// of them is the same.
func TestGarbledPrompt(t *testing.T) {
	const broken = "which of th\xf3se is the gr\xf6\xdfte"
	for told, back := range map[string]bool{
		"which of thése is the größte":                                             true,
		"which of those is the smallest":                                           false,
		"which of these":                                                           false,
		"which of thése is the größer":                                             false,
		"and which of thése is the größte":                                         false,
		"which of thése is the größte, then":                                       false,
		"which of th" + strings.Repeat("a long time ago ", 5) + "se is the größte": false,
	} {
		text := strings.Join([]string{
			line("user", "u1", "", asked("hi"), ""), line("assistant", "a1", "u1", said("m1", "yes"), ""),
			`{"type":"queue-operation","operation":"enqueue","content":"` + told + `","sessionId":"s"}`,
			line("user", "u2", "a1", asked(broken), ""), line("assistant", "a2", "u2", said("m2", "ok"), ""),
		}, "\n") + "\n"
		text = strings.Replace(text, `\xf3`, "\xf3", 1)
		text = strings.Replace(strings.Replace(text, `\xf6`, "\xf6", 1), `\xdf`, "\xdf", 1)
		fixed, _ := mend(t, []byte(text), lint.Options{})
		if got := strings.Count(string(fixed), told) == 2; got != back {
			t.Errorf("%s: put back %v, want %v:\n%s", told, got, back, fixed)
		}
	}
}
