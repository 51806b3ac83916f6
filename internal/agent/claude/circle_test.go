package claude_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestOwnAncestor: nothing goes round for ever, neither where a lost parent hangs on its own child, nor where a lost output is
// to be hung behind what stands above its call, as in a file whose records stand backwards.
func TestOwnAncestor(t *testing.T) {
	for _, path := range []string{"testdata/own-ancestor.jsonl", "testdata/backwards.jsonl"} {
		res, err := lint.File(t.Context(), path, lint.Options{})
		if err != nil || len(res.Findings) == 0 {
			t.Errorf("%s: %+v, %v", path, res, err)
		}
	}
}

// TestCircleHealed: a circle of parents that begins in the five seconds behind the record before it costs the newest client
// nothing, and is only noted; 2.1.100 begins below it.
func TestCircleHealed(t *testing.T) {
	var lines []string
	for i, l := range []struct{ typ, uuid, parent, content string }{
		{"user", "u1", "", `"one"`},
		{"assistant", "a1", "u1", `[{"type":"text","text":"yes"}]`},
		{"user", "u2", "a4", `"two"`},
		{"assistant", "a2", "u2", `[{"type":"text","text":"no"}]`},
		{"user", "u3", "a2", `"three"`},
		{"assistant", "a3", "u3", `[{"type":"text","text":"ok"}]`},
		{"user", "u4", "a3", `"four"`},
		{"assistant", "a4", "u4", `[{"type":"text","text":"so"}]`},
		{"user", "u5", "a4", `"five"`},
		{"assistant", "a5", "u5", `[{"type":"text","text":"end"}]`},
	} {
		lines = append(lines, fmt.Sprintf(`{"parentUuid":%q,"type":%q,"message":{"id":"msg_%d","role":%q,"content":%s},"uuid":%q,"timestamp":"2026-11-20T10:00:%02d.000Z","version":"2.1.215"}`+"\n", l.parent, l.typ, i, l.typ, l.content, l.uuid, i*2))
	}
	text := strings.Replace(strings.Join(lines, ""), `"parentUuid":""`, `"parentUuid":null`, 1)
	for version, want := range map[string]lint.Impact{"2.1.330": lint.Notes, "2.1.215": lint.Notes, "2.1.100": lint.Loses, "2.1.2": lint.Blocks} {
		res, err := lint.Session(t.Context(), strings.NewReader(text), lint.Options{Agent: "claude", For: map[string]string{"claude": version}})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(res.Findings, func(f lint.Finding) bool { return f.Rule.Name == "parent-cycle" })
		if i < 0 || res.Findings[i].Impact != want || want == lint.Notes && (res.Summary.Seen != 10 || res.Summary.Items != 10) {
			t.Errorf("%s: %+v, %d of %d items", version, res.Findings, res.Summary.Seen, res.Summary.Items)
		}
	}
}
