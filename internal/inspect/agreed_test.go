package inspect

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/source"
)

// TestAgreed: that a session agrees with files is known until one of them, or the session, changes, comes or goes.
func TestAgreed(t *testing.T) {
	path := damaged(t)
	files := []string{filepath.Join(t.TempDir(), "database"), filepath.Join(t.TempDir(), "database-wal")}
	databases := []agent.Database{{Files: files, Whole: true}}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// known asks as another run would, and stores that they agree.
	known := func() bool {
		t.Helper()
		src, err := source.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		c := OpenCache("1")
		defer c.Close()
		known, keep := c.Agreed(t.Context(), src, databases)
		keep()
		return known
	}
	if first, second := known(), known(); first || second {
		t.Error("files that are not there are stored")
	}
	write(files[0], "one")
	if first, second := known(), known(); first || second {
		t.Error("a file that has just changed is stored")
	}
	old(t)
	if known() || !known() {
		t.Error("it is known before it was found out, or never")
	}
	for what, change := range map[string]func(){
		"another content": func() {
			info, err := os.Stat(files[0])
			if err != nil {
				t.Fatal(err)
			}
			write(files[0], "two")
			if err := os.Chtimes(files[0], time.Time{}, info.ModTime()); err != nil {
				t.Fatal(err)
			}
		},
		"a second file": func() { write(files[1], "wal") },
		"a session that changed": func() {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(path, string(text)+"\n")
		},
	} {
		change()
		if known() {
			t.Errorf("%s makes no difference", what)
		}
		old(t)
		if known() || !known() {
			t.Errorf("%s: it is known before it was found out, or never", what)
		}
	}
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if known, _ := OpenCache("2").Agreed(t.Context(), src, databases); known {
		t.Error("another version knows it")
	}
	var none *Cache
	known2, keep := none.Agreed(t.Context(), src, databases)
	if keep(); known2 {
		t.Error("no cache is one")
	}
}
