//go:build unix

package cmd

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/hist-cli/hist/internal/testkit/testhome"
)

// TestPipeForOutput: a pipe is no place for a report.
func TestPipeForOutput(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, flags := range [][]string{{"--write-baseline", pipe}, {"--format", "json=" + pipe}} {
		c := child(t, append([]string{"lint", "../fixtures/codex/rules/call-without-output/bad.jsonl"}, flags...)...)
		if code, text := exitCode(t, c); code != ExitIO || !strings.Contains(text, "only a regular file can be replaced") {
			t.Errorf("exit %d: %s", code, text)
		}
	}
}

// TestOddConfigs: what is no regular file, or too large to be held, is neither a config nor a baseline, and is not waited for.
func TestOddConfigs(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, ".hist.toml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	session, err := filepath.Abs("../fixtures/codex/rules/call-without-output/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	c := child(t, "lint", session)
	c.Dir = dir
	if code, text := exitCode(t, c); code != ExitIO || !strings.Contains(text, "not a regular file") {
		t.Errorf("exit %d: %s", code, text)
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 20<<30); err != nil { // it takes no room on the disk
		t.Skip(err)
	}
	for _, flag := range []string{"--config", "--baseline"} {
		for path, want := range map[string]string{pipe: "not a regular file: it is a named pipe", "/dev/zero": "not a regular file: it is a device", dir: "not a regular file: it is a directory", large: "too large"} {
			if code, text := exitCode(t, child(t, "lint", flag, path, session)); code != ExitIO || !strings.Contains(text, want) {
				t.Errorf("%s %s: exit %d: %s", flag, path, code, text)
			}
		}
	}
}

// TestNoCommandForCI: no file's name makes a line that a CI server takes for a command.
func TestNoCommandForCI(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("../fixtures/codex/rules/call-without-output/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "::error::bare.jsonl"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "dang\n::error::D\n.jsonl")); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"text", "junit", "sarif"} {
		c := child(t, "lint", "--format", format, ".")
		c.Dir = dir
		var both strings.Builder
		c.Stdout, c.Stderr = &both, &both
		if err := c.Run(); err == nil {
			t.Fatal("nothing was found")
		}
		if strings.Contains("\n"+both.String(), "\n::") || !strings.Contains(both.String(), "bare.jsonl") {
			t.Errorf("%s: %s", format, &both)
		}
	}
}

// A zstd file cut in half says so; what came before the cut is read and repaired. Cut before anything can be decoded
// there is nothing to repair.
func TestHalfZstd(t *testing.T) {
	var b bytes.Buffer
	enc, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(writeNoise(enc, 2<<20), enc.Close()); err != nil {
		t.Fatal(err)
	}
	cut := func(t *testing.T, size int) string {
		path := filepath.Join(t.TempDir(), "s.jsonl.zst")
		if err := os.WriteFile(path, b.Bytes()[:size], 0o644); err != nil {
			t.Fatal(err)
		}
		code, out := exitCode(t, child(t, "lint", path))
		if code != ExitFindings || !strings.Contains(out, "corrupt-zst") {
			t.Errorf("exit %d: %s", code, out)
		}
		return path
	}
	t.Run("half", func(t *testing.T) {
		path := cut(t, b.Len()/2)
		before := sum(t, path)
		copied := filepath.Join(t.TempDir(), "out.jsonl")
		for _, args := range [][]string{{"repair", "-o", copied, path}, {"lint", copied}} {
			if code, out := exitCode(t, child(t, args...)); code != ExitOK {
				t.Errorf("%v: exit %d: %s", args, code, out)
			}
		}
		if sum(t, path) != before {
			t.Error("the session changed")
		}
	})
	t.Run("head", func(t *testing.T) {
		path := cut(t, 900)
		before := sum(t, path)
		for _, args := range [][]string{{"repair", path}, {"repair", "--in-place", path}} {
			c := child(t, args...)
			if code, out := exitCode(t, c); code != ExitFindings && code != ExitIO {
				t.Errorf("%v: exit %d: %s", args, code, out)
			}
			if sum(t, path) != before {
				t.Errorf("%v: the session changed", args)
			}
			alone(t, path)
			noRecord(t, c)
		}
	})
}

