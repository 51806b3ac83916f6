package claude_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	recorded "github.com/hist-cli/hist/fixtures"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testkit/testfile"
	"github.com/hist-cli/hist/internal/testkit/testhome"
	"github.com/hist-cli/hist/lint"
)

// TestHomeFixtures lints the homes in fixtures/claude/rules: those called bad*.txtar show the rule, and what else their
// golden file lists; those called ok*.txtar show nothing.
func TestHomeFixtures(t *testing.T) {
	for _, rule := range lint.Rules {
		if !rule.Home || !strings.HasPrefix(recorded.RuleDir(rule.Name), "claude/") {
			continue
		}
		archives, err := filepath.Glob("../../../fixtures/claude/rules/" + rule.Name + "/*.txtar")
		if err != nil || len(archives) < 2 {
			t.Errorf("rule %s has %d homes: %v", rule.Name, len(archives), err)
		}
		for _, archive := range archives {
			stem := strings.TrimSuffix(archive, ".txtar")
			t.Run(rule.Name+"/"+filepath.Base(stem), func(t *testing.T) {
				got, found := lintHome(t, archive)
				if strings.HasPrefix(filepath.Base(stem), "ok") {
					if got != "" {
						t.Errorf("findings in a healthy home:\n%s", got)
					}
					return
				}
				if !slices.ContainsFunc(found, func(f lint.Finding) bool { return f.Rule == rule }) {
					t.Errorf("no finding of rule %s; got:\n%s", rule.Name, got)
				}
				testfile.Golden(t, stem+".out", got)
			})
		}
	}
}

// lintHome lints a home as the command does.
func lintHome(t *testing.T, archive string) (list string, found []lint.Finding) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, ".claude")
	if err := testhome.Unpack(archive, dir); err != nil {
		t.Fatal(err)
	}
	show := func(path string, more ...lint.Finding) {
		if len(more) > 0 {
			list += strings.TrimPrefix(path, dir) + "\n" + strings.ReplaceAll(testfile.Findings(more), dir, "~/.claude")
			found = append(found, more...)
		}
	}
	var paths []string
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".jsonl" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	run := inspect.NewRun(nil)
	run.Whole(t.Context(), map[string][]string{dir: paths})
	for _, path := range paths {
		src, err := source.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		res, err := run.Lint(t.Context(), src, lint.Options{Home: dir, Name: lint.NameOf(path, true), Kept: inspect.Kept})
		src.Close()
		if err != nil {
			t.Fatal(err)
		}
		show(path, res.Findings...)
	}
	for _, out := range run.Outside(t.Context()) {
		show(out.Path, out.Findings...)
	}
	return list, found
}

// A sub-agent's transcript that lies in the folders of two sessions, as a client left it, lacks nothing.
func TestSubAgentInTwoParts(t *testing.T) {
	if got, _ := lintHome(t, "testdata/sub-agent-in-two-parts.txtar"); got != "" {
		t.Errorf("findings in a healthy home:\n%s", got)
	}
}
