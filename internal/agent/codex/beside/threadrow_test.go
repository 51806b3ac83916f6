package beside

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/disk"
)

// TestDamagedRows: it is told of each thread of a list whether its row can be read.
func TestDamagedRows(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "state_5.sqlite")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	const threads = 512
	if _, err := db.Exec("CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT)"); err != nil {
		t.Fatal(err)
	}
	id := func(i int) string { return fmt.Sprintf("01a1fa85-897f-7b72-87b7-%012d", i) }
	for i := range threads {
		if _, err := db.Exec("INSERT INTO threads VALUES (?, ?)", id(i), strings.Repeat("x", 900)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	unread := func() (damaged int) {
		ctx, remove := disk.WithScratch(t.Context())
		defer remove()
		for i := range threads {
			switch err := readRow(ctx, home, id(i)); {
			case errors.Is(err, errDamaged):
				damaged++
			case err != nil:
				t.Fatal(err)
			}
		}
		return damaged
	}
	if n := unread(); n != 0 {
		t.Errorf("of a sound list %d rows can't be read", n)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := strings.LastIndex(string(text), strings.Repeat("x", 900)) / 4096 * 4096
	clear(text[last : last+4096])
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := unread(); n == 0 || n > 8 {
		t.Errorf("of a list with a zeroed page %d rows can't be read", n)
	}
}
