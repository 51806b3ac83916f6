package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hist-cli/hist/fleet/fleettest"
	"github.com/hist-cli/hist/fleet/store"
)

// TestShutDirectory: if a directory can't be read, everything beside it is listed, and the error names it.
func TestShutDirectory(t *testing.T) {
	root := t.TempDir()
	s := fleettest.Open(t, root)
	for _, key := range []string{"a.jsonl", "b/x.jsonl", "c.jsonl"} {
		fleettest.Put(t, s, key, []byte("x"))
	}
	shut := filepath.Join(root, "b")
	if err := os.Chmod(shut, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(shut, 0o700) }) //nolint:errcheck // so that it can be removed

	// The store's own path can be entered by everybody.
	for dir := root; strings.HasPrefix(dir, filepath.Clean(os.TempDir())+"/"); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := listAsNobody(t, s)
	if !errors.Is(err, store.ErrDenied) || !strings.Contains(err.Error(), shut) || fmt.Sprint(keys) != "[a.jsonl c.jsonl]" {
		t.Errorf("%q, %v", keys, err)
	}
}

// listAsNobody lists a store as a user who may not look into everything, as root may.
func listAsNobody(t *testing.T, s store.Store) (keys []string, err error) {
	t.Helper()
	if root := os.Getuid() == 0; root {
		const nobody = 65534
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := syscall.Setfsuid(nobody); err != nil {
			t.Fatal(err)
		}
		defer syscall.Setfsuid(0) //nolint:errcheck // root may always
	}
	err = s.List(context.Background(), "", func(o store.Object) error { keys = append(keys, o.Key); return nil })
	return keys, err
}

// TestLinkedDirectory: a store may be a symbolic link to a directory, and its files are read through it.
func TestLinkedDirectory(t *testing.T) {
	root, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	fleettest.Put(t, fleettest.Open(t, root), "a/x.jsonl", []byte("x"))
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	s := fleettest.Open(t, link)
	if keys := fleettest.Keys(t, s, ""); fmt.Sprint(keys) != "[a/x.jsonl]" || s.URL() != link {
		t.Errorf("%s lists %q", s.URL(), keys)
	}
}

// TestPipe: what has become a named pipe since it was listed is an error, and nobody waits for it.
func TestPipe(t *testing.T) {
	root := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(root, "x.jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := fleettest.Open(t, root)
	opened := make(chan error, 1)
	go func() {
		_, err := s.Get(context.Background(), "x.jsonl", "")
		opened <- err
	}()
	select {
	case err := <-opened:
		if err == nil {
			t.Error("a pipe was opened")
		}
	case <-time.After(10 * time.Second):
		t.Error("the opening of a pipe does not end")
	}
}
