package cmd

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/testkit"
	"github.com/hist-cli/hist/internal/testkit/testhome"
)

// rest has all files count as at rest that have changed by now.
func rest(t *testing.T) {
	t.Helper()
	tick := func() { time.Sleep(10 * time.Millisecond) } // of the file system's clock
	tick()
	was, at := inspect.Resting, time.Now()
	inspect.Resting = func() time.Time { return at }
	t.Cleanup(func() { inspect.Resting = was })
	tick()
}

// TestCacheChangesNothing lints fixtures, in every format and by every flag that judges, with an empty cache, with a
// full one, and with none: what is printed, and the exit code, is the same, byte for byte.
func TestCacheChangesNothing(t *testing.T) {
	for _, v := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "CODEX_HOME"} {
		t.Setenv(v, t.TempDir())
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "fixtures"), os.DirFS("../fixtures")); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home/sessions/2026/11/20")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(filepath.Join(dir, "fixtures"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "rollout-") && strings.HasSuffix(path, ".jsonl") {
			text, rerr := os.ReadFile(path)
			if rerr != nil {
				return rerr
			}
			return os.WriteFile(filepath.Join(home, d.Name()), text, 0o600)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	config, baseline := filepath.Join(dir, "hist.toml"), filepath.Join(dir, "known.json")
	if err := os.WriteFile(config, []byte("[lint.rules]\ntorn-tail = \"notes\"\nopen-turn = \"off\"\n[restart]\nwake_prefix = \"x\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := Main(append([]string{"hist", "lint"}, args...), strings.NewReader(""), &out, &errs)
		return code, out.String() + "\n--\n" + errs.String()
	}
	run("--no-config", "--no-cache", "--write-baseline", baseline, filepath.Join(dir, "fixtures/codex/rules/torn-tail"))
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() { // an empty file that is young waits for its first record
			err = os.Chtimes(path, time.Now().Add(-time.Hour), time.Now().Add(-time.Hour))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rest(t)
	flags := [][]string{
		{"-f", "json"},
		{"-f", "jsonl"},
		{"-f", "sarif"},
		{"-f", "junit"},
		{"-f", "github"},
		{"--notes"},
		{"--notes", "--show-content"},
		{"--fail-on", "blocks"},
		{"--for-codex", "0.114"},
		{"--provider", "azure"},
		{"--config", config},
		{"--baseline", baseline},
		{"--rule", "torn-tail"},
	}
	folders, err := filepath.Glob(filepath.Join(dir, "fixtures/*/*/*"))
	if err != nil {
		t.Fatal(err)
	}
	for nth, f := range testkit.Sample(flags, 6, 0) {
		paths := []string{filepath.Join(dir, "home/sessions")}
		for i := nth % 4; i < len(folders); i += 4 * testkit.Stride(3) { // other folders with each
			paths = append(paths, folders[i])
		}
		args := slices.Concat([]string{"--color", "never"}, f, paths)
		if !slices.Contains(f, "--config") {
			args = append(args, "--no-config")
		}
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		code, want := run(append(args, "--no-cache")...)
		if s, err := inspect.CacheStats(Version()); err != nil || s.Files != 0 {
			t.Errorf("%v: --no-cache left %+v, %v", f, s, err)
		}
		for _, when := range []string{"cold", "warm", "warm again"} {
			if c, got := run(args...); c != code || got != want {
				t.Errorf("%v, %s: exit %d, want %d; %d bytes, want %d", f, when, c, code, len(got), len(want))
			}
			if s, err := inspect.CacheStats(Version()); err != nil || (s.Own > 100) == slices.Contains(f, "--show-content") {
				t.Errorf("%v, %s: %+v, %v", f, when, s, err)
			}
		}
	}
}

func TestCacheCommand(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, c := range []struct {
		args string
		code int
		out  string
	}{
		{"cache", ExitOK, ": the cache is empty\n"},
		{"cache status", ExitOK, ": the cache is empty\n"},
		{"cache clean", ExitOK, "the cache is empty: nothing was removed\n"},
		{"lint ../fixtures/codex/0.169.0/clean", ExitOK, "no damage was found"},
		{"cache status", ExitOK, " B in 1 file, with what this version of hist found in 1 session\n"},
		{"cache clean", ExitOK, "the cache was removed: "},
		{"cache status", ExitOK, ": the cache is empty\n"},
		{"cache clear", ExitUsage, "clean"},
		{"cache status clean", ExitUsage, "one at a time"},
	} {
		var out, errs bytes.Buffer
		if code := Main(strings.Fields("hist "+c.args), strings.NewReader(""), &out, &errs); code != c.code || !strings.Contains(out.String()+errs.String(), c.out) {
			t.Errorf("%s: exit %d: %s%s", c.args, code, out.String(), errs.String())
		}
	}
}

// TestWarmAsksAnew: what is known of sound sessions is no answer for one that is in use, was changed, or of which the client's
// database says something else by now.
func TestWarmAsksAnew(t *testing.T) {
	for _, v := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(v, t.TempDir())
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const id = "01a1fa85-897f-7b72-87b7-f6ebde981289"
	name := "rollout-2026-11-20T19-53-37-" + id + ".jsonl"
	text, err := os.ReadFile(filepath.Join("../fixtures/codex/0.169.0/clean", name))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "sessions/2026/11/20")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	hour := time.Now().Add(-time.Hour)
	var paths []string
	for i := range 30 { // more than are asked about one by one
		other := strings.Replace(id, "1289", fmt.Sprintf("%04d", i), 1)
		path := filepath.Join(dir, strings.Replace(name, id, other, 1))
		if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(id), []byte(other)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, hour, hour); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	rest(t)
	lint := func(want string) {
		t.Helper()
		for _, flag := range []string{"--notes", "--no-cache"} {
			var out, errs bytes.Buffer
			Main([]string{"hist", "lint", "--no-config", "--notes", flag, home}, strings.NewReader(""), &out, &errs)
			if told := out.String() + errs.String(); !strings.Contains(told, want) {
				t.Errorf("%s: no %q in\n%s", flag, want, told)
			}
		}
	}
	lint("30 sessions: no damage was found\n")
	lint("30 sessions: no damage was found\n")
	last := paths[len(paths)-1]
	if runtime.GOOS == "linux" {
		f, err := os.OpenFile(last, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		lint(filepath.Base(last) + ": notes: this process still has the file open [in-use]")
		f.Close()
	}
	journal := filepath.Join(home, "rollout-migrations", last[len(last)-len(id)-len(".jsonl"):len(last)-len(".jsonl")]+".pending")
	if err := os.MkdirAll(filepath.Dir(journal), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journal, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lint(journal)
	if err := os.Remove(journal); err != nil {
		t.Fatal(err)
	}
	lint("30 sessions: no damage was found\n")
	database := filepath.Join(home, "thread_history_1.sqlite")
	if err := os.WriteFile(database, []byte("no database, and long enough to be one of a few pages"), 0o600); err != nil {
		t.Fatal(err)
	}
	lint("30 of 30 sessions are damaged")
	if err := os.Remove(database); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(last, int64(len(text)-100)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(last, hour, hour); err != nil {
		t.Fatal(err)
	}
	lint("1 of 30 sessions is damaged")
}

// TestWarmAsksDatabases: that a session agrees with its client's databases is known until one of them changes; that it does not is
// told each time.
func TestWarmAsksDatabases(t *testing.T) {
	for _, v := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(v, t.TempDir())
	}
	t.Setenv("CODEX_SQLITE_HOME", "")
	dirs := map[string]string{"ok": "", "bad": ""}
	for name := range dirs {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := testhome.Unpack("../fixtures/codex/rules/projection-stale/"+name+".txtar", dir); err != nil {
			t.Fatal(err)
		}
		dirs[name] = dir
	}
	lint := func(stale bool) {
		t.Helper()
		for range 3 {
			var out, errs bytes.Buffer
			Main([]string{"hist", "lint", "--no-config", dirs["ok"]}, strings.NewReader(""), &out, &errs)
			if strings.Contains(out.String(), "[projection-stale]") != stale || errs.Len() > 0 {
				t.Errorf("want stale %v, got\n%s%s", stale, &out, &errs)
			}
		}
	}
	rest(t)
	lint(false)
	const database = "thread_history_1.sqlite"
	if err := os.Rename(filepath.Join(dirs["bad"], database), filepath.Join(dirs["ok"], database)); err != nil {
		t.Fatal(err)
	}
	lint(true)
	rest(t)
	lint(true)
}
