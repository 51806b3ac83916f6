package follow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFollow: what changes is told, wherever it is: in what was there, in a directory that comes, in one that was renamed,
// below a root that was not there; nothing else is.
func TestFollow(t *testing.T) {
	top := t.TempDir()
	root, missing := filepath.Join(top, "home", "sessions"), filepath.Join(top, "other", "home", "sessions")
	first := filepath.Join(root, "2026", "11", "21", "a.jsonl")
	write(t, first)
	f, err := New([]string{root, missing}, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	expect := func(want string) {
		t.Helper()
		for { // one change may be told twice
			got, err := f.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got == want {
				return
			}
		}
	}
	write(t, filepath.Join(root, "2026", "11", "21", "notes.txt"))
	write(t, filepath.Join(top, "home", "elsewhere.jsonl"))
	write(t, first)
	if got, err := f.Next(t.Context()); err != nil || got != first {
		t.Fatalf("%s, %v", got, err)
	}
	next := filepath.Join(root, "2026", "12", "01", "b.jsonl.zst")
	write(t, next)
	expect(next)
	if err := os.Rename(filepath.Join(root, "2026", "12"), filepath.Join(root, "2026", "13")); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(root, "2026", "13", "01", "b.jsonl.zst")
	expect(moved)
	write(t, moved)
	expect(moved)
	if err := os.Rename(first, first+".jsonl"); err != nil {
		t.Fatal(err)
	}
	expect(first + ".jsonl")
	if err := os.Remove(first + ".jsonl"); err != nil {
		t.Fatal(err)
	}
	expect(first + ".jsonl")
	if err := os.Rename(filepath.Join(root, "2026", "13"), filepath.Join(top, "away")); err != nil {
		t.Fatal(err)
	}
	expect(moved) // it is gone with its directory
	late := filepath.Join(missing, "2026", "c.jsonl")
	write(t, late)
	expect(late)
	f.Later(late, time.Millisecond)
	expect(late)
}

// A file that is asked for is followed by its directory, and no other file of that is told.
func TestOneFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	write(t, path)
	f, err := New([]string{path}, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write(t, filepath.Join(dir, "b.jsonl"))
	write(t, path)
	if got, err := f.Next(t.Context()); err != nil || got != path {
		t.Errorf("%s, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 { // what may still be told of it
		if _, err = f.Next(ctx); err != nil {
			break
		}
	}
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The system's limits are told in words that say what to do.
func TestLimit(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EMFILE} {
		if err := limited("/x", fmt.Errorf("adding: %w", cause)); !errors.Is(err, ErrLimit) || !errors.Is(err, cause) {
			t.Error(err)
		}
	}
	if err := limited("/x", os.ErrPermission); errors.Is(err, ErrLimit) {
		t.Error(err)
	}
}
