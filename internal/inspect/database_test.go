package inspect

import (
	"bytes"
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hist-cli/hist/internal/testkit/corpus"
	"github.com/hist-cli/hist/lint"
)

// paginated makes a home of one session, which has lost an event that is in the client's database.
func paginated(t *testing.T) (dir string, opts lint.Options, path string) {
	t.Helper()
	dir = madeHome(t, 1, corpus.Options{Size: 20000, Seed: 1, Paginated: true, Text: 300})
	path = sessionsOf(t, dir)[0]
	edit(t, path, func(text []byte) []byte {
		lines := bytes.SplitAfter(text, []byte("\n"))
		return bytes.Join(slices.Delete(lines, 4, 5), nil)
	})
	return dir, lint.Options{Name: lint.NameOf(path, true), Home: dir, Kept: Kept, Listed: Listed}, path
}

// TestBusyDatabase: what was found while a client had its database for itself is not kept.
func TestBusyDatabase(t *testing.T) {
	dir, opts, path := paginated(t)
	db, err := sql.Open("sqlite", filepath.Join(dir, history))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range []string{
		"PRAGMA journal_mode = WAL", "SELECT count(*) FROM thread_items",
		"PRAGMA locking_mode = EXCLUSIVE", "UPDATE thread_turns SET duration_ms = 1",
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	old(t)
	c := OpenCache("1")
	busy, _ := lintBy(t, c, path, opts)
	c.Close()
	for _, s := range []string{"PRAGMA locking_mode = NORMAL", "SELECT count(*) FROM thread_items"} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	c = OpenCache("1")
	got, read := lintBy(t, c, path, opts)
	c.Close()
	fresh, _ := lintBy(t, nil, path, opts)
	if !read || told(got) != told(fresh) || told(busy) == told(fresh) {
		t.Errorf("read: %v; it tells\n%swant\n%swhile it was busy\n%s", read, told(got), told(fresh), told(busy))
	}
}

// TestUnsoundDatabase: whether a repair can clear a session's rows hangs on all of the database, where the session needs a repair.
func TestUnsoundDatabase(t *testing.T) {
	dir, _, path := paginated(t)
	if err := corpus.Home(dir, 1, corpus.Options{Size: 20000, Seed: 1, Paginated: true, Text: 300}, false); err != nil { // as the client has read it
		t.Fatal(err)
	}
	edit(t, path, func(text []byte) []byte { return append(text, "{\"timestamp\":\"20"...) })
	old(t)
	told := func() (got, fresh string) {
		c := OpenCache("1")
		defer c.Close()
		return lintHome(t, &agreements{Cache: c}, dir).text, lintHome(t, nil, dir).text
	}
	before, _ := told()
	edit(t, filepath.Join(dir, history), func(text []byte) []byte {
		text[39]++ // how many pages are free
		return text
	})
	old(t)
	if got, fresh := told(); got != fresh || fresh == before {
		t.Errorf("warm\n%s\nfresh\n%s\nbefore\n%s", got, fresh, before)
	}
}
