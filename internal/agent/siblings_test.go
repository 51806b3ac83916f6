package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// anyRecord is a Decoder of records that have but an id.
type anyRecord struct{ session.Decoder }

func (anyRecord) Paths() int { return 1 }

func (anyRecord) Shape() *jsonl.Shape {
	shape, err := jsonl.Compile("uuid")
	if err != nil {
		panic(err)
	}
	return shape
}

// TestSiblingsHaveALimit: once as many records were indexed as are kept in mind, nothing in the files that come then is looked for.
func TestSiblingsHaveALimit(t *testing.T) {
	dir, near := t.TempDir(), NewIndex(anyRecord{}, "uuid").Siblings()
	near.left = 2
	for _, file := range []struct {
		name, ids string
		known     bool
	}{{"a", "xyz", true}, {"b", "w", false}} {
		path, text := filepath.Join(dir, file.name+".jsonl"), ""
		for _, id := range file.ids {
			text += fmt.Sprintf(`{"uuid":"%c"}`+"\n", id)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, id := range file.ids {
			if line := near.Find(path, string(id), func([]byte) bool { return true }); (line != nil) != file.known {
				t.Errorf("%s: %c: %q", file.name, id, line)
			}
		}
	}
}
