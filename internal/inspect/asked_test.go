package inspect

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testkit/testhome"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// A result that was found with the help of a list of threads, or of other files of the home, depends on them, too.
func TestHomeAsked(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	for archive, helps := range map[string]string{
		"no-header/home.txtar":            "state_5.sqlite",
		"no-header/home-archived.txtar":   "archived_sessions/*.jsonl",
		"lost-records/bad-archived.txtar": "archived_sessions/*.jsonl",
		"lost-records/bad-typed.txtar":    "history.jsonl",
		"lost-records/bad-logged.txtar":   "logs_2.sqlite",
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
			opts := lint.Options{Name: lint.NameOf(paths[0], true), Home: dir, Kept: Kept, Listed: Listed}
			c := OpenCache("1")
			with, _ := lintBy(t, c, paths[0], opts)
			c.Close()
			gone, err := filepath.Glob(filepath.Join(dir, helps))
			if err != nil || len(gone) != 1 {
				t.Fatal(gone, err)
			}
			if err := os.Remove(gone[0]); err != nil {
				t.Fatal(err)
			}
			c = OpenCache("1")
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

// Results about Claude Code's sessions are stored: that of a healthy one is valid whatever else is in the home, that of one
// that has lost something is found anew.
func TestClaudeKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(home, "projects", "-home-dev")
	lost, sound := filepath.Join(project, "01a1fa85-bfc3-44d1-9684-000000000001.jsonl"), filepath.Join(project, "01a1fa85-bfc3-44d1-9684-000000000002.jsonl")
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for to, from := range map[string]string{lost: "lost-result/bad.jsonl", sound: "lost-result/ok.jsonl"} {
		text, err := os.ReadFile("../../fixtures/claude/rules/" + from)
		if err != nil {
			t.Fatal(err)
		}
		write(to, string(text))
	}
	for _, step := range []struct {
		what        string
		do          func()
		lost, sound bool // whether they are read
	}{
		{"cold", func() {}, true, true},
		{"warm", func() {}, true, false},
		{"another session", func() { write(filepath.Join(project, "01a1fa85-bfc3-44d1-9684-000000000003.jsonl"), "{}\n") }, true, false},
		{"warm again", func() {}, true, false},
		{"an output of its own", func() {
			write(filepath.Join(strings.TrimSuffix(lost, ".jsonl"), "tool-results", "toolu_1.txt"), "words")
		}, true, false},
		{"a prompt", func() { write(filepath.Join(home, "history.jsonl"), "{}\n") }, true, false},
		{"an output that changes", func() {
			write(filepath.Join(strings.TrimSuffix(lost, ".jsonl"), "tool-results", "toolu_1.txt"), "others")
		}, true, false},
		{"warm at last", func() {}, true, false},
	} {
		step.do()
		old(t)
		c := OpenCache("1")
		for path, want := range map[string]bool{lost: step.lost, sound: step.sound} {
			opts := lint.Options{Name: lint.NameOf(path, true), Home: home, Kept: Kept, Listed: Listed}
			got, read := lintBy(t, c, path, opts)
			fresh, _ := lintBy(t, nil, path, opts)
			if read != want || told(got) != told(fresh) {
				t.Errorf("%s: %s was read: %v; it tells\n%swant\n%s", step.what, filepath.Base(path), read, told(got), told(fresh))
			}
		}
		c.Close()
	}
}

// Which threads were begun to replace another is found the same from the cache as from the sessions, and the cache holds none
// of their words.
func TestGlance(t *testing.T) {
	archives, err := filepath.Glob("../../fixtures/codex/rules/context-lost/*.txtar")
	if err != nil || len(archives) < 5 {
		t.Fatal(archives, err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	homes := map[string]string{}
	for _, archive := range archives {
		homes[archive] = t.TempDir()
		if err := testhome.Unpack(archive, homes[archive]); err != nil {
			t.Fatal(err)
		}
	}
	old(t)
	told, words := 0, ""
	for _, when := range []string{"cold", "warm"} {
		c := OpenCache("1")
		for archive, dir := range homes {
			var kept, looked []*timeline.Glance
			err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				s, err := timeline.Look(t.Context(), path, timeline.LookOptions{Content: true})
				if err != nil {
					return err
				}
				words = max(words, s.First)
				k, err := c.Glance(t.Context(), path)
				looked, kept = append(looked, s), append(kept, k)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			want := timeline.Lost(t.Context(), looked)
			if got := timeline.Lost(t.Context(), kept); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: %v, want %v", archive, when, got, want)
			}
			told += len(want)
		}
		if when == "warm" && c.dirty {
			t.Error("the sessions were looked at again")
		}
		c.Close()
		if text, err := os.ReadFile(c.file); err != nil || words == "" || strings.Contains(string(text), words) {
			t.Errorf("the cache holds %q, %v", words, err)
		}
	}
	if told == 0 {
		t.Error("nothing was ever lost")
	}
}

// told returns the findings as text.
func told(res *lint.Result) string {
	var b strings.Builder
	for _, f := range res.Findings {
		b.WriteString(f.Pos.String() + " " + f.Rule.Name + " " + f.Fix.String() + ": " + f.Message + " [" + f.Source + "]\n")
	}
	return b.String()
}
