package cmd

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/runs"
)

// TestShowRunOfAView: a run that changed only what a client keeps beside a session does not say that it made a copy.
func TestShowRunOfAView(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run, err := runs.New("test")
	if err != nil {
		t.Fatal(err)
	}
	f := runs.File{Source: path}
	if f.SHA256Before, f.SizeBefore, err = runs.Hash(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if f.Rows, f.RowsSHA256, err = run.KeepRows("a", func(w io.Writer) error { _, err := w.Write([]byte("{}\n")); return err }); err != nil {
		t.Fatal(err)
	}
	if err := run.Beside(f, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	var out, complaints bytes.Buffer
	if code := Main([]string{"hist", "runs", "show", run.Manifest.Run}, strings.NewReader(""), &out, &complaints); code != 0 {
		t.Fatalf("%d: %s", code, complaints.String())
	}
	if text := out.String(); !strings.Contains(text, "left as it was; rows that its client's database held of it were cleared") || strings.Contains(text, "copied") {
		t.Error(text)
	}
}

// TestSessionsOfARun: what a run is about is told in a few words, also where it moved databases and nothing else.
func TestSessionsOfARun(t *testing.T) {
	moved, session := runs.File{Source: "/h/goals_1.sqlite", Mode: runs.Moved}, runs.File{Source: "/h/a.jsonl", Mode: runs.InPlace}
	const id = "01a1fa85-897f-7b72-87b7-f6ebde981289.jsonl"
	for want, files := range map[string][]runs.File{
		"goals_1.sqlite": {moved}, "2 files": {moved, moved}, "a.jsonl and 1 file": {session, moved}, "2 sessions and 1 file": {session, moved, session}, "0 sessions": nil,
		"01a1fa85-897f": {{Source: "/h/" + id, Target: "/h/n/" + id, Mode: runs.Output, Home: "/h"}, {Source: "/h/" + id, Mode: runs.Moved, Home: "/h"}},
	} {
		if got := sessionsOf(&runs.Manifest{Files: files}); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
