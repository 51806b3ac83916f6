//go:build unix

package cmd

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hist-cli/hist/internal/agent"
)

// A disk that is full, told by a limit on what may be written: the session is as it was, and nothing is left behind.
func TestFullDisk(t *testing.T) {
	path := sessionFile(t, 4<<20, true)
	before := sum(t, path)
	for _, args := range [][]string{{"--in-place"}, {}} {
		hist := child(t, append([]string{"repair", path}, args...)...)
		c := exec.Command("sh", "-c", `trap "" XFSZ; ulimit -f 1000; exec -a hist "$0" "$@"`)
		c.Path, _ = exec.LookPath("bash")
		c.Args = append([]string{"bash", "-c", `trap "" XFSZ; ulimit -f 1000; exec -a hist "$0" "$@"`, hist.Path}, hist.Args[1:]...)
		c.Env = hist.Env
		if code, out := exitCode(t, c); code != ExitIO || !strings.Contains(out, "file too large") {
			t.Errorf("%v: exit %d: %s", args, code, out)
		}
		if sum(t, path) != before {
			t.Error("the session changed")
		}
		alone(t, path)
	}
}

// A disk that really is full: a small tmpfs in a mount namespace of its own.
func TestFullFileSystem(t *testing.T) {
	unshare, err := exec.LookPath("unshare")
	if err != nil || os.Getuid() != 0 {
		t.Skip("needs root and unshare")
	}
	script := `set -e
mount -t tmpfs -o size=3m none "$1"
cp "$2" "$1/s.jsonl"
exec 3>&1
code=0; bash -c 'exec -a hist "$0" "$@"' "$0" repair $3 "$1/s.jsonl" >&3 2>&1 || code=$?
cmp "$2" "$1/s.jsonl"
test "$(ls -A "$1")" = s.jsonl
exit $code`
	path := sessionFile(t, 2<<20, true)
	if out, err := exec.Command(unshare, "-m", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespaces here: %s", out)
	}
	for _, mode := range []string{"--in-place", "--color=never"} {
		hist := child(t)
		c := exec.Command(unshare, "-m", "bash", "-c", script, hist.Path, t.TempDir(), path, mode)
		c.Env = hist.Env
		if code, out := exitCode(t, c); code != ExitIO || !strings.Contains(out, "no space left on device") {
			t.Errorf("%s: exit %d: %s", mode, code, out)
		}
	}
}

// The disk with the records of repairs is full: the session is as it was, and what to do is said.
func TestFullStateDisk(t *testing.T) {
	unshare, err := exec.LookPath("unshare")
	if err != nil || os.Getuid() != 0 {
		t.Skip("needs root and unshare")
	}
	if out, err := exec.Command(unshare, "-m", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespaces here: %s", out)
	}
	path := sessionFile(t, 2<<20, true)
	before := sum(t, path)
	hist := child(t)
	c := exec.Command(unshare, "-m", "bash", "-c", `mount -t tmpfs -o size=1m none "$1" && XDG_STATE_HOME=$1 exec -a hist "$0" repair -i "$2"`, hist.Path, t.TempDir(), path)
	c.Env = hist.Env
	if code, out := exitCode(t, c); code != ExitIO || !strings.Contains(out, "no space left on device (free some space there, remove old records with hist runs prune,") {
		t.Errorf("exit %d: %s", code, out)
	}
	if sum(t, path) != before {
		t.Error("the session changed")
	}
}

// The disk that a page is to go to is full: nothing is left of it, nor of the timelines beside it.
func TestFullDiskOfPage(t *testing.T) {
	unshare, err := exec.LookPath("unshare")
	if err != nil || os.Getuid() != 0 {
		t.Skip("needs root and unshare")
	}
	if out, err := exec.Command(unshare, "-m", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespaces here: %s", out)
	}
	hist := child(t)
	c := exec.Command(unshare, "-m", "bash", "-c", `mount -t tmpfs -o size=8k none "$1" || exit 9
code=0; bash -c 'exec -a hist "$0" "$@"' "$0" repair -n --html "$1/page.html" "$2" || code=$?
ls -A "$1"; exit $code`, hist.Path, t.TempDir(), sessionFile(t, 1<<10, true))
	c.Env = hist.Env
	if code, out := exitCode(t, c); code != ExitIO || !strings.Contains(out, "no space left on device") || strings.HasSuffix(out, "page-timelines\n") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// asNobody lets the process run as a user that owns nothing.
func asNobody(t *testing.T, c *exec.Cmd) *exec.Cmd {
	t.Helper()
	if os.Getuid() != 0 {
		return c
	}
	const nobody = 65534
	state, agent := openTemp(t), openTemp(t)
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "CODEX_HOME="+agent)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: true}}
	// The test binary itself may lie where nobody may look.
	bin := filepath.Join(openTemp(t), "hist")
	b, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin, b, 0o755); err != nil {
		t.Fatal(err)
	}
	c.Path = bin
	return c
}

