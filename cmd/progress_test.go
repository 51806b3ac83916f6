package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/source"
)

// The line tells what was read of all files, how fast, and how long the rest takes; it is taken off before something
// else is printed, and at the end.
func TestProgress(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := &progress{w: &out, files: 2, total: 8 << 20, passes: 1, now: map[*source.Source]bool{}, stop: make(chan struct{})}
	p.clear()
	if out.Len() > 0 {
		t.Errorf("%q was cleared off", out.String())
	}
	end := p.begin(src)
	r, err := src.Reader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Read(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	p.draw(2 * time.Second)
	if want := clearLine + "0 of 2 files, 1.0 MiB of 8.0 MiB, 512 KiB/s, 14s left"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	// Whatever width a terminal has, the line leaves its last column free; the narrower, the less it tells.
	for width, want := range map[int]string{
		80: "0 of 2 files, 1.0 MiB of 8.0 MiB, 512 KiB/s, 14s left", 53: "0 of 2 files, 1.0 MiB of 8.0 MiB, 14s left", 42: "0 of 2 files, 14s left",
		22: "0 of 2 files", 8: "0 of 2…",
	} {
		if got := p.line(2*time.Second, width); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
	end()
	p.draw(4 * time.Second)
	p.end()
	if !strings.HasSuffix(out.String(), "1 of 2 files, 4.0 MiB of 8.0 MiB, 1.0 MiB/s, 4s left"+clearLine) {
		t.Errorf("%q", out.String())
	}
}

// Where nothing is a terminal there is no progress, and a nil one does nothing.
func TestNoProgress(t *testing.T) {
	var out bytes.Buffer
	e := &env{in: nil, out: &out, err: &out}
	p := e.newProgress([]target{{path: "x"}}, 1)
	if p != nil {
		t.Fatal("a buffer is no terminal")
	}
	p.begin(nil)()
	p.clear()
	p.end()
	if out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
}
