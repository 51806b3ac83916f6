package source

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRealDirs: the real path of a directory is what the library says, however it is spelled and whatever above it is a link.
func TestRealDirs(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "a/b/c"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "a/file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": "a/b", "a/up": "..", "a/b/loop": "loop", "gone": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Skip(err)
		}
	}
	var d realDirs
	for _, rel := range []string{
		"", "/", "/a", "/a/b/c/", "/a/b/c", "/a//b", "/a/b/../b/c", "/link", "/link/c/", "/link/../up", "/a/up/a/b", "/a/up/link/c", "/a/b/loop", "/gone", "/gone/x", "/none/x", "/a/file", "/a/file/",
	} {
		for range 2 { // the second time it is known
			want, wantErr := filepath.EvalSymlinks(root + rel)
			got, err := d.real(root + rel)
			if got != want || (err == nil) != (wantErr == nil) {
				t.Errorf("%s: %q, %v; want %q, %v", rel, got, err, want, wantErr)
			}
		}
	}
	if got, err := d.real("/"); got != "/" || err != nil {
		t.Errorf("/: %q, %v", got, err)
	}
}
