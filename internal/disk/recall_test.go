package disk

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestRecall: a file is read once until it changes; one that has only just changed is read each time; and what is kept has its limit.
func TestRecall(t *testing.T) {
	dir, reads := t.TempDir(), 0
	r := Recall[int]{Limit: 10}
	put := func(name string, age time.Duration) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ask := func(path string, size, want int) {
		t.Helper()
		r.Of(path, func() (int, int) { reads++; return 0, size })
		if reads != want {
			t.Errorf("%s was read: %d times in all, want %d", filepath.Base(path), reads, want)
		}
	}
	a := put("a", time.Hour)
	ask(a, 6, 1)
	ask(a, 6, 1)
	put("a", time.Minute)
	ask(a, 2, 2)
	b := put("b", 0)
	ask(b, 2, 3)
	ask(b, 2, 4)
	c := put("c", time.Hour)
	ask(c, 9, 5)
	ask(c, 9, 5)
	ask(a, 1, 6)
	ask(filepath.Join(dir, "none"), 1, 7)
	for n := range 5 { // what is read anew takes the place of what was read before
		put("a", time.Duration(n+1)*time.Hour+time.Minute)
		ask(a, 9, 8+n)
	}
	ask(b, 1, 13)
	put("d", time.Hour)
	ask(filepath.Join(dir, "d"), 1, 14)
	ask(a, 9, 14)
}
