package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// notHeld is how many kinds of damage from the field nothing holds: it may only shrink.
const notHeld = 0

// TestFieldKinds: what docs/dev/field.md says to hold a kind of damage from the field is there: a fixture, a script, or a test.
func TestFieldKinds(t *testing.T) {
	tests := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
			tests[string(name[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	held := section(t, read(t, "dev/field.md"), "## What public reports showed")
	rows, open := 0, 0
	for _, row := range regexp.MustCompile(`(?m)^\| (.+) \| (.+) \|$`).FindAllStringSubmatch(held, -1) {
		if row[2] == "held by" {
			continue
		}
		rows++
		for name := range strings.SplitSeq(row[2], ", ") {
			link := regexp.MustCompile(`^\[.+\]\(\.\./\.\./((?:fixtures|cmd/testdata)/.+)\)$`).FindStringSubmatch(name)
			switch {
			case name == "nothing yet":
				open++
			case link != nil:
				if _, err := os.Stat(filepath.Join("..", link[1])); err != nil {
					t.Errorf("%s: %v", row[1], err)
				}
			case !tests[strings.Trim(name, "`")]:
				t.Errorf("%s: there is no %s", row[1], name)
			}
		}
	}
	if rows == 0 || open > notHeld {
		t.Errorf("%d of %d kinds are held by nothing; %d were", open, rows, notHeld)
	}
}
