package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent/homes"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// lintBeside lints one file of a project's folder.
func lintBeside(t *testing.T, files map[string]string, name string) []string {
	t.Helper()
	home := filepath.Join(t.TempDir(), ".claude")
	dir := filepath.Join(home, "projects", "-home-dev-demo")
	for f, text := range files {
		path := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, name)
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	res, err := homes.Lint(t.Context(), src, lint.Options{Home: home, Name: lint.NameOf(path, true)})
	if err != nil {
		t.Fatal(err)
	}
	if res.Summary.Agent != "claude" {
		t.Errorf("%s is taken for a session of %s", name, res.Summary.Agent)
	}
	var found []string
	for _, f := range res.Findings {
		found = append(found, f.Rule.Name+" "+f.Impact.String())
	}
	return found
}

// TestStrayFiles: what a resume leaves beside the session that it takes up is noted; alone it is a session that is gone, and NULs have
// taken the place of something.
func TestStrayFiles(t *testing.T) {
	const other, stray = "0fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4.jsonl", "1fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4.jsonl"
	session := `{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"hi"}}` + "\n" +
		`{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"` + strings.Repeat("yes, ", 200) + `"}]}}` + "\n"
	title := `{"type":"summary","summary":"a talk","leafUuid":"a1"}` + "\n"
	kept := func(id string) string {
		return `{"type":"file-history-snapshot","messageId":"` + id + `","snapshot":{"messageId":"` + id + `","trackedFileBackups":{}},"isSnapshotUpdate":false}` + "\n"
	}
	for name, c := range map[string]struct {
		text        string
		with, alone string
	}{
		"nothing":                     {"", "empty-file notes", "empty-file blocks"},
		"NULs":                        {strings.Repeat("\x00", 900), "nul-bytes notes, empty-file blocks", "nul-bytes notes, empty-file blocks"},
		"a title and NULs":            {title + strings.Repeat("\x00", 700), "no-conversation blocks, nul-bytes notes", "no-conversation blocks, nul-bytes notes"},
		"a title":                     {title, "no-conversation notes", "no-conversation blocks"},
		"titles":                      {title + title + title + title, "no-conversation notes", "no-conversation blocks"},
		"notes of the other's files":  {title + kept("u1") + kept("u1"), "no-conversation notes", "no-conversation blocks"},
		"notes of files that it lost": {title + kept("u9") + kept("u9"), "no-conversation blocks", "no-conversation blocks"},
		"its own prompt":              {`{"type":"last-prompt","lastPrompt":"hello"}` + "\n", "no-conversation blocks", "no-conversation blocks"},
	} {
		if got := strings.Join(lintBeside(t, map[string]string{stray: c.text, other: session}, stray), ", "); got != c.with {
			t.Errorf("%s, beside another session: %q, want %q", name, got, c.with)
		}
		if got := strings.Join(lintBeside(t, map[string]string{stray: c.text}, stray), ", "); got != c.alone {
			t.Errorf("%s, alone: %q, want %q", name, got, c.alone)
		}
	}
}

// TestNothingLeft: of a session in which no line can be read one thing is said, that it is gone: to mend its lines would leave
// none.
func TestNothingLeft(t *testing.T) {
	const name = "0fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4.jsonl"
	text := strings.Repeat(`"parentUuid":null,"isSidechain":false,"sessionId":"0fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4","type":"user","uuid":`+"\n", 40)
	if found := lintBeside(t, map[string]string{name: text}, name); len(found) != 1 || found[0] != "empty-file blocks" {
		t.Errorf("found %q", found)
	}
}
