package lintcache

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/homes"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/corpus"
	"github.com/hist-cli/hist/lint"
)

// TestPrintsWorth: a large database is read only for many sessions, once for each of its states, and what came of that is kept.
func TestPrintsWorth(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	rest := quick(t)
	path := filepath.Join(t.TempDir(), "database")
	put(t, path, nil)
	if err := os.Truncate(path, 3<<20); err != nil {
		t.Fatal(err)
	}
	read := 0
	d := agent.Database{Home: "home", Files: []string{path, path + "-wal"}, Key: func(base string) string { return base }, Prints: func() (map[string][16]byte, error) {
		read++
		return map[string][16]byte{"": {1}, "one": {2}}, nil
	}}
	rest()
	for _, step := range []struct {
		what           string
		sessions, read int
		prints         bool
	}{
		{"few sessions", 2, 0, false},
		{"enough", 3, 1, true},
		{"few, but kept", 1, 1, true},
	} {
		c := Open("1")
		c.Expect("home", step.sessions-1)
		c.Expect("home", 1)
		c.Expect("other", 99)
		for range 3 {
			prints := c.see(d).prints()
			if (prints != nil) != step.prints || read != step.read || step.prints && prints["one"] != [16]byte{2} {
				t.Errorf("%s: read %d times, %v", step.what, read, prints)
			}
		}
		c.Close()
	}
	c := Open("1")
	c.Expect("home", 3)
	for n := range maxRead + 3 {
		put(t, path, []byte{byte(n)})
		if err := os.Truncate(path, 3<<20); err != nil {
			t.Fatal(err)
		}
		if c.see(d).prints() != nil {
			t.Error("what has just changed is read")
		}
		rest()
		if prints := c.see(d).prints(); (prints != nil) != (n < maxRead) {
			t.Errorf("change %d: %v", n, prints)
		}
	}
	if read != 1+maxRead {
		t.Errorf("read %d times", read)
	}
	var none *Cache
	none.Expect("home", 1)
}

// paginated makes a home of one session, which has lost an event that is in the client's database.
func paginated(t *testing.T) (dir string, opts lint.Options, path string) {
	t.Helper()
	dir = madeHome(t, 1, corpus.Options{Size: 20000, Seed: 1, Paginated: true, Text: 300})
	path = sessionsOf(t, dir)[0]
	edit(t, path, func(text []byte) []byte {
		lines := bytes.SplitAfter(text, []byte("\n"))
		return bytes.Join(slices.Delete(lines, 4, 5), nil)
	})
	return dir, lint.Options{Name: lint.NameOf(path, true), Home: dir, Kept: homes.Kept, Listed: homes.Listed}, path
}

// TestChangedMeanwhile: what was found of rows that changed while the session was linted is not kept as what was found of those
// before, which may come back.
func TestChangedMeanwhile(t *testing.T) {
	rest := quick(t)
	dir, opts, path := paginated(t)
	move := func(by string) {
		run(t, dir, history, "UPDATE thread_items SET item_json = replace(item_json, "+by+")")
	}
	meanwhile := opts
	meanwhile.Kept = func(ctx context.Context, agent, home, base string) check.Kept {
		move("'userMessage', 'otherMessage'")
		return homes.Kept(ctx, agent, home, base)
	}
	rest()
	c := Open("1")
	other, _ := lintBy(t, c, path, meanwhile)
	c.Close()
	move("'otherMessage', 'userMessage'")
	rest()
	c = Open("1")
	got, read := lintBy(t, c, path, opts)
	fresh, _ := lintBy(t, nil, path, opts)
	c.Close()
	if !read || told(got) != told(fresh) || told(other) == told(fresh) {
		t.Errorf("read: %v; it tells\n%swant\n%sbetween\n%s", read, told(got), told(fresh), told(other))
	}
	if _, read := lintBy(t, Open("1"), path, opts); read {
		t.Error("it is not kept now")
	}
}

// TestBusyDatabase: what was found while a client had its database for itself is not kept.
func TestBusyDatabase(t *testing.T) {
	rest := quick(t)
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
	rest()
	c := Open("1")
	busy, _ := lintBy(t, c, path, opts)
	c.Close()
	for _, s := range []string{"PRAGMA locking_mode = NORMAL", "SELECT count(*) FROM thread_items"} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	c = Open("1")
	got, read := lintBy(t, c, path, opts)
	c.Close()
	fresh, _ := lintBy(t, nil, path, opts)
	if !read || told(got) != told(fresh) || told(busy) == told(fresh) {
		t.Errorf("read: %v; it tells\n%swant\n%swhile it was busy\n%s", read, told(got), told(fresh), told(busy))
	}
}

// TestUnsoundDatabase: whether a repair can clear a session's rows hangs on all of the database, where the session needs a repair.
func TestUnsoundDatabase(t *testing.T) {
	rest := quick(t)
	dir, _, path := paginated(t)
	if err := corpus.Home(dir, 1, corpus.Options{Size: 20000, Seed: 1, Paginated: true, Text: 300}, false); err != nil { // as the client has read it
		t.Fatal(err)
	}
	edit(t, path, func(text []byte) []byte { return append(text, "{\"timestamp\":\"20"...) })
	rest()
	told := func() (got, fresh string) {
		c := Open("1")
		defer c.Close()
		return lintHome(t, &agreements{Cache: c}, dir).text, lintHome(t, nil, dir).text
	}
	before, _ := told()
	edit(t, filepath.Join(dir, history), func(text []byte) []byte {
		text[39]++ // how many pages are free
		return text
	})
	rest()
	if got, fresh := told(); got != fresh || fresh == before {
		t.Errorf("warm\n%s\nfresh\n%s\nbefore\n%s", got, fresh, before)
	}
}
