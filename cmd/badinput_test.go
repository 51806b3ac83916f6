//go:build unix

package cmd

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// child is a hist process of its own.
func child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Args = append([]string{"hist"}, args...)
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "CODEX_HOME="+t.TempDir())
	return c
}

// exitCode runs the process to its end and returns its exit code and what it said on both streams.
func exitCode(t *testing.T, c *exec.Cmd) (int, string) {
	t.Helper()
	out, err := c.CombinedOutput()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

// peak is the most memory that a finished process has had resident, in MiB.
func peak(t *testing.T, c *exec.Cmd) int64 {
	usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok || runtime.GOOS != "linux" {
		t.Skip("the peak of memory is read from Linux's rusage")
	}
	return usage.Maxrss >> 10
}

const (
	header = `{"timestamp":"2026-11-20T10:00:00.000Z","type":"session_meta","payload":{"id":"019a0000-0000-7000-8000-000000000001","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/home/dev/demo","originator":"codex_exec","cli_version":"0.114.0"}}` + "\n"
	call   = `{"timestamp":"2026-11-20T10:00:01.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"echo\"}","call_id":"call_%d"}}` + "\n"
	output = `{"timestamp":"2026-11-20T10:00:02.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_%d","output":"%s"}}` + "\n"
)

// writeSession writes about so many bytes of an ordinary session; every hundredth call lacks its output if damaged.
func writeSession(w io.Writer, size int64, damaged bool) error {
	b := bufio.NewWriterSize(w, 1<<20)
	b.WriteString(header)
	words := strings.Repeat(`some words of an output, \"quoted\"\n`, 60)
	for n, written := 0, int64(0); written < size; n++ {
		k, _ := fmt.Fprintf(b, call, n)
		if !damaged || n%100 != 0 {
			m, err := fmt.Fprintf(b, output, n, words)
			if err != nil {
				return err
			}
			k += m
		}
		written += int64(k)
	}
	return b.Flush()
}

func sessionFile(t *testing.T, size int64, damaged bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(writeSession(f, size, damaged), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func sum(t *testing.T, path string) [32]byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(b)
}

// alone fails if anything but the named files lies beside a session: a temporary file left behind.
func alone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// A session of any length is linted in constant memory, through a pipe, too.
func TestConstantMemory(t *testing.T) {
	size := int64(512 << 20)
	if testing.Short() {
		size = 64 << 20
	}
	c := child(t, "lint", "-")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		writeSession(in, size, false) //nolint:errcheck // a broken pipe shows as the exit code
		in.Close()
	}()
	if code, out := exitCode(t, c); code != ExitOK {
		t.Fatalf("exit %d: %s", code, out)
	}
	if got := peak(t, c); got > 96 {
		t.Errorf("%d MiB resident for %d MiB of session", got, size>>20)
	}
}

// repeated writes a file of a head, so many MiB of one byte, and a tail. It is written in pieces: on Linux a child's
// peak of memory counts what its parent had resident.
func repeated(t *testing.T, head, piece string, mib int, tail string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(f, head)
	block := bytes.Repeat([]byte(piece), 1<<20)
	for range mib {
		if err == nil {
			_, err = f.Write(block)
		}
	}
	if err == nil {
		_, err = io.WriteString(f, tail)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// A line of a gigabyte of opening brackets must not crash a reader that recurses, nor cost much more than itself.
func TestLineOfBrackets(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a gigabyte")
	}
	path := repeated(t, "", "[", 1<<10, "")
	c := child(t, "lint", path)
	if code, out := exitCode(t, c); code != ExitFindings || !strings.Contains(out, "no-header") {
		t.Fatalf("exit %d: %s", code, out)
	}
	if got := peak(t, c); got > 1024+320 {
		t.Errorf("%d MiB resident for a line of 1024", got)
	}
}

// A line of 300 MB is a record like any other.
func TestHugeLine(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 300 megabytes")
	}
	path := repeated(t, header+`{"timestamp":"2026-11-20T10:00:03.000Z","type":"event_msg","payload":{"type":"token_count","note":"`, "A", 300, "\"}}\n")
	c := child(t, "lint", "--notes", path)
	if code, out := exitCode(t, c); code != ExitOK || !strings.Contains(out, "huge-line") {
		t.Fatalf("exit %d: %s", code, out)
	}
	if got := peak(t, c); got > 300+96 {
		t.Errorf("%d MiB resident for a line of 300", got)
	}
}

// A file that grows while it is read is read as it was when it was opened.
func TestGrowingFile(t *testing.T) {
	path := sessionFile(t, 32<<20, false)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
				fmt.Fprintln(f, `{"timestamp":"2026-11-20T10:00:03.000Z","type":"event_msg","payload":{"type":"token_count"}}`) //nolint:errcheck // only growth matters
			}
		}
	}()
	code, out := exitCode(t, child(t, "lint", path))
	close(done)
	<-stopped
	f.Close()
	if code != ExitOK {
		t.Errorf("exit %d: %s", code, out)
	}
}

// A session that another process holds open is not replaced.
func TestInUse(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells who has a file open")
	}
	path := sessionFile(t, 1<<16, true)
	before := sum(t, path)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	code, out := exitCode(t, child(t, "repair", "--in-place", path))
	f.Close()
	if code != ExitInUse || !strings.Contains(out, "open") {
		t.Errorf("exit %d: %s", code, out)
	}
	if sum(t, path) != before {
		t.Error("the session changed")
	}
	if code, out := exitCode(t, child(t, "repair", "--in-place", path)); code != ExitOK {
		t.Errorf("once it is closed: exit %d: %s", code, out)
	}
	alone(t, path)
}

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

// An interrupt in the middle of writing leaves everything as it was.
func TestInterrupt(t *testing.T) {
	path := sessionFile(t, 96<<20, true)
	before := sum(t, path)
	c := child(t, "repair", "--in-place", path)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	seen := false
	for deadline := time.Now().Add(30 * time.Second); !seen && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		seen = len(entries) > 1
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := c.Wait()
	if !seen || err == nil {
		t.Fatalf("the interrupt came too late: temporary file seen: %v, %v", seen, err)
	}
	if sum(t, path) != before {
		t.Error("the session changed")
	}
	alone(t, path)
}

// Of two repairs in place at once one wins; the other is refused, or finds nothing left to do.
func TestTwoAtOnce(t *testing.T) {
	path := sessionFile(t, 8<<20, true)
	a, b := child(t, "repair", "--in-place", path), child(t, "repair", "--in-place", path)
	if err := errors.Join(a.Start(), b.Start()); err != nil {
		t.Fatal(err)
	}
	a.Wait() //nolint:errcheck // the exit codes say it
	b.Wait() //nolint:errcheck
	codes := [2]int{a.ProcessState.ExitCode(), b.ProcessState.ExitCode()}
	for _, code := range codes {
		if code != ExitOK && code != ExitInUse {
			t.Errorf("exit codes %v", codes)
		}
	}
	if codes[0] != ExitOK && codes[1] != ExitOK {
		t.Errorf("neither has won: %v", codes)
	}
	if code, out := exitCode(t, child(t, "lint", path)); code != ExitOK {
		t.Errorf("exit %d: %s", code, out)
	}
	alone(t, path)
}