// TestMisnamedZstd: a compressed session whose name says that it is not, or the other way round, is damaged, and a repair in place gives it the
// content that its name promises.
func TestMisnamedZstd(t *testing.T) {
	name := "rollout-2026-11-20T19-53-37-01a1fa85-897f-7b72-87b7-f6ebde981289.jsonl"
	text, err := os.ReadFile("../fixtures/codex/0.169.0/clean/" + name)
	if err != nil {
		t.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := enc.EncodeAll(text, nil)
	for name, content := range map[string][]byte{name: packed, name + ".zst": text} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		if code, out := exitCode(t, child(t, "lint", path)); code != ExitFindings || !strings.Contains(out, "that is not so") {
			t.Errorf("%s: exit %d: %s", name, code, out)
		}
		for _, args := range [][]string{{"repair", "--in-place", path}, {"lint", path}} {
			if code, out := exitCode(t, child(t, args...)); code != ExitOK {
				t.Errorf("%v: exit %d: %s", args, code, out)
			}
		}
		if now, err := os.ReadFile(path); err != nil || bytes.Equal(now, text) != bytes.Equal(content, packed) {
			t.Errorf("%s: %d bytes, %v", name, len(now), err)
		}
	}
}

// TestCopyBeside: programs that copy or synchronise files leave copies beside a session, under names that begin with its own. The session is
// resumed all the same, so that nothing is damaged, but its client may take the copy. Alone, such a file is found by its id and not listed; one
// of a paginated session is refused.
func TestCopyBeside(t *testing.T) {
	const id = "01a1fa85-897f-7b72-87b7-f6ebde981289"
	right := "rollout-2026-11-20T19-53-37-" + id + ".jsonl"
	text, err := os.ReadFile("../fixtures/codex/0.169.0/clean/" + right)
	if err != nil {
		t.Fatal(err)
	}
	legacy := bytes.Replace(text, []byte(`"history_mode":"paginated"`), []byte(`"history_mode":"legacy"`), 1)
	legacy = regexp.MustCompile(`"ordinal":\d+,`).ReplaceAll(legacy, nil)
	for _, c := range []struct {
		text   []byte
		beside bool
		want   string
	}{
		{text, true, "notes: a copy beside the session's own file"},
		{legacy, true, "notes: a copy beside the session's own file"},
		{text, false, "blocks: the client refuses the session under this name"},
		{legacy, false, "shows: the client resumes the session by its id"},
	} {
		home := t.TempDir()
		dir := filepath.Join(home, "sessions", "2026", "11", "20")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		names := []string{right[:len(right)-len(".jsonl")] + ".sync-conflict-20261121-101010-ABCDEFG.jsonl"}
		if c.beside {
			names = append(names, right)
		}
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(dir, name), c.text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		of := func(args ...string) (int, string) {
			cmd := child(t, args...)
			cmd.Env = append(cmd.Env, "CODEX_HOME="+home)
			return exitCode(t, cmd)
		}
		code, out := of("lint", "--notes")
		if want := strings.HasPrefix(c.want, "blocks"); (code == ExitFindings) != want || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit %d: %s", c.want, code, out)
		}
		if _, out := of("list"); c.beside && strings.Contains(out, "can't resume") {
			t.Error(out)
		}
		if _, out := of("pre-resume", id); c.beside != strings.Contains(out, "another file has the same id") {
			t.Error(out)
		}
	}
}

