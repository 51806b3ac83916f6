package pi_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/testkit/testfile"
	"github.com/hist-cli/hist/internal/testkit/testhome"
)

// TestHomeFixtures lints the homes in fixtures/pi/rules: bad.txtar shows the rule, ok.txtar nothing.
func TestHomeFixtures(t *testing.T) {
	for _, rule := range []string{"bad-neighbour", "shared-folder"} {
		for _, name := range []string{"bad", "ok"} {
			stem := filepath.Join(fixtures, "rules", rule, name)
			dir := filepath.Join(t.TempDir(), ".pi", "agent")
			if err := testhome.Unpack(stem+".txtar", dir); err != nil {
				t.Fatal(err)
			}
			list, names := "", []string{}
			err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
				if err == nil && filepath.Ext(path) == ".jsonl" {
					found := inHome(t, dir, path).Findings
					for _, f := range found {
						names = append(names, f.Rule.Name)
					}
					if len(found) > 0 {
						list += strings.TrimPrefix(path, dir) + "\n" + testfile.Findings(found)
					}
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if name == "ok" && list != "" || name == "bad" && !slices.Contains(names, rule) {
				t.Errorf("%s: %s", stem, list)
			}
			if name == "bad" {
				testfile.Golden(t, stem+".out", list)
			}
		}
	}
}
