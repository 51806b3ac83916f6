package lintcache

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent/homes"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testhome"
	"github.com/hist-cli/hist/lint"
)

// What is found with the help of a list of threads, or of other files of the home, hangs on them, too.
func TestHomeAsked(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	for archive, helps := range map[string]string{
		"no-header/home.txtar":            "state_5.sqlite",
		"lost-records/bad-archived.txtar": "archived_sessions/*.jsonl",
		"lost-records/bad-fork.txtar":     "sessions/*/*/*/*f191*.jsonl",
	} {
		t.Run(filepath.Dir(archive), func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := testhome.Unpack(filepath.Join("../../fixtures/codex/rules", archive), dir); err != nil {
				t.Fatal(err)
			}
			old(t)
			paths, err := filepath.Glob(filepath.Join(dir, "sessions/*/*/*/*.jsonl"))
			if err != nil || len(paths) == 0 {
				t.Fatal(paths, err)
			}
			opts := lint.Options{Name: lint.NameOf(paths[0], true), Home: dir, Kept: homes.Kept, Listed: homes.Listed}
			c := Open("1")
			with, _ := lintBy(t, c, paths[0], opts)
			c.Close()
			gone, err := filepath.Glob(filepath.Join(dir, helps))
			if err != nil || len(gone) != 1 {
				t.Fatal(gone, err)
			}
			if err := os.Remove(gone[0]); err != nil {
				t.Fatal(err)
			}
			c = Open("1")
			without, _ := lintBy(t, c, paths[0], opts)
			c.Close()
			src, err := source.Open(paths[0])
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			want, err := lint.Source(t.Context(), src, opts)
			if err != nil {
				t.Fatal(err)
			}
			if told(without) != told(want) || told(with) == told(want) {
				t.Errorf("without %s the cache tells\n%sand this is true:\n%s", helps, told(without), told(want))
			}
		})
	}
}

// told is what findings say.
func told(res *lint.Result) string {
	var b strings.Builder
	for _, f := range res.Findings {
		b.WriteString(f.Pos.String() + " " + f.Rule.Name + " " + f.Fix.String() + ": " + f.Message + " [" + f.Source + "]\n")
	}
	return b.String()
}
