package inspect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testkit/testhome"
	"github.com/hist-cli/hist/lint"
)

// Where prompts were typed in a session after its last record, that is noted, and nothing else: an older copy is no damage.
func TestTypedLater(t *testing.T) {
	const codex = `{"session_id":"01a1edfd-e191-74b0-9003-79b97f4a7c15","ts":1794995100,"text":"WORDS"}` + "\n"
	const claude = `{"display":"WORDS","pastedContents":{},"timestamp":1895169400000,"project":"/home/dev/demo","sessionId":"0fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4"}` + "\n"
	for _, c := range []struct {
		archive, lines string
		words          []string
		want           string
	}{
		{"codex/rules/lost-records/ok-typed.txtar", codex, []string{"And now?"}, "a prompt was typed in this session at 2026-11-18T09:45:00Z, but the last record is of 2026-11-18T09:30:02Z"},
		{"codex/rules/lost-records/ok-typed.txtar", codex, []string{"And now?", "And then?"}, "2 prompts were typed in this session, the first at 2026-11-18T09:45:00Z"},
		{"codex/rules/lost-records/ok-typed.txtar", codex, []string{"/compact", "!ls", "exit", " "}, ""},
		{"claude/rules/misplaced/ok.txtar", claude, []string{"Paint it."}, "a prompt was typed in this session at "},
		{"claude/rules/misplaced/ok.txtar", claude, []string{"/exit"}, ""},
	} {
		t.Setenv("CODEX_SQLITE_HOME", "")
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := testhome.Unpack(filepath.Join("../../fixtures", c.archive), dir); err != nil {
			t.Fatal(err)
		}
		list := ""
		for _, w := range c.words {
			list += strings.Replace(c.lines, "WORDS", w, 1)
		}
		if err := os.WriteFile(filepath.Join(dir, "history.jsonl"), []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := laterNotes(t, dir); len(got) > 1 || strings.Join(got, "") != "" != (c.want != "") || !strings.HasPrefix(strings.Join(got, ""), c.want) {
			t.Errorf("%s, %q: %q, want %q", c.archive, c.words, got, c.want)
		}
	}
}

// laterNotes are the notes on prompts that were typed later than the last record of the only session of a home.
func laterNotes(t *testing.T, dir string) (notes []string) {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"sessions/*/*/*/*.jsonl", "projects/*/*.jsonl"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	src, err := source.Open(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	res, err := NewRun(nil).Lint(t.Context(), src, lint.Options{Name: lint.NameOf(paths[0], true), Home: dir, Kept: Kept, Listed: Listed})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Findings {
		if f.Impact != lint.Notes {
			t.Errorf("%s: %s", f.Rule.Name, f.Message)
		} else if strings.Contains(f.Message, "typed in this session") {
			notes = append(notes, f.Message)
		}
	}
	return notes
}

// Of several files of one session, the client reads the one that its list of threads names.
func TestListing(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := testhome.Unpack("../../fixtures/codex/rules/provider-missing/bad.txtar", dir); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "sessions/*/*/*/*.jsonl"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	other := filepath.Join(dir, "sessions/2026/11/19", filepath.Base(paths[0]))
	if got := Listing(t.Context(), dir, []string{other, paths[0]}); got != paths[0] {
		t.Errorf("it reads %q, want %q", got, paths[0])
	}
	if got := Listing(t.Context(), dir, []string{other}); got != "" {
		t.Errorf("it reads %q, want none", got)
	}
}
