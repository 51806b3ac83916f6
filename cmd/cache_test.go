package cmd

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/lintcache"
)

// TestCacheChangesNothing lints all fixtures, in every format and by every flag that judges, with an empty cache, with a
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
	time.Sleep(2100 * time.Millisecond) // until the files rest
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
	if testing.Short() {
		flags = flags[:3]
	}
	paths := []string{filepath.Join(dir, "fixtures"), filepath.Join(dir, "home/sessions")}
	for _, f := range flags {
		args := slices.Concat([]string{"--color", "never"}, f, paths)
		if !slices.Contains(f, "--config") {
			args = append(args, "--no-config")
		}
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		code, want := run(append(args, "--no-cache")...)
		if s, err := lintcache.Look(Version()); err != nil || s.Files != 0 {
			t.Errorf("%v: --no-cache left %+v, %v", f, s, err)
		}
		for _, when := range []string{"cold", "warm", "warm again"} {
			if c, got := run(args...); c != code || got != want {
				t.Errorf("%v, %s: exit %d, want %d; %d bytes, want %d", f, when, c, code, len(got), len(want))
			}
			if s, err := lintcache.Look(Version()); err != nil || (s.Own > 100) == slices.Contains(f, "--show-content") {
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
		{"cache", ExitOK, ": 0 bytes in 0 files; this hist knows 0 sessions\n"},
		{"cache status", ExitOK, "0 bytes"},
		{"cache clean", ExitOK, "0 bytes removed\n"},
		{"cache clear", ExitUsage, "clean"},
		{"cache status clean", ExitUsage, "one at a time"},
	} {
		var out, errs bytes.Buffer
		if code := Main(strings.Fields("hist "+c.args), strings.NewReader(""), &out, &errs); code != c.code || !strings.Contains(out.String()+errs.String(), c.out) {
			t.Errorf("%s: exit %d: %s%s", c.args, code, out.String(), errs.String())
		}
	}
}
