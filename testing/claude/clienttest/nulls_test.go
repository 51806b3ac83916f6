package clienttest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/lint"
)

// TestNullOutputs: an output that is null is named in every version's sessions, and becomes what the tool's own result tells, or words
// that say that it is lost.
func TestNullOutputs(t *testing.T) {
	for _, of := range []struct{ version, scenario, tool, want string }{
		{"2.1.330", "resumed", "Read", "1\talpha\n2\tbeta\n3\t"},
		{"2.1.215", "resumed", "Read", "1\talpha\n2\tbeta\n3\t"},
		{"2.1.2", "resumed", "Read", "     1→alpha\n     2→beta\n     3→"},
		{"2.1.2", "todo", "TodoWrite", "lost"}, // the client's words are nowhere else
		{"1.0.128", "subagent", "Task", `[{"type":"text","text":"sub done"}]`},
		{"2.1.2", "subagent", "Task", `[{"type":"text","text":"sub done"}]`},
		{"2.1.330", "resumed", "Bash", "one"},
		{"1.0.17", "resumed", "Read", "lost"}, // it notes nothing about a file that it reads
	} {
		s, _ := recording(t, of.version, of.scenario)
		i := s.resultOf(s.find(0, isTool(of.tool)))
		if i < 0 {
			t.Fatalf("%s/%s has no %s", of.version, of.scenario, of.tool)
		}
		for _, bare := range []bool{false, true} {
			l := Set(s[i], "message.content.0", "content", "null")
			if bare {
				l = Set(l, "", "toolUseResult", "null")
			}
			data := s.with(i, l).Bytes()
			if !named(t, data) {
				t.Errorf("%s %s: not named", of.version, of.tool)
			}
			fixed, _ := mend(t, data, lint.Options{})
			got := gjson.GetBytes(Lines(fixed)[i], "message.content.0.content").String()
			if !bare && !strings.Contains(got, of.want) || bare && (got == "" || strings.Contains(got, "alpha")) {
				t.Errorf("%s %s: %q", of.version, of.tool, got)
			}
			if again, _ := mend(t, fixed, lint.Options{}); !bytes.Equal(again, fixed) {
				t.Errorf("%s %s: a second repair changes the session", of.version, of.tool)
			}
		}
	}
}
