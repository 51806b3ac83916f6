package runs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hist-cli/hist/internal/publish"
)

func die() {
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// TestPlayCrash is the process that dies: before the rename ("check", "last check") or after it, before the manifest says so.
func TestPlayCrash(t *testing.T) {
	path := os.Getenv("HIST_TEST_CRASH_FILE")
	if path == "" {
		t.Skip("only as another process")
	}
	r := begin(t)
	switch os.Getenv("HIST_TEST_CRASH_AT") {
	case "check":
		rel, sha, _ := r.backupOf(ctx, path)
		f := File{Source: path, Target: path, Mode: InPlace, SHA256Before: sha, Backup: rel, ModTimeBefore: old}
		r.Publish(ctx, &f, publish.Target{Path: path, Replace: true}, text(after), publish.Checks{Content: func(string) error { die(); return nil }})
	case "last check":
		inPlace(t, r, path, func() error { die(); return nil })
	case "renamed":
		rel, sha, _ := r.backupOf(ctx, path)
		f := File{Source: path, Target: path, Mode: InPlace, SHA256Before: sha, Backup: rel, ModTimeBefore: old}
		inPlaceUnconfirmed(t, r, f)
		die()
	case "backup":
		r.backupOf(ctx, path)
		die()
	case "undo":
		inPlace(t, r, path, nil)
		u, err := r.examine(ctx, 0)
		if err != nil || u.do(ctx, unclaimed{}) != nil {
			return
		}
		die()
	}
}

// inPlaceUnconfirmed leaves what Publish would leave if it were killed right after the rename.
func inPlaceUnconfirmed(t *testing.T, r *Run, f File) {
	t.Helper()
	if err := r.Publish(ctx, &f, publish.Target{Path: f.Target, Replace: true, Mode: 0o640}, text(after), publish.Checks{}); err != nil {
		t.Fatal(err)
	}
	r.Manifest.Files[0].Published = false
	if err := r.record(0, true); err != nil {
		t.Fatal(err)
	}
}

func TestCrash(t *testing.T) {
	for _, c := range []struct {
		at      string
		content string // of the session after the crash
		undo    error
	}{
		{"backup", before, ErrUnrecorded},
		{"check", before, ErrUnrecorded},
		{"last check", before, ErrNothing},
		{"renamed", after, nil},
		{"undo", before, nil},
	} {
		t.Run(c.at, func(t *testing.T) {
			dir := state(t)
			a := put(t, filepath.Join(dir, "a.jsonl"), before)
			cmd := exec.Command("/proc/self/exe", "-test.run=^TestPlayCrash$")
			cmd.Env = append(os.Environ(), "HIST_TEST_CRASH_FILE="+a, "HIST_TEST_CRASH_AT="+c.at)
			out, err := cmd.CombinedOutput()
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("not killed: %v %s", err, out)
			}
			holds(t, a, c.content)
			list, err := List()
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			r := load(t, list[0].Run)
			if _, err := r.Undo(ctx, nil); !errors.Is(err, c.undo) || (err == nil) != (c.undo == nil) {
				t.Error(err)
			}
			holds(t, a, before)
			if c.undo != nil {
				if err := r.Discard(); err != nil {
					t.Error(err)
				}
			} else if _, err := Load(""); !errors.Is(err, ErrNoRun) {
				t.Error(err)
			}
		})
	}
}
