package work

import (
	"os"
	"testing"
	"time"
)

// TestTidy: what a repair that was killed has left goes after a day, and nothing else.
func TestTidy(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	made := map[string]bool{} // whether it is to stay
	for _, c := range []struct {
		pattern string
		age     time.Duration
	}{{repairDir, 48 * time.Hour}, {undoDir, 48 * time.Hour}, {repairDir, time.Hour}, {".other-*", 48 * time.Hour}} {
		dir, err := os.MkdirTemp("", c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/x", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-c.age)
		if err := os.Chtimes(dir, when, when); err != nil {
			t.Fatal(err)
		}
		made[dir] = c.age < abandonedAge || c.pattern == ".other-*"
	}
	Tidy(time.Now())
	for dir, stays := range made {
		if _, err := os.Stat(dir); (err == nil) != stays {
			t.Errorf("%s: %v, want it to stay: %v", dir, err, stays)
		}
	}
}
