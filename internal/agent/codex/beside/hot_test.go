package beside

import (
	"bytes"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/disk"
)

// TestHotJournal: of a database whose program was killed in the middle of a write, hist reads what was committed, and leaves no trace; a
// repair clears those rows, although SQLite has taken the write back in the meantime.
func TestHotJournal(t *testing.T) {
	writing := projectedHome(t)
	want, sum := saved(t, writing, parentID)
	home := t.TempDir()
	was := killed(t, home, filepath.Join(writing, historyFile))
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	if got, _ := saved(t, home, parentID); got != want {
		t.Errorf("saved:\n%s\nwant:\n%s", got, want)
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
	ctx, remove := disk.WithScratch(t.Context())
	for range 3 { // as for three sessions
		if err := SaveRows(ctx, home, parentID, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	if copies, _ := os.ReadDir(tmp); len(copies) != 1 {
		t.Errorf("%d copies for one command", len(copies))
	}
	remove()
	for name, text := range was {
		if now, err := os.ReadFile(filepath.Join(home, name)); err != nil || !bytes.Equal(now, text) {
			t.Errorf("%s has changed, or is gone: %v", name, err)
		}
	}
	if n, err := rewind(t.Context(), home, parentID, sum, 0); n == 0 || err != nil {
		t.Errorf("%d rows went: %v", n, err)
	}
	if _, err := os.Stat(filepath.Join(home, historyFile+"-journal")); err == nil {
		t.Error("the journal is still there")
	}
}

// killed makes, in a home, the database as a write leaves it that is killed before its end, with its journal.
func killed(t *testing.T, home, database string) (files map[string][]byte) {
	t.Helper()
	db, err := sql.Open("sqlite", database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range []string{
		"PRAGMA journal_mode = DELETE", "PRAGMA cache_size = 2", "CREATE TABLE more (a TEXT)", "BEGIN IMMEDIATE", "DELETE FROM thread_items", "DELETE FROM thread_turns",
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	for range 100 { // more than the cache holds, so that pages are written
		if _, err := db.Exec("INSERT INTO more VALUES (?)", strings.Repeat("x", 4000)); err != nil {
			t.Fatal(err)
		}
	}
	files = map[string][]byte{}
	for _, suffix := range []string{"", "-journal"} {
		text, err := os.ReadFile(database + suffix)
		if err != nil {
			t.Fatal(err)
		}
		files[historyFile+suffix] = text
		writeText(t, filepath.Join(home, historyFile+suffix), string(text))
	}
	return files
}