// TestTornCopyBeside: what is wrong in a copy under another name is no damage where the client's list names the session's own file, and the
// list of sessions shows that one.
func TestTornCopyBeside(t *testing.T) {
	home := t.TempDir()
	if err := testhome.Unpack("../fixtures/codex/rules/index-missing/ok.txtar", home); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "sessions", "2026", "11", "18")
	own := filepath.Join(dir, "rollout-2026-11-18T09-30-00-01a1edfd-e191-74b0-9003-79b97f4a7c15.jsonl")
	text, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Copy of " + filepath.Base(own), strings.TrimSuffix(filepath.Base(own), ".jsonl") + " (1).jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), text[:len(text)/2], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	of := func(args ...string) (int, string) {
		cmd := child(t, args...)
		cmd.Env = append(cmd.Env, "CODEX_HOME="+home)
		return exitCode(t, cmd)
	}
	if code, out := of("lint", "--notes"); code != 0 || strings.Count(out, "notes: a copy beside the session's own file") != 2 {
		t.Errorf("exit %d: %s", code, out)
	}
	if _, out := of("list"); !strings.Contains(out, "  ok  ") || !strings.Contains(out, "3 files: Which files are here?") {
		t.Error(out)
	}
	for what, change := range map[string]func() error{
		"the session's own file is empty": func() error { return os.WriteFile(own, nil, 0o600) },
		"the session's own file is gone":  func() error { return os.Remove(own) },
		"without a list, the client may take either": func() error {
			return cmp.Or(os.WriteFile(own, text, 0o600), os.Rename(filepath.Join(home, "state_5.sqlite"), filepath.Join(home, "kept")))
		},
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if code, out := of("lint"); code != ExitFindings {
			t.Errorf("%s: exit %d: %s", what, code, out)
		}
		if err := cmp.Or(os.WriteFile(own, text, 0o600), os.Rename(filepath.Join(home, "kept"), filepath.Join(home, "state_5.sqlite"))); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
}

// TestTooMuchZstd: of a compressed session that is not unpacked to its end, no command says that it is sound, or that something in it never ended.
func TestTooMuchZstd(t *testing.T) {
	text, err := os.ReadFile("../fixtures/codex/0.169.0/clean/rollout-2026-11-20T19-53-37-01a1fa85-897f-7b72-87b7-f6ebde981289.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	enc, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	call := slices.IndexFunc(lines, func(l []byte) bool { return bytes.Contains(l, []byte(`"type":"function_call"`)) })
	filler := []byte(`{"timestamp":"2026-11-20T19:53:38.000Z","type":"event_msg","payload":{"type":"background_event","message":"` + strings.Repeat("a", 1<<20) + "\"}}\n")
	for _, part := range [][]byte{bytes.Join(lines[:call+1], nil), bytes.Repeat(filler, 40), bytes.Join(lines[call+1:], nil)} {
		if _, err := enc.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	path := filepath.Join(home, "sessions", "2026", "11", "20", "rollout-2026-11-20T19-53-37-01a1fa85-897f-7b72-87b7-f6ebde981289.jsonl.zst")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"lint", path}, {"show", path}, {"doctor", "--agent", "codex"}, {"repair", path}} {
		c := child(t, args...)
		c.Env = append(c.Env, "CODEX_HOME="+home)
		code, out := exitCode(t, c)
		if args[0] != "doctor" && code != ExitIO || strings.Count(out, "not unpacked to its end") != 1 {
			t.Errorf("%v: exit %d: %s", args, code, out)
		}
		for _, wrong := range []string{"no damage", "no output", "never ended", "fine", "cut short"} {
			if strings.Contains(out, wrong) {
				t.Errorf("%v: %q in %s", args, wrong, out)
			}
		}
	}
}

// writeNoise writes a session whose outputs don't compress.
func writeNoise(w io.Writer, size int) error {
	if _, err := io.WriteString(w, header); err != nil {
		return err
	}
	random := rand.NewChaCha8([32]byte{1})
	for n := 0; n*4000 < size; n++ {
		noise := make([]byte, 2000)
		random.Read(noise) //nolint:errcheck // never fails
		if _, err := fmt.Fprintf(w, call+output, n, n, hex.EncodeToString(noise)); err != nil {
			return err
		}
	}
	return nil
}
