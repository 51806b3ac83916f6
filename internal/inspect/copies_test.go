package inspect

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// TestCopies: a copy counts as that of its original until one of the two changes, or the repair is undone.
func TestCopies(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const id, copied = "01938fc5-8d35-7f11-8aaa-000000000001", "01938fc5-8d35-7f11-8aaa-000000000002"
	original, target := rolloutOf(dir, id), rolloutOf(dir, copied)
	if err := os.WriteFile(original, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(dir, "output.jsonl")
	recorded(t, original, elsewhere, runs.Output)
	if got := NewCopies().Original(elsewhere) + NewCopies().Of(t.Context(), original, 3).Thread; got != "" {
		t.Errorf("what the user had written to another file counts as a copy of %q", got)
	}
	run := recorded(t, original, target, runs.NewThread)
	if got := NewCopies().Original(target); got != id {
		t.Errorf("the copy is one of %q, want %q", got, id)
	}
	if got := NewCopies().Original(original); got != "" {
		t.Errorf("the original is a copy of %q", got)
	}
	if got := NewCopies().Of(t.Context(), original, 3).Thread; got != copied {
		t.Errorf("the original is repaired as %q, want %q", got, copied)
	}
	if got := NewCopies().Of(t.Context(), original, 4).Thread; got != "" {
		t.Errorf("a session of another size is repaired as %q", got)
	}
	settles(t, original, copied)
	if err := os.WriteFile(original, []byte("[]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := NewCopies().Of(t.Context(), original, 3).Thread; got != "" {
		t.Errorf("a session that was written since is repaired as %q", got)
	}
	settles(t, original, "")
	if err := os.WriteFile(original, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Undo(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := NewCopies().Original(target) + NewCopies().Of(t.Context(), original, 3).Thread; got != "" {
		t.Errorf("the repair was undone, and %q is left of it", got)
	}
}

// settles fails unless a note about the copy, and the other notes, stand in the place of a session's findings; copied is "" if
// they are to stay.
func settles(t *testing.T, path, copied string) {
	t.Helper()
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	note, damage := lint.FindRule("unanswered-prompt"), lint.FindRule("torn-tail")
	res := &lint.Result{Findings: []lint.Finding{{Rule: note}, {Rule: damage, Impact: finding.Loses}}, Summary: lint.Summary{Agent: "codex"}}
	if got := NewCopies().Settle(t.Context(), src, res); got != copied {
		t.Errorf("settled by %q, want %q", got, copied)
	}
	want := []*lint.Rule{note, damage}
	if copied != "" {
		want = []*lint.Rule{check.Repaired, note}
	}
	for i, f := range res.Findings {
		if len(res.Findings) != len(want) || f.Rule != want[i] {
			t.Fatalf("%d findings, %s among them; copied as %q", len(res.Findings), f.Rule.Name, copied)
		}
	}
}

func rolloutOf(dir, id string) string {
	return filepath.Join(dir, "rollout-2026-11-18T09-30-00-"+id+".jsonl")
}

// recorded is the record of a run that has made a copy.
func recorded(t *testing.T, original, target, mode string) *runs.Run {
	t.Helper()
	run, err := runs.New("test")
	if err != nil {
		t.Fatal(err)
	}
	sha, size, err := runs.Hash(t.Context(), original)
	if err != nil {
		t.Fatal(err)
	}
	f := &runs.File{Source: original, Target: target, Mode: mode, SizeBefore: size, SHA256Before: sha, ModTimeBefore: time.Now()}
	write := func(w io.Writer) error {
		_, err := io.WriteString(w, "{}\n")
		return err
	}
	if err := run.Publish(t.Context(), f, publish.Target{Path: target}, write, publish.Checks{}); err != nil {
		t.Fatal(err)
	}
	return run
}
