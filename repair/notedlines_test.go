package repair

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// TestNoteKeepsNoDamage: a line whose framing has two faults, of which one is only a note, is mended like any other: a note that is
// left by itself does not keep the damage beside it. If only that damage was asked for, the line stays as it is.
func TestNoteKeepsNoDamage(t *testing.T) {
	sound := string(readClean(t, "../fixtures/claude/2.1.330/clean/*.jsonl"))
	const text, mark = `"The file `, "\ufeff"
	if strings.Count(sound, text) != 1 || !strings.HasPrefix(sound, "{") {
		t.Fatal("the recording is another one")
	}
	with := func(words string) string { return strings.Replace(sound, text, text+words, 1) }
	for _, c := range []struct{ text, note, damage string }{
		{with("\x01 \\ud83d "), "lone-surrogate", "raw-control"},
		{mark + strings.Replace(sound, "\n", " x\n", 1), "bom", ""}, // of bookkeeping, no part of the history
		{mark + strings.Replace(sound, "}\n", "\n", 1), "bom", "bad-json"},
	} {
		rep, copied := mendedWith(t, c.text, Choice{})
		if c.damage == "" {
			if len(rep.Edits) > 0 || copied != c.text {
				t.Errorf("%s: %+v", c.note, rep.Edits)
			}
			continue
		}
		if len(rep.Edits) != 1 || rep.Unrepaired() || !slices.Contains(append(rep.Edits[0].Also, rep.Edits[0].Rule), c.note) {
			t.Errorf("%s beside %s: %+v, left %+v", c.note, c.damage, rep.Edits, rep.Left)
		}
		if again, _ := mendedWith(t, copied, Choice{Tidy: true}); len(again.Edits) > 0 {
			t.Errorf("%s beside %s: something is left: %+v", c.note, c.damage, again.Edits)
		}
		if rep, copied := mendedWith(t, c.text, Choice{Rules: []string{c.damage}}); !rep.Unrepaired() || copied != c.text {
			t.Errorf("only %s was asked for, and the line was changed: %+v", c.damage, rep.Edits)
		}
	}
	if rep, _ := mendedWith(t, with("\\ud83d "), Choice{}); len(rep.Edits) > 0 {
		t.Errorf("a note alone was mended: %+v", rep.Edits)
	}
}

// mendedWith repairs a text of Claude Code's.
func mendedWith(t *testing.T, text string, choice Choice) (*Report, string) {
	t.Helper()
	src, err := source.Stdin(strings.NewReader(text), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var out bytes.Buffer
	rep, err := Do(t.Context(), Job{Source: src, Lint: lint.Options{Agent: "claude"}, Choice: choice, Mode: ToStream, Stream: &out})
	if err != nil {
		t.Fatal(err)
	}
	return rep, out.String()
}

// readClean reads the only recording that fits a pattern.
func readClean(t *testing.T, pattern string) []byte {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) != 1 {
		t.Fatalf("%s: %v, %v", pattern, paths, err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	return text
}
