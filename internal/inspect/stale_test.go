package inspect

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testkit"
	"github.com/hist-cli/hist/internal/testkit/corpus"
	"github.com/hist-cli/hist/internal/testkit/testhome"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
)

// toldOf is what a lint of a home tells, and which of its sessions were read for it.
type toldOf struct {
	text string
	read []string
}

// lintHome lints all of a home as the command does.
func lintHome(t *testing.T, with *agreements, dir string) (all toldOf) {
	t.Helper()
	var c *Cache
	ctx, kept := walk.Remember(t.Context()), KeptOfMany()
	var paths []string
	if err := walk.Walk(ctx, dir, func(e walk.Entry) error {
		if e.Err == nil && !e.Hidden && strings.Contains(e.Path, "sessions"+string(filepath.Separator)) {
			paths = append(paths, e.Path)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	in := OpenHome(ctx, dir)
	if with != nil {
		c = with.Cache
		in.Remember(with.Agreed)
	}
	lost := c.Lost(ctx, paths)
	for _, path := range paths {
		src, err := source.Open(path)
		if err != nil {
			all.text += path + ": " + err.Error() + "\n"
			continue
		}
		name := lint.NameOf(src.Real, true)
		opts := lint.Options{Name: name, Home: dir, Kept: kept, Listed: Listed}
		res := c.KnownHealthy(ctx, src, opts)
		if res == nil {
			if res, err = c.Lint(ctx, src, opts); err != nil {
				all.text += path + ": " + err.Error() + "\n"
				continue
			}
		}
		if src.BytesRead() > 0 {
			all.read = append(all.read, filepath.Base(path))
		}
		found, err := in.Session(ctx, src, res)
		listed, err2 := in.Listed(ctx, src)
		Add(res, slices.Concat(found, listed, lost[path]))
		all.text += fmt.Sprintf("%s: %+v %v %v\n%s", path, res.Summary, err, err2, told(res))
		src.Close()
	}
	index, found, err := in.Index()
	all.text += fmt.Sprintf("%s: %v\n%s", index, err, told(&lint.Result{Findings: found}))
	return all
}

var every = flag.Int("every", 10, "with -long, change only each of so many homes in each way; without it, a tenth of those")

// TestNothingStale: whatever has changed in a home, a lint with a cache tells what one without tells, byte for byte.
func TestNothingStale(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	archives, err := filepath.Glob("../../fixtures/codex/rules/*/*.txtar")
	if err != nil || len(archives) < 50 {
		t.Fatal(len(archives), err)
	}
	whole := t.TempDir()
	names := map[string]bool{}
	for _, archive := range archives {
		name := filepath.Base(filepath.Dir(archive)) + "-" + strings.TrimSuffix(filepath.Base(archive), ".txtar")
		if testhome.Unpack(archive, filepath.Join(whole, name)) == nil {
			names[name] = true
		}
	}
	all, before := changes(t), prepared(t)
	for what := range before {
		if all[what] == nil {
			all[what] = func(dir string) { back(t, dir) }
		}
	}
	for nth, what := range slices.Sorted(maps.Keys(all)) {
		t.Run(what, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			names, step := maps.Clone(names), *every*testkit.Stride(10)
			if what == "nothing" {
				step = testkit.Stride(10)
			}
			for i, name := range slices.Sorted(maps.Keys(names)) {
				if (i+nth)%step != 0 {
					delete(names, name)
				} else if err := os.CopyFS(filepath.Join(root, name), os.DirFS(filepath.Join(whole, name))); err != nil {
					t.Fatal(err)
				}
			}
			each := func(do func(c *Cache, name, dir string)) {
				c := OpenCache("1")
				for name := range names {
					do(c, name, filepath.Join(root, name))
				}
				c.Close()
			}
			if prepare := before[what]; prepare != nil {
				each(func(_ *Cache, _, dir string) { prepare(dir) })
			}
			old(t)
			first, want := map[string]string{}, map[string]string{}
			each(func(c *Cache, name, dir string) { first[name] = lintHome(t, &agreements{Cache: c}, dir).text })
			each(func(_ *Cache, _, dir string) { all[what](dir) })
			old(t)
			each(func(c *Cache, name, dir string) {
				want[name] = lintHome(t, nil, dir).text
				if got := lintHome(t, &agreements{Cache: c}, dir); got.text != want[name] {
					t.Errorf("%s: warm\n%s\nfresh\n%s\nbefore\n%s", name, got.text, want[name], first[name])
				}
			})
			each(func(c *Cache, name, dir string) {
				if got := lintHome(t, &agreements{Cache: c}, dir); got.text != want[name] {
					t.Errorf("%s: nothing has changed; warm\n%s\nfresh\n%s", name, got.text, want[name])
				}
			})
		})
	}
}

// agreements counts the sessions that are compared with their client's databases.
type agreements struct {
	*Cache
	asked []string
}

func (a *agreements) Agreed(ctx context.Context, src *source.Source, databases []agent.Database) (bool, func()) {
	known, keep := a.Cache.Agreed(ctx, src, databases)
	if !known {
		a.asked = append(a.asked, src.Name)
	}
	return known, keep
}

// madeHome makes a home of so many sessions with its databases, and has the cache, the runs and the databases of whoever runs
// the test left alone.
func madeHome(t *testing.T, sessions int, opts corpus.Options) string {
	t.Helper()
	t.Setenv("CODEX_SQLITE_HOME", "")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := corpus.Home(dir, sessions, opts, false); err != nil {
		t.Fatal(err)
	}
	if err := corpus.Databases(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestOneSession: what a client writes of one session has that one read, and compared with the databases, and none else.
func TestOneSession(t *testing.T) {
	dir := madeHome(t, 12, corpus.Options{Size: 20000, Seed: 1, Paginated: true, Text: 300})
	const thread = "01a1edfd-e191-74b0-9003-000000000007"
	const one, none = 1, 0
	for _, step := range []struct {
		what           string
		do             func()
		read, compared int // sessions
	}{
		{"cold", func() {}, 12, 12},
		{"warm", func() {}, none, none},
		{"an item", func() {
			run(t, dir, history, "UPDATE thread_items SET item_json = item_json || ' ' WHERE item_id = 'item_1' AND thread_id = '"+thread+"'")
		}, 12, 12},
		{"the same, now that it is known that items change", func() {
			run(t, dir, history, "UPDATE thread_items SET item_json = item_json || ' ' WHERE item_id = 'item_1' AND thread_id = '"+thread+"'")
		}, none, none},
		{"a turn, in a -wal file", func() {
			leftOver(t, dir, history, "UPDATE thread_turns SET duration_ms = 7 WHERE thread_id = '"+thread+"'")
		}, one, one},
		{"warm with it", func() {}, none, none},
		{"another", func() {
			leftOver(t, dir, history, "UPDATE thread_turns SET duration_ms = 8 WHERE thread_id = '"+thread+"'")
		}, one, one},
		{"moved from there", func() { run(t, dir, history, "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA journal_mode = DELETE") }, none, none},
		{"another thread", func() {
			run(t, dir, history, "INSERT INTO thread_history_projection_state VALUES ('01a1edfd-e191-74b0-9003-000000000099', 1, 1)")
		}, none, none},
		{"a row of the list", func() { run(t, dir, state, "UPDATE threads SET title = 'another' WHERE id = '"+thread+"'") }, none, one},
		{"another list", func() { run(t, dir, state, "UPDATE backfill_state SET status = 'complete'", "CREATE TABLE more (x)") }, none, none},
		{"another form", func() { run(t, dir, history, "ALTER TABLE thread_turns ADD COLUMN more TEXT") }, 12, 12},
		{"warm at last", func() {}, none, none},
	} {
		step.do()
		old(t)
		c := OpenCache("1")
		counted := &agreements{Cache: c}
		got, fresh := lintHome(t, counted, dir), lintHome(t, nil, dir)
		c.Close()
		if got.text != fresh.text || len(got.read) != step.read || len(counted.asked) != step.compared {
			t.Errorf("%s: read %d: %q; compared %d: %q; tells\n%s\nwant\n%s", step.what, len(got.read), got.read, len(counted.asked), counted.asked, got.text, fresh.text)
		}
	}
}

// TestFirstPrompt: the first prompt of a session in which nothing is damaged may come from the list of threads, too.
func TestFirstPrompt(t *testing.T) {
	dir := madeHome(t, 1, corpus.Options{Size: 9000, Seed: 4, Text: 100})
	edit(t, sessionsOf(t, dir)[0], func(text []byte) (kept []byte) {
		for i, line := range bytes.SplitAfter(text, []byte("\n")) {
			if i < 1 || i > 4 { // the beginning of its first turn
				kept = append(kept, line...)
			}
		}
		return kept
	})
	var told [2]string
	for i, prompt := range []string{"fix", ""} {
		run(t, dir, state, "UPDATE threads SET first_user_message = '"+prompt+"'")
		old(t)
		c := OpenCache("1")
		got, fresh := lintHome(t, &agreements{Cache: c}, dir), lintHome(t, nil, dir)
		c.Close()
		if told[i] = got.text; got.text != fresh.text {
			t.Errorf("%q: warm\n%s\nfresh\n%s", prompt, got.text, fresh.text)
		}
	}
	if told[0] == told[1] {
		t.Errorf("the prompt makes no difference:\n%s", told[0])
	}
}
