package claude_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestKeptAsSent: which messages a compaction has kept comes back from the request behind it, where the mark does not say it
// any more or is gone itself. Where no request tells it, only the last comes back.
func TestKeptAsSent(t *testing.T) {
	const session = "../../../fixtures/claude/2.1.330/compact_auto/8d16a419-c8cf-4d8e-bca0-9e2034173d91.jsonl"
	text, err := os.ReadFile(session)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	var said string // by the mark
	var kept []string
	mark := 0
	for line := range bytes.Lines(text) {
		if gjson.GetBytes(line, "subtype").String() == "compact_boundary" {
			mark, said = len(lines), `,"compactMetadata":`+gjson.GetBytes(line, "compactMetadata").Raw
			for _, id := range gjson.GetBytes(line, "compactMetadata.preservedMessages.uuids").Array() {
				kept = append(kept, id.String())
			}
		}
		lines = append(lines, string(line))
	}
	kept = kept[:len(kept)-1] // the last is what the client has added to the prompt
	unsaid := slices.Clone(lines)
	if unsaid[mark] = strings.Replace(lines[mark], said, "", 1); unsaid[mark] == lines[mark] {
		t.Fatal("the mark says nothing")
	}
	isRequest := func(l string) bool { return gjson.Get(l, "type").String() == "api-request" }
	for name, c := range map[string]struct {
		lines []string
		rule  string
		want  []string
	}{
		"unsaid":         {unsaid, "lost-kept", kept},
		"the mark gone":  {slices.Delete(slices.Clone(lines), mark, mark+1), "lost-boundary", kept},
		"without hashes": {slices.DeleteFunc(slices.Clone(unsaid), isRequest), "lost-kept", kept[len(kept)-1:]},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "projects/-home-dev-demo", filepath.Base(session))
			found := lintAt(t, path, strings.Join(c.lines, ""))
			i := find(found, c.rule)
			if i < 0 {
				t.Fatalf("%+v", found)
			}
			var made []byte
			for _, e := range found[i].Edits {
				made = append(made, e.New.Literal...)
				for _, cut := range e.Cuts {
					made = append(made, cut.New...)
				}
			}
			var got []string
			ids := regexp.MustCompile(`"uuids":\[([^]]*)\]`).FindSubmatch(made)
			if ids != nil {
				got = strings.Split(strings.ReplaceAll(string(ids[1]), `"`, ""), ",")
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("kept %q, want %q", got, c.want)
			}
		})
	}
}
