//go:build unix

package cmd

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNothingLeftBehind: a lint whose reader has gone, or whose terminal was closed, leaves no file.
func TestNothingLeftBehind(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("../fixtures/rules/call-without-output/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("s%d.jsonl", i)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := child(t, "lint", "--format", "text,sarif="+filepath.Join(dir, "x"), dir)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	c.Stdout = writer
	if err := c.Run(); err == nil || !strings.Contains(err.Error(), "broken pipe") {
		t.Errorf("it did not end like others whose reader has gone: %v", err)
	}

	c = child(t, "lint", "--format", "sarif="+filepath.Join(dir, "x"), "-")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for n := 0; len(leftOver(t, dir)) == 0; n++ {
		if n > 1000 {
			t.Fatal("the report was never begun")
		}
		time.Sleep(10 * time.Millisecond)
	}
	closed := syscall.SIGHUP
	if signal.Ignored(closed) { // these tests outlive their terminal, and so does what they start
		closed = syscall.SIGTERM
	}
	c.Process.Signal(closed) //nolint:errcheck // Wait tells
	if err := c.Wait(); err == nil {
		t.Error("it does not mind that the terminal was closed")
	}
	if left := leftOver(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func leftOver(t *testing.T, dir string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, ".hist-*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// TestHangUp: who started hist so that it outlives the terminal, as nohup does, is not disappointed.
func TestHangUp(t *testing.T) {
	hist := filepath.Join(t.TempDir(), "hist")
	if err := os.Symlink(os.Args[0], hist); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("sh", "-c", `trap "" HUP; echo ready; exec "$0" lint -`, hist)
	c.Env = child(t).Env
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
	for range 20 { // while hist starts, and when it waits for its input
		c.Process.Signal(syscall.SIGHUP) //nolint:errcheck // Wait tells
		time.Sleep(20 * time.Millisecond)
	}
	text, err := os.ReadFile("../fixtures/rules/call-without-output/ok.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(text); err != nil {
		t.Error(err)
	}
	in.Close()
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// TestPipeForOutput: a pipe is no place for a report.
func TestPipeForOutput(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, flags := range [][]string{{"--write-baseline", pipe}, {"--format", "json=" + pipe}} {
		c := child(t, append([]string{"lint", "../fixtures/rules/call-without-output/bad.jsonl"}, flags...)...)
		if code, text := exitCode(t, c); code != ExitIO || !strings.Contains(text, "only a regular file can be replaced") {
			t.Errorf("exit %d: %s", code, text)
		}
	}
}

// TestPipeForConfig: a pipe that nobody writes to does not hang hist.
func TestPipeForConfig(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, ".hist.toml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	session, err := filepath.Abs("../fixtures/rules/call-without-output/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	c := child(t, "lint", session)
	c.Dir = dir
	if code, text := exitCode(t, c); code != ExitIO || !strings.Contains(text, "no regular file") {
		t.Errorf("exit %d: %s", code, text)
	}
	for _, flag := range []string{"--config", "--baseline"} {
		var err error
		for wait := 100 * time.Millisecond; wait < 10*time.Second; wait *= 3 { // before hist listens it is just ended
			c := child(t, "lint", flag, pipe, session)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(wait, func() { c.Process.Signal(syscall.SIGTERM) }) //nolint:errcheck // Wait tells
			if err = c.Wait(); err != nil && strings.Contains(err.Error(), "exit status 3") {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), "exit status 3") {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// TestNoCommandForCI: no file's name makes a line that a CI server takes for a command.
func TestNoCommandForCI(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("../fixtures/rules/call-without-output/bad.jsonl")
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
