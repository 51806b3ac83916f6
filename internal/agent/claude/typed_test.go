package claude_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTypedPrompts: a lost prompt comes back from the list of what was typed only if it was typed between the records that
// it stood between. One that the session still holds, or that was typed before, is not taken for it.
func TestTypedPrompts(t *testing.T) {
	text, err := os.ReadFile("../../../fixtures/claude/rules/lost-prompt/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var lines [][]byte // of the conversation: nothing else in the file tells the prompt's words
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte(`"parentUuid"`)) {
			lines = append(lines, line)
		}
	}
	const session, first, lost = "7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a11", 1795168800000, 1795168885000 // 10:00:00 and 10:01:25
	entry := func(words string, when int64) string {
		return fmt.Sprintf("{\"display\":%q,\"pastedContents\":{},\"timestamp\":%d,\"project\":\"/home/dev/demo\",\"sessionId\":%q}\n", words, when, session)
	}
	for name, c := range map[string]struct {
		typed string
		want  string // of the words that come back, "" if none do
	}{
		"whole":             {entry("which files are here", first) + entry("what does it say", lost), "what does it say"},
		"the same again":    {entry("go on", first) + entry("go on", lost), "go on"},
		"not listed":        {entry("which files are here", first), ""},
		"typed later":       {entry("which files are here", first) + entry("and now", lost+600_000), ""},
		"behind a long one": {entry(strings.Repeat("x", 5<<20), first) + entry("what does it say", lost), "what does it say"},
		"pasted":            {strings.Replace(entry("see [Pasted text #1 +2 lines] and [Pasted text #2]", lost), "{}", `{"1":{"id":1,"type":"text","content":"one two"},"2":{"id":2,"type":"text","contentHash":"abc123"}}`, 1), "see one two and three four"},
		"torn":              {entry("which files are here", first) + entry("what does it say", lost)[:40], ""},
		"no list":           {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, "projects/-home-dev-demo", session+".jsonl")
			write(t, filepath.Join(home, "history.jsonl"), c.typed)
			write(t, filepath.Join(home, "paste-cache/abc123.txt"), "three four")
			found := lintAt(t, path, string(bytes.Join(lines, nil)))
			i := find(found, "lost-prompt")
			if i < 0 {
				t.Fatalf("%+v", found)
			}
			f := found[i]
			if (f.Source == "history.jsonl") != (c.want != "") || c.want != "" && !bytes.Contains(f.Edits[0].New.Literal, []byte(c.want)) {
				t.Errorf("from %q: %q", f.Source, f.Edits[0].New.Literal)
			}
		})
	}
}
