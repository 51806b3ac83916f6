package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/disk"
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

// counted is a file that counts what is read of it.
type counted struct {
	siblingFile
	bytes *int
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.siblingFile.Read(p)
	*c.bytes += n
	return n, err
}

func (c counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.siblingFile.ReadAt(p, at)
	*c.bytes += n
	return n, err
}

// TestSiblingsAreReadOnce: however much is looked for in a file, it is read through once, and of what is found only its line again.
func TestSiblingsAreReadOnce(t *testing.T) {
	record := func(n int) string {
		return fmt.Sprintf(`{"uuid":"record-%d","content":[{"call" : "call-%d","content":"%s"}]}`+"\n", n, n, strings.Repeat("x", 400))
	}
	var text strings.Builder
	for n := range 500 {
		text.WriteString(record(n))
	}
	path := filepath.Join(t.TempDir(), "fork.jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	opens, bytes := 0, 0
	near := NewIndex(anyRecord{}, "uuid", "call").Siblings()
	near.open = func(path string) (siblingFile, error) {
		opens++
		of, err := disk.Open(path)
		return counted{of, &bytes}, err
	}
	const found = 40
	for n := range found {
		id := fmt.Sprintf("record-%d", 7*n)
		if n%2 == 1 {
			id = fmt.Sprintf("call-%d", 7*n)
		}
		if line := near.Find(path, id, func([]byte) bool { return true }); string(line)+"\n" != record(7*n) {
			t.Errorf("%s: %q", id, line)
		}
		if line := near.Find(path, fmt.Sprintf("lost-%d", n), func([]byte) bool { return true }); line != nil {
			t.Errorf("record %d, which is nowhere: %q", n, line)
		}
	}
	if opens != 1+found {
		t.Errorf("the file was opened %d times for %d records", opens, found)
	}
	if most := text.Len() + found*len(record(500)); bytes > most {
		t.Errorf("%d bytes were read of %d", bytes, most)
	}
}
