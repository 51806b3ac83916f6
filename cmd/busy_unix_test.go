//go:build unix

package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

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

// A session that somebody goes on writing, opening it anew for each line, is not replaced, and no line is lost.
func TestRepairOfGrowingFile(t *testing.T) {
	path := sessionFile(t, 32<<20, true)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const line = `{"timestamp":"2026-11-20T10:00:03.000Z","type":"event_msg","payload":{"type":"token_count"}}` + "\n"
	done, stopped := make(chan struct{}), make(chan struct{})
	lines := 0
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
				if err != nil {
					continue // held off while it is replaced
				}
				if n, _ := io.WriteString(f, line); n > 0 {
					lines++
				}
				f.Close()
			}
		}
	}()
	code, out := exitCode(t, child(t, "repair", "--in-place", path))
	close(done)
	<-stopped
	if code != ExitInUse {
		t.Errorf("exit %d: %s", code, out)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := append(before, strings.Repeat(line, lines)...); !bytes.Equal(after, want) {
		t.Errorf("%d bytes, want %d", len(after), len(want))
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
