package beside

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	recorded "github.com/hist-cli/hist/fixtures"
	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testkit/testfile"
	"github.com/hist-cli/hist/internal/testkit/testhome"
	"github.com/hist-cli/hist/lint"
)

const fixtures = "../../../../fixtures"

// TestHomeFixtures lints the homes in fixtures/codex/rules: those called bad*.txtar show the rule, and what else their golden
// file lists; those called ok*.txtar show nothing.
func TestHomeFixtures(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	for _, rule := range lint.Rules {
		if !rule.Home || rule.Name == "context-lost" || rule.Name == "repaired" { // internal/timeline tells the first, cmd the other
			continue
		}
		if !strings.HasPrefix(recorded.RuleDir(rule.Name), "codex/") {
			continue // its agent's own tests
		}
		dir := filepath.Join(fixtures, "codex", "rules", rule.Name)
		bad, ok := 0, 0
		for _, name := range testfile.Entries(t, dir) {
			if filepath.Ext(name) != ".txtar" {
				continue
			}
			t.Run(rule.Name+"/"+testfile.Stem(name), func(t *testing.T) {
				got, found := lintHome(t, filepath.Join(dir, name))
				if strings.HasPrefix(name, "ok") {
					ok++
					if got != "" {
						t.Errorf("findings in a healthy home:\n%s", got)
					}
					return
				}
				bad++
				if !slices.ContainsFunc(found, func(f lint.Finding) bool { return f.Rule == rule }) {
					t.Errorf("no finding of rule %s; got:\n%s", rule.Name, got)
				}
				testfile.Golden(t, filepath.Join(dir, testfile.Stem(name)+".out"), got)
			})
		}
		if bad == 0 || ok == 0 {
			t.Errorf("rule %s has %d homes bad*.txtar and %d ok*.txtar in %s; it needs both", rule.Name, bad, ok, dir)
		}
	}
}

// lintHome lints a home as the command does, and fails if that leaves anything behind in it.
func lintHome(t *testing.T, archive string) (list string, found []lint.Finding) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := testhome.Unpack(archive, dir); err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	ctx := context.Background()
	h := Open(ctx, dir)
	var b strings.Builder
	show := func(path string, more []lint.Finding, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if len(more) > 0 {
			b.WriteString(strings.TrimPrefix(path, dir) + "\n" + strings.ReplaceAll(testfile.Findings(more), dir, "$HOME"))
			found = append(found, more...)
		}
	}
	for _, path := range before {
		if filepath.Ext(path) != ".jsonl" || filepath.Base(path) == home.PromptsFile {
			continue
		}
		src, err := source.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		res := lintOpened(t, src, dir)
		show(path, res.Findings, nil)
		beside, err := h.Session(ctx, src, res)
		show(path, beside, err)
		beside, err = h.Listed(ctx, src)
		show(path, beside, err)
	}
	show(h.Index())
	if after := files(t, dir); !slices.Equal(before, after) {
		t.Errorf("lint left something behind: %v, before %v", after, before)
	}
	return b.String(), found
}

func lintOpened(t *testing.T, src *source.Source, home string) *lint.Result {
	t.Helper()
	res, err := lint.Source(context.Background(), src, lint.Options{Name: lint.NameOf(src.Name, true), Home: home, Kept: keptBy})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func keptBy(ctx context.Context, _, dir, base string) check.Kept {
	return Kept(ctx, dir, base, nil, NewForks())
}
