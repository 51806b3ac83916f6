package home

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/disk"
)

// A client that was killed leaves its note. A process that got its number later is not that client.
func TestStaleNote(t *testing.T) {
	const thread = "5a1d3c52-3c5e-4f1a-9b44-0c8e6f2d7a10"
	other := exec.Command("sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	for len(disk.ProcessArgs(other.Process.Pid)) == 0 { // the system tells them a moment after the program has begun
		time.Sleep(time.Millisecond)
	}
	ticks, begun, ok := disk.ProcessStarted(other.Process.Pid)
	if !ok {
		t.Fatal("the system does not tell when a process was started")
	}
	for name, c := range map[string]struct {
		note string
		busy bool
	}{
		"its own start":         {fmt.Sprintf(`"procStart":"%d"`, ticks), true},
		"another start":         {fmt.Sprintf(`"procStart":"%d"`, ticks-1), false},
		"started about then":    {fmt.Sprintf(`"startedAt":%d`, begun.UnixMilli()), false}, // but it is sleep
		"started long before":   {fmt.Sprintf(`"startedAt":%d`, begun.Add(-time.Hour).UnixMilli()), false},
		"no start, but program": {`"version":"2.1.100"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, "sessions", fmt.Sprint(other.Process.Pid)+".json")
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf(`{"pid":%d,"sessionId":%q,%s}`, other.Process.Pid, thread, c.note)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			transcript := filepath.Join(home, thread+format.Extension)
			if err := os.WriteFile(transcript, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			busy, err := inUse(transcript, home, thread)
			if err != nil || (busy != nil) != c.busy {
				t.Errorf("%v, %v; want in use: %v", busy, err, c.busy)
			}
			if words := OnDisk.StaleNote(home, thread); (words == "") != c.busy {
				t.Errorf("%q", words)
			}
		})
	}
}

// A note without times is believed if the process may be a client: its command line has the client's name.
func TestNoteOfAClient(t *testing.T) {
	client := exec.Command("sh", "-c", "read line", "claude")
	if _, err := client.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Process.Kill(); _ = client.Wait() })
	if why := (note{pid: client.Process.Pid}).another(); why != "" {
		t.Error(why)
	}
}
