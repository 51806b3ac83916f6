package follow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
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

// TestFollow: changes are reported wherever they are: in an existing directory, in a new one, in one that was renamed, below
// a root that did not exist; nothing else is reported.
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

// TestOverflow: notifications were lost while a session was removed and a directory replaced by another of its name. The one is
// reported, and so is what happens in the other.
func TestOverflow(t *testing.T) {
	root := filepath.Join(t.TempDir(), "sessions")
	gone, dir := filepath.Join(root, "1", "gone.jsonl"), filepath.Join(root, "2")
	write(t, gone)
	write(t, filepath.Join(dir, "a.jsonl"))
	f, err := New([]string{root}, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := errors.Join(os.Remove(gone), os.Rename(dir, root+"-old"), os.Mkdir(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	for lost := true; lost; {
		select {
		case <-f.system.Events:
		case <-time.After(200 * time.Millisecond):
			lost = false
		}
	}
	if err := f.failed(fsnotify.ErrEventOverflow); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	expect := func(want string) {
		t.Helper()
		for got := ""; got != want; {
			if got, err = f.Next(ctx); err != nil {
				t.Fatalf("%s is not reported: %v", want, err)
			}
		}
	}
	expect(gone)
	late := filepath.Join(dir, "late.jsonl")
	write(t, late)
	expect(late)
}

// A single file is followed by watching its directory, and no other file in that is reported.
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

// Errors about the system's limits say what to do.
func TestLimit(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EMFILE} {
		if err := limitError("/x", fmt.Errorf("adding: %w", cause)); !errors.Is(err, ErrLimit) || !errors.Is(err, cause) {
			t.Error(err)
		}
	}
	if err := limitError("/x", os.ErrPermission); errors.Is(err, ErrLimit) {
		t.Error(err)
	}
}

// TestLinks: what lies behind symbolic links is followed, under the names that they give it, once and in no circle.
func TestLinks(t *testing.T) {
	top := t.TempDir()
	real, away := filepath.Join(top, "real"), filepath.Join(top, "away", "2025")
	write(t, filepath.Join(real, "2026", "a.jsonl"))
	write(t, filepath.Join(away, "12", "b.jsonl"))
	root := filepath.Join(top, "home", "sessions")
	if err := os.MkdirAll(filepath.Dir(root), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{root: real, filepath.Join(real, "2025"): away, filepath.Join(away, "up"): filepath.Join(top, "away"), filepath.Join(real, "again"): filepath.Join(real, "2026")} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	f, err := New([]string{root}, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Dirs() != 4 { // sessions, 2025, 2025/12, 2026
		t.Errorf("%d directories are watched", f.Dirs())
	}
	for _, at := range []string{filepath.Join("2026", "a.jsonl"), filepath.Join("2025", "12", "b.jsonl"), filepath.Join("2025", "13", "c.jsonl")} {
		write(t, filepath.Join(real, at))
		for { // one change may be told twice
			got, err := f.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got == filepath.Join(root, at) {
				break
			}
		}
	}
}

// TestUnwatched: a directory that can't be watched is reported.
func TestUnwatched(t *testing.T) {
	root := t.TempDir()
	shut := filepath.Join(root, "shut")
	if err := os.Mkdir(shut, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(shut, 0o700) }) //nolint:errcheck // so that it can be removed
	if _, err := os.ReadDir(shut); err == nil {
		t.Skip("this user may look into everything")
	}
	f, err := New([]string{root}, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if list := f.Unwatched(); len(list) != 1 || !strings.Contains(list[0].Error(), shut) {
		t.Error(list)
	}
}
