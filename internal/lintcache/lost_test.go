package lintcache

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/hist-cli/hist/internal/testhome"
	"github.com/hist-cli/hist/lint"
)

// TestLost: what is found by comparing the sessions of a home is the same from the cache, for which no session is read; once one
// has come, gone or changed they are compared again.
func TestLost(t *testing.T) {
	archives, err := filepath.Glob("../../fixtures/codex/rules/context-lost/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dirs, findings := map[string][]string{}, 0
	for _, archive := range archives {
		dir := t.TempDir()
		if err := testhome.Unpack(archive, dir); err != nil {
			t.Fatal(err)
		}
		if dirs[dir], err = filepath.Glob(filepath.Join(dir, "sessions/*/*/*/*.jsonl")); err != nil {
			t.Fatal(err)
		}
	}
	old(t)
	find := func(c *Cache, dir string, paths []string) map[string][]lint.Finding {
		found := c.Lost(t.Context(), dir, paths)
		for path, list := range found {
			if len(list) == 0 {
				delete(found, path)
			}
			findings += len(list)
		}
		return found
	}
	// stored says whether the cache knows the result of comparing the sessions.
	stored := func(c *Cache, dir string, paths []string) bool {
		before := len(c.fresh)
		find(c, dir, paths)
		return len(c.fresh) == before
	}
	var nothing *Cache
	for dir, paths := range dirs {
		want := find(nothing, dir, paths)
		c := Open("1")
		if got := find(c, dir, paths); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", dir, got, want)
		}
		c.Close()
		c = Open("1")
		if got := find(c, dir, paths); !reflect.DeepEqual(got, want) || c.dirty {
			t.Errorf("%s: from the cache %+v, want %+v; %v", dir, got, want, c.dirty)
		}
		if len(paths) < 2 {
			continue
		}
		if stored(c, dir, paths[1:]) {
			t.Errorf("%s: one session less makes no difference", dir)
		}
		text, err := os.ReadFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(paths[0], text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := stateOf(c, paths); ok {
			t.Errorf("%s: a session that has just changed is taken for one at rest", dir)
		}
	}
	if findings == 0 {
		t.Error("nothing was found")
	}
	old(t)
	for dir, paths := range dirs {
		if c := Open("1"); len(paths) > 1 && stored(c, dir, paths) {
			t.Errorf("%s: a changed session makes no difference", dir)
		}
	}
	for dir, paths := range dirs {
		if _, err := readLost([]byte{2, 0xff}, paths); err == nil {
			t.Errorf("%s: what is no encoded result is one", dir)
		}
	}
}
