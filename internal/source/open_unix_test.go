//go:build unix

package source

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", at("sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	os.Symlink("loop", at("loop"))
	os.Symlink("b", at("a"))
	os.Symlink("a", at("b"))
	os.Symlink("fifo", at("to-fifo"))
	os.Symlink("gone", at("dangling"))
	for _, c := range []struct {
		path string
		want error
		say  string
	}{
		{at("fifo"), ErrNotRegular, "named pipe"},
		{at("to-fifo"), ErrNotRegular, "named pipe"},
		{at("sock"), ErrNotRegular, "socket"},
		{dir, ErrNotRegular, "directory"},
		{"/dev/null", ErrNotRegular, "device"},
		{at("loop"), ErrLoop, "circle"},
		{at("a"), ErrLoop, "circle"},
		{at("dangling"), fs.ErrNotExist, "no such file"},
		{at("none"), fs.ErrNotExist, "no such file"},
	} {
		done := make(chan error, 1)
		go func() { _, err := Open(c.path); done <- err }()
		select {
		case err := <-done:
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.say) || strings.Count(err.Error(), c.path) != 1 {
				t.Errorf("%s: got %v", c.path, err)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s: Open hangs", c.path)
		}
	}
}

func TestOpenThroughLinks(t *testing.T) {
	dir, _ := filepath.EvalSymlinks(t.TempDir())
	path := write(t, filepath.Join(dir, "a.jsonl"), make([]byte, fewBytes+1))
	os.Symlink("a.jsonl", filepath.Join(dir, "link"))
	s := open(t, filepath.Join(dir, "link"))
	if s.Real != path || s.Name != "a.jsonl" || s.Path == s.Real {
		t.Errorf("real %s, name %s, path %s", s.Real, s.Name, s.Path)
	}
	t.Chdir(dir)
	if s := open(t, "./a.jsonl"); s.Real != path {
		t.Errorf("relative: %s", s.Real)
	}
	// Whoever asks who has the file open must not find us.
	if fds, err := os.ReadDir("/proc/self/fd"); err == nil {
		for _, fd := range fds {
			if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); to == path {
				t.Error("a source keeps its file open")
			}
		}
	}
	// A FIFO that takes the name after Open must not hang the reader.
	os.Remove(path)
	syscall.Mkfifo(path, 0o600)
	if _, err := s.Reader(ctx); !errors.Is(err, ErrChanged) {
		t.Errorf("replaced by a FIFO: %v", err)
	}
}
