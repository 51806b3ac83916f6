package beside

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestRewindOfDamagedPages: whichever page of a database is overwritten, a view that can't be cleared is said to be damaged: then it can be
// moved away.
func TestRewindOfDamagedPages(t *testing.T) {
	home := projectedHome(t, "CREATE INDEX items_by_thread ON thread_items (thread_id, rollout_ordinal)")
	path := filepath.Join(home, historyFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const size = 4096
	failed := 0
	for at := size; at+size <= len(whole); at += size {
		damaged := append([]byte(nil), whole...)
		clear(damaged[at : at+size])
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		rows := sha256.New()
		if err := SaveRows(t.Context(), home, parentID, rows); err != nil {
			continue
		}
		for _, offset := range []int64{0, 2000} {
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := rewind(t.Context(), home, parentID, hex.EncodeToString(rows.Sum(nil)), offset); err != nil {
				if failed++; !errors.Is(err, errDamaged) {
					t.Errorf("bytes from %d on: %v", at, err)
				}
			}
		}
	}
	if failed == 0 {
		t.Error("no page was of any use")
	}
}