// openTemp is a temporary directory that everybody may use.
func openTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hist-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A client run by sudo leaves files and folders that are root's: whose they are is said, and nothing of what may lie there.
func TestAnothersFolder(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root makes files of two owners")
	}
	dir := openTemp(t)
	for _, home := range []string{"codex/sessions/2026/11/26", "claude/projects/-srv-shed"} {
		if err := os.MkdirAll(filepath.Join(dir, home), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, home), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	open := filepath.Join(dir, "codex/sessions/2026/11/rollout-2026-11-20T19-53-37-01a1fa85-897f-7b72-87b7-f6ebde981289.jsonl")
	if err := os.WriteFile(open, []byte(header), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (int, string) {
		c := child(t, args...)
		c.Env = append(c.Env, "CODEX_HOME="+filepath.Join(dir, "codex"), "CLAUDE_CONFIG_DIR="+filepath.Join(dir, "claude"))
		return exitCode(t, asNobody(t, c))
	}
	code, out := run("lint", "--no-cache")
	if code != ExitIO || !strings.Contains(out, "it belongs to root") || !strings.Contains(out, "chown -R") || strings.Contains(out, "no damage was found") {
		t.Errorf("lint: exit %d: %s", code, out)
	}
	code, out = run("pre-resume", "01a1fa85-0000-7000-8000-000000000000")
	if code != ExitIO || !strings.Contains(out, "incompatible: you may not read everything") || strings.Contains(out, agent.ErrNoSession.Error()) {
		t.Errorf("pre-resume: exit %d: %s", code, out)
	}
}

// A file or directory that may not be read is told, and the others are read.
func TestUnreadable(t *testing.T) {
	dir := openTemp(t)
	for _, name := range []string{"closed.jsonl", "open.jsonl", "sub/in.jsonl"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(header), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(filepath.Join(dir, "closed.jsonl"), 0), os.Chmod(filepath.Join(dir, "sub"), 0)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(dir, "sub"), 0o755)
	code, out := exitCode(t, asNobody(t, child(t, "lint", dir)))
	if code != ExitIO || !strings.Contains(out, "closed.jsonl: permission denied") || !strings.Contains(out, "sub: permission denied") || !strings.Contains(out, "1 session: ") {
		t.Errorf("exit %d: %s", code, out)
	}
	code, out = exitCode(t, asNobody(t, child(t, "pre-resume", filepath.Join(dir, "closed.jsonl"))))
	if code != ExitIO || !strings.Contains(out, "incompatible: you may not read it") {
		t.Errorf("pre-resume: exit %d:\n%s", code, out)
	}
	code, out = exitCode(t, asNobody(t, child(t, "repair", filepath.Join(dir, "closed.jsonl"))))
	if code != ExitIO || !strings.Contains(out, "permission denied") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// A home that can't be looked into is told, though there are sessions in another one: it may hold some.
func TestShutHome(t *testing.T) {
	open, shut := openTemp(t), openTemp(t)
	path := filepath.Join(open, "sessions/2026/11/20/rollout-2026-11-20T10-00-00-019a0000-0000-7000-8000-000000000001.jsonl")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(header), 0o644), os.Chmod(shut, 0)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(shut, 0o700) }) //nolint:errcheck // so that it can be removed
	for _, command := range []string{"lint", "list"} {
		c := asNobody(t, child(t, command))
		c.Env = append(c.Env, "CODEX_HOME="+open, "CLAUDE_CONFIG_DIR="+shut)
		if code, out := exitCode(t, c); code != ExitIO || !strings.Contains(out, "projects: permission denied") {
			t.Errorf("%s: exit %d: %s", command, code, out)
		}
	}
}

// In a directory that may not be written to, nothing is repaired in place nor beside, and a copy elsewhere is.
func TestReadOnlyDirectory(t *testing.T) {
	dir, elsewhere := openTemp(t), openTemp(t)
	path := filepath.Join(dir, "s.jsonl")
	if err := os.WriteFile(path, []byte(header+fmt.Sprintf(call, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	before := sum(t, path)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	const closed = "its directory must be writable; write to another one"
	for _, try := range []struct {
		args []string
		want string
	}{
		{[]string{"repair", path}, closed},
		{[]string{"repair", "--in-place", path}, "it belongs to another user"},
		{[]string{"repair", "-o", filepath.Join(dir, "x.jsonl"), path}, closed},
	} {
		c := asNobody(t, child(t, try.args...))
		code, out := exitCode(t, c)
		if code != ExitIO || !strings.Contains(out, try.want) {
			t.Errorf("%v: exit %d: %s", try.args, code, out)
		}
		noRecord(t, c)
		if sum(t, path) != before {
			t.Error("the session changed")
		}
		alone(t, path)
	}
	if code, out := exitCode(t, asNobody(t, child(t, "repair", "-o", elsewhere, path))); code != ExitOK {
		t.Errorf("exit %d: %s", code, out)
	}
}

// TestWatchNothing: where nothing that was named can be watched, nobody waits for ever.
func TestWatchNothing(t *testing.T) {
	shut := openTemp(t)
	if err := os.Chmod(shut, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(shut, 0o700) }) //nolint:errcheck // so that it can be removed
	c := asNobody(t, child(t, "watch", shut))
	if code, out := exitCode(t, c); code != ExitIO || !strings.Contains(out, "not watched") || !strings.Contains(out, "nothing left to watch") {
		t.Errorf("exit %d, %s", code, out)
	}
}
