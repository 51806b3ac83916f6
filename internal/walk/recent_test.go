package walk

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestRemember: a context that remembers has a directory read once in a moment, and anew after it; any other each time.
func TestRemember(t *testing.T) {
	root := t.TempDir()
	put := func(name string) {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("a.jsonl")
	kept := Remember(t.Context())
	visited := func() (names []string) {
		err := Walk(kept, root, func(e Entry) error {
			names = append(names, filepath.Base(e.Path))
			return e.Err
		})
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	visited()
	put("b.jsonl")
	if got := walked(t, root); !slices.Equal(got, []string{"a.jsonl", "b.jsonl"}) {
		t.Errorf("without a memory: %v", got)
	}
	recent := RecentOf(kept)
	recent.mu.Lock()
	entries := recent.known[root].entries
	recent.mu.Unlock()
	if entries == nil || len(entries) > 1 {
		t.Errorf("remembered: %v", entries)
	}
	for began := time.Now(); len(visited()) != 2; time.Sleep(moment / 10) {
		if time.Since(began) > 10*moment {
			t.Fatal("it is never read again")
		}
	}
	var none *Recent
	if got, err := none.ReadDir(root); err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
}
