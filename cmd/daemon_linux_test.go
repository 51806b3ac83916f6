package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// daemonHome is a home of Codex in which a daemon of its client, or what looks like one, has a session open. end ends it.
func daemonHome(t *testing.T, damage bool) (env []string, end func()) {
	t.Helper()
	home := t.TempDir()
	const name = "rollout-2026-11-20T19-53-37-" + daemonThread + ".jsonl"
	text, err := os.ReadFile("../fixtures/codex/0.169.0/clean/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if damage {
		text = []byte(strings.Replace(string(text), `"text":"list the files`, `"text":list the files`, 1))
	}
	write := func(path, text string, mode os.FileMode) string {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("sessions/2026/11/20/"+name, string(text), 0o600)
	bin := filepath.Dir(write("bin/codex", "#!/bin/sh\necho \"client: $*\"\n", 0o755))
	lock, err := os.OpenFile(write("thread-writer-locks/"+daemonThread+".lock", "", 0o600), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	daemon := &exec.Cmd{
		Path: "/bin/sh", ExtraFiles: []*os.File{lock}, // the lock goes with it
		Args: []string{filepath.Join(home, "packages/app-server-daemon/current/bin/codex"), "-c", "read x", "app-server", "--listen", "unix://", "--managed-daemon"},
	}
	in, err := daemon.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	lock.Close()
	end = func() {
		in.Close()
		daemon.Wait() //nolint:errcheck // it ends with an error, for it read nothing
	}
	t.Cleanup(end)
	return []string{"CODEX_HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH")}, end
}

const daemonThread = "01a1fa85-897f-7b72-87b7-f6ebde981289"

// A session that the client's own daemon has open is resumed at a terminal, for the client joins the daemon; any other command is
// refused by the client. If it is damaged, nothing can be repaired before the daemon has let go.
func TestDaemonHasItOpen(t *testing.T) {
	env, _ := daemonHome(t, false)
	const id = daemonThread
	damaged, _ := daemonHome(t, true)
	for _, x := range []struct {
		env  []string
		args []string
		code int
		says string
	}{
		{env, []string{"pre-resume", id}, ExitOK, "Codex's own daemon"},
		{env, []string{"pre-resume", id, "--exec"}, ExitOK, "client: resume " + id},
		{env, []string{"pre-resume", id, "--exec", "--", "codex", "exec", "resume", id}, ExitInUse, "codex app-server daemon stop"},
		{env, []string{"pre-resume", id, "--exec", "--", "codex", "resume", "--no-daemon", id}, ExitInUse, "codex app-server daemon stop"},
		{env, []string{"pre-resume", id, "--exec", "--", "codex", "resume", "--include-non-interactive", id}, ExitOK, "client: resume --include-non-interactive " + id},
		{env, []string{"resume", id, "--", "--no-daemon"}, ExitInUse, "codex app-server daemon stop"},
		{env, []string{"pre-resume", "--via", "thread/resume", id}, ExitInUse, "in_use: "},
		{env, []string{"pre-resume", "--via", "argv", "--interactive", id}, ExitOK, "resumable: "},
		{env, []string{"resume", id}, ExitOK, "client: resume " + id},
		{damaged, []string{"pre-resume", id}, ExitInUse, "hist resume --wait 2m " + id},
		{damaged, []string{"resume", id}, ExitInUse, "1 that loses history"},
	} {
		c := child(t, x.args...)
		c.Env = append(c.Env, x.env...)
		if code, out := exitCode(t, c); code != x.code || !strings.Contains(out, x.says) {
			t.Errorf("hist %s: exit %d, want %d and %q:\n%s", strings.Join(x.args, " "), code, x.code, x.says, out)
		}
	}
}

// What is waited for is repaired and resumed as soon as it is free.
func TestWaitForDaemon(t *testing.T) {
	env, end := daemonHome(t, true)
	c := child(t, "resume", "--wait", "30s", daemonThread)
	c.Env = append(c.Env, env...)
	time.AfterFunc(2*time.Second, end)
	code, out := exitCode(t, c)
	if code != ExitOK || !strings.Contains(out, "waiting up to 30s") || !strings.Contains(out, "client: resume "+daemonThread) {
		t.Errorf("exit %d:\n%s", code, out)
	}
}
