package repair

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testkit/testhome"
	"github.com/hist-cli/hist/lint"
)

// TestHomeFixtures repairs the session of each home that holds what its file has lost, records or its header: the result is
// the golden file, has nothing left to mend, and what stands in the file is still there.
func TestHomeFixtures(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	var homes []string
	for _, pattern := range []string{"lost-records/*", "no-header/home*", "no-header/ok-*", "broken-lineage/*"} {
		found, err := filepath.Glob("../fixtures/codex/rules/" + pattern + ".txtar")
		if err != nil || len(found) == 0 {
			t.Fatal("no homes", err)
		}
		homes = append(homes, found...)
	}
	for _, archive := range homes {
		name := strings.TrimSuffix(archive, ".txtar")
		t.Run(filepath.Base(name), func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := testhome.Unpack(archive, dir); err != nil {
				t.Fatal(err)
			}
			paths, _ := filepath.Glob(filepath.Join(dir, "sessions/*/*/*/*.jsonl"))
			if paths[0] = paths[len(paths)-1]; strings.Contains(name, "lost-records") { // a fork comes behind its parent
				paths, _ = filepath.Glob(filepath.Join(dir, "sessions/*/*/*/*.jsonl"))
			}
			src, err := source.Open(paths[0])
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			var out bytes.Buffer
			rep, err := Do(context.Background(), Job{
				Source: src, Lint: lint.Options{Name: lint.NameOf(paths[0], true), Home: dir}, Mode: ToStream, Stream: &out, Home: dir,
			})
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(filepath.Base(name), "ok") {
				if rep.Totals.Added != 0 {
					t.Errorf("%d records were added to a healthy session", rep.Totals.Added)
				}
				return
			}
			if *update {
				if err := os.WriteFile(name+".repaired", out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name + ".repaired")
			if err != nil || !bytes.Equal(out.Bytes(), want) {
				t.Errorf("%s.repaired: the repaired session is another now (%v):\n%s", name, err, out.Bytes())
			}
			res, err := lint.Session(context.Background(), bytes.NewReader(out.Bytes()), lint.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range res.Findings {
				if f.Impact != lint.Notes {
					t.Errorf("left after the repair: line %d: %s", f.Pos.Line, f.Message)
				}
			}
		})
	}
}

// TestRunsAreReadOnce: what earlier runs keep of the sessions of a home is read once for all of them.
func TestRunsAreReadOnce(t *testing.T) {
	state, home := t.TempDir(), t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("CODEX_SQLITE_HOME", "")
	if err := testhome.Unpack("../fixtures/codex/rules/lost-records/bad-archived.txtar", home); err != nil {
		t.Fatal(err)
	}
	sessions, err := filepath.Glob(filepath.Join(home, "*sessions/*.jsonl"))
	if err != nil || len(sessions) != 1 {
		t.Fatalf("one session is archived, not %v, %v", sessions, err)
	}
	path := filepath.Join(home, "sessions/2026/11/18", filepath.Base(sessions[0]))
	damaged, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(sessions[0])
	if err := errors.Join(err, os.WriteFile(path, append(whole, "garbage\n"...), 0o600), os.Remove(sessions[0])); err != nil {
		t.Fatal(err)
	}
	if _, err := restedRepair(t, mutant{}, home, path, InPlace); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, damaged, 0o600); err != nil { // only the run's record is whole now
		t.Fatal(err)
	}
	kept := inspect.KeptOfMany()
	restored := func() bool {
		src, err := source.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		res, err := lint.Source(t.Context(), src, lint.Options{Name: lint.NameOf(path, true), Home: home, Kept: kept})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(res.Findings, func(f lint.Finding) bool { return strings.Contains(f.Source, "original-") })
	}
	if !restored() {
		t.Fatal("what the run keeps is not found")
	}
	lists, err := filepath.Glob(filepath.Join(state, "hist/runs/*/files.jsonl"))
	if err != nil || len(lists) != 1 || os.Remove(lists[0]) != nil {
		t.Fatalf("no run is recorded: %v, %v", lists, err)
	}
	if !restored() {
		t.Error("the runs are read again")
	}
}

// What is restored of a session of whose file nothing is left comes from more than one place: the report names them.
func TestSourcesOfADestroyedSession(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := testhome.Unpack("../fixtures/codex/rules/no-header/home-empty.txtar", dir); err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "sessions/*/*/*/*.jsonl"))
	rep, err := Do(context.Background(), Job{
		Path: paths[0], Lint: lint.Options{Name: lint.NameOf(paths[0], true), Home: dir}, Mode: ToStream, Stream: io.Discard, Home: dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "state_5.sqlite, thread_history_1.sqlite"; rep.Edits[0].From != want {
		t.Errorf("the first edit is from %q, want %q", rep.Edits[0].From, want)
	}
}

// TestUnseenFile: a session that is not where its client's list has it, as one that was moved to the archive by hand, gets a copy that
// the client finds, though nothing in it is damaged. In place, there is nothing to mend.
func TestUnseenFile(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("CODEX_SQLITE_HOME", "")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := testhome.Unpack("../fixtures/codex/rules/index-stale/bad.txtar", dir); err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "sessions/*/*/*/*.jsonl"))
	archived := filepath.Join(dir, "archived_sessions", filepath.Base(paths[0]))
	if err := errors.Join(os.MkdirAll(filepath.Dir(archived), 0o700), os.Rename(paths[0], archived)); err != nil {
		t.Fatal(err)
	}
	opts := lint.Options{Name: lint.NameOf(archived, true), Home: dir}
	if rep, err := Do(t.Context(), Job{Path: archived, Lint: opts, Mode: InPlace, Home: dir}); err != nil || len(rep.Left) != 1 || !rep.Refused() {
		t.Errorf("in place: %v %+v", err, rep)
	}
	rep, err := Do(t.Context(), Job{Path: archived, Lint: opts, Mode: NewThread, Home: dir})
	if err != nil || rep.Refused() || len(rep.Resume) == 0 || !strings.HasPrefix(rep.Target, filepath.Join(dir, "sessions")) {
		t.Fatalf("%v %+v", err, rep)
	}
}
