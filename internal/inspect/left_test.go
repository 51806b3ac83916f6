package inspect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testkit/corpus"
	"github.com/hist-cli/hist/lint"
)

// TestLeft: of a session whose file is gone, the client's list tells where it was, and its database what was said.
func TestLeft(t *testing.T) {
	dir := madeHome(t, 1, corpus.Options{Size: 20000, Seed: 1, Paginated: true, Text: 300})
	if err := corpus.Home(dir, 1, corpus.Options{Size: 20000, Seed: 1, Paginated: true, Text: 300}, false); err != nil { // as the client has read it
		t.Fatal(err)
	}
	path := sessionsOf(t, dir)[0]
	id := lint.NameOf(path, true).ThreadID
	if left := Left(t.Context(), dir, id); left != "" {
		t.Errorf("its file is there: %s", left)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if left := Left(t.Context(), dir, strings.ToUpper(id)); !strings.HasSuffix(left, "touch "+path+" && hist repair --in-place "+path) {
		t.Errorf("its file is gone: %q", left)
	}
	if left := Left(t.Context(), dir, "01a1edfd-0000-7000-8000-000000000000"); left != "" {
		t.Errorf("of no thread: %s", left)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open(filepath.Clean(path))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	res, err := Lint(t.Context(), src, lint.Options{Name: lint.NameOf(path, true), Home: dir})
	if err != nil || !strings.Contains(told(res), "lost-records") {
		t.Errorf("nothing comes back: %v\n%s", err, told(res))
	}
}
