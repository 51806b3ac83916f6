//go:build unix

package cmd

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// child is a hist process of its own.
func child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Args = append([]string{"hist"}, args...)
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "CODEX_HOME="+t.TempDir(), peakFile+"="+filepath.Join(t.TempDir(), "peak"))
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

const (
	header  = `{"timestamp":"2026-11-20T10:00:00.000Z","type":"session_meta","payload":{"id":"019a0000-0000-7000-8000-000000000001","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/home/dev/demo","originator":"codex_exec","cli_version":"0.114.0"}}` + "\n"
	call    = `{"timestamp":"2026-11-20T10:00:01.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"echo\"}","call_id":"call_%d"}}` + "\n"
	message = `{"timestamp":"2026-11-20T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"assistant","id":"msg_%d","content":[{"type":"output_text","text":"%s"}]}}` + "\n"
	output  = `{"timestamp":"2026-11-20T10:00:02.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_%d","output":"%s"}}` + "\n"
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

// noRecord fails if a child has left the record of a run.
func noRecord(t *testing.T, c *exec.Cmd) {
	t.Helper()
	for _, v := range c.Env {
		if state, ok := strings.CutPrefix(v, "XDG_STATE_HOME="); ok {
			if runs, err := os.ReadDir(filepath.Join(state, "hist", "runs")); err == nil && len(runs) > 0 {
				t.Errorf("a record of nothing is left: %v", runs)
			}
		}
	}
}

// withRace says whether the test binary, which the children are, looks for races: then it takes several times the memory.
func withRace() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// pipe hides that a stream is a file, so that a child gets it through a pipe.
func pipe(f io.Reader) io.Reader { return struct{ io.Reader }{f} }
