package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// links are those to other pages and files, and to a heading; those to the web are left alone.
	links = regexp.MustCompile(`\]\(([^):\s]+)\)`)
	// sources are the Go files that a page names.
	sources = regexp.MustCompile("`([a-z][a-z0-9_/]*/[a-z0-9_]+\\.go)`")
	code    = regexp.MustCompile("(?s)```.*?```")
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// TestLinks: what a page links to is there, file and heading, and so are the Go files that it names.
func TestLinks(t *testing.T) {
	atRoot(t)
	pages := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && path != "docs" && path != filepath.Join("docs", "rules") && path != filepath.Join("docs", "dev"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		pages++
		text := code.ReplaceAllString(read(t, path), "")
		for _, m := range links.FindAllStringSubmatch(text, -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			to := filepath.Join(filepath.Dir(path), file)
			if file == "" {
				to = path
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			} else if anchor != "" && !anchors(read(t, to))[anchor] {
				t.Errorf("%s links to %s, and %s has no such heading", path, m[1], to)
			}
		}
		for _, m := range sources.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s names %s, which is not there", path, m[1])
			}
		}
		return nil
	})
	if err != nil || pages < 30 {
		t.Fatal(pages, err)
	}
}

// anchors are the names under which GitHub links to the headings of a page.
func anchors(page string) map[string]bool {
	names := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(code.ReplaceAllString(page, ""), -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_', r > 0x7f:
				return r
			}
			return -1
		}, strings.ToLower(m[1]))
		names[name] = true
	}
	return names
}
