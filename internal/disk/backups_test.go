package disk

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestBackups: a copy is known by the whole name of what it is made of, whether that holds an id or not.
func TestBackups(t *testing.T) {
	const id = "019cadb2-1111-7000-8000-00000000beef"
	for _, c := range []struct {
		file   string
		copies []string
		others []string
	}{
		{id + ".jsonl", []string{"Copy of " + id + ".jsonl", id + " (1).jsonl", id + ".jsonl.bak"}, []string{"019cadb2-1111-7000-8000-00000000bee0.jsonl.bak", id, id + ".jsonl.zst"}},
		{"the-notes-of-a-very-long-afternoon-in-may.jsonl", []string{"Copy of the-notes-of-a-very-long-afternoon-in-may.jsonl"}, []string{"may.jsonl"}},
		{"session", []string{"session~"}, []string{"Copy of session"}},
	} {
		dir := t.TempDir()
		for _, name := range slices.Concat([]string{c.file}, c.copies, c.others) {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, path := range Backups(filepath.Join(dir, c.file)) {
			got = append(got, filepath.Base(path))
		}
		if slices.Sort(c.copies); !slices.Equal(got, c.copies) {
			t.Errorf("%s: %q, want %q", c.file, got, c.copies)
		}
	}
}
