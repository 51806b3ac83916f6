// Package testfile helps the tests of several packages with files: golden files, and directory trees of made-up ones.
package testfile

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/finding"
	_ "github.com/hist-cli/hist/internal/testkit" // for its pace of collecting garbage
)

// Update says whether golden files are to be rewritten with the code's present output.
var Update = flag.Bool("update", false, "rewrite golden files with the code's present output")

// Findings prints findings one per line, with everything that a golden file should fix: line (1-based) and offset (0-based),
// rule, impact, fix, message, how many there are, and where the content comes from.
func Findings(findings []finding.Finding) string {
	var b strings.Builder
	for i := range findings {
		f := &findings[i]
		fmt.Fprintf(&b, "%d:%d %s %s %s: %s", f.Pos.Line, f.Offset, f.Rule.Name, f.Impact, f.Fix, f.Message)
		if f.Count > 1 {
			fmt.Fprintf(&b, " (%d times)", f.Count)
		}
		if f.Source != "" {
			fmt.Fprintf(&b, " [%s]", f.Source)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Golden compares findings with a golden file; with -update it rewrites the file instead.
func Golden(t *testing.T, path, got string) {
	t.Helper()
	if *Update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update and read what it says)", err)
	}
	if got != string(want) {
		t.Errorf("%s: findings differ\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// Entries are the names of what a directory holds, sorted.
func Entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range list {
		names = append(names, entry.Name())
	}
	return names
}

// Stem is a file's name without its directory and its last extension.
func Stem(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// Tree creates files below a new directory and returns that. Each file contains its own name; "name/" is a directory, and
// "name -> target" a symbolic link.
func Tree(t *testing.T, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range names {
		name, target, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		err := error(nil)
		switch {
		case isLink:
			err = os.Symlink(target, path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		default:
			err = os.WriteFile(path, []byte(name), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}
