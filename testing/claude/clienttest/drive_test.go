package clienttest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestDeadlineEndsTheGroup: when a client's time is up, what it has started ends with it.
func TestDeadlineEndsTheGroup(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	pidFile := filepath.Join(dir, "pid")
	h, err := NewHome(Binary{"none", []string{shell, "-c", "sleep 600 & echo $! > " + pidFile + "; wait"}}, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for { // the child is there
			if raw, err := os.ReadFile(pidFile); err == nil && strings.HasSuffix(string(raw), "\n") {
				cancel()
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	res, err := h.Run(ctx)
	if err != nil || !res.TimedOut {
		t.Fatalf("the run was not cut off: %+v, %v", res, err)
	}
	raw, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	for range 500 { // whoever inherits it must take its end first
		if state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d, which the client has started, still runs", pid)
}
