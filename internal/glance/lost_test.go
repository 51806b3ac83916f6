package glance

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/testhome"
)

var update = flag.Bool("update", false, "rewrite the golden files in fixtures/codex/rules/context-lost")

// TestLost: the homes in fixtures/codex/rules/context-lost called bad*.txtar show the rule as their golden file says, those
// called ok*.txtar do not.
func TestLost(t *testing.T) {
	archives, err := filepath.Glob("../../fixtures/codex/rules/context-lost/*.txtar")
	if err != nil || len(archives) < 5 {
		t.Fatal(archives, err)
	}
	for _, archive := range archives {
		dir := t.TempDir()
		if err := testhome.Unpack(archive, dir); err != nil {
			t.Fatal(err)
		}
		var paths []string
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var list []*Session
		for _, p := range paths {
			list = append(list, look(t, p, Options{Content: true}))
		}
		lost := Lost(list)
		got := ""
		for _, p := range paths {
			for _, f := range lost[p] {
				got += strings.TrimPrefix(p, dir) + ": " + f.Message + "\n"
			}
		}
		golden := strings.TrimSuffix(archive, ".txtar") + ".out"
		if *update && got != "" {
			write(t, golden, []byte(got))
		}
		want, err := os.ReadFile(golden)
		if isBad := strings.HasPrefix(filepath.Base(archive), "bad"); isBad != (err == nil) || string(want) != got {
			t.Errorf("%s: got %q, want %q (%v)", archive, got, want, err)
		}
	}
}

// TestOnlyWhatIsCompared: what Lost compares is the same where only that is asked for.
func TestOnlyWhatIsCompared(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../../fixtures", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		want, err := Look(t.Context(), path, Options{Content: true})
		got, err2 := Look(t.Context(), path, Options{Content: true, Lost: true})
		if (err == nil) != (err2 == nil) {
			t.Errorf("%s: %v, and %v", path, err, err2)
		}
		if err != nil || err2 != nil {
			return nil
		}
		seen++
		want.Turn.Unknown, got.Turn.Unknown = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v, want\n%+v", path, got, want)
		}
		return nil
	})
	if err != nil || seen < 500 {
		t.Errorf("%d sessions, %v", seen, err)
	}
}
