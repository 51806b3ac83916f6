package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestFewOpens: the repair of a small session before it is resumed opens its file eight times at most, each of which a client's lease or a
// scanner of viruses may delay, and waits for the disk six times.
func TestFewOpens(t *testing.T) {
	for _, c := range []struct{ home, variable, fixture, dir string }{
		{".codex", "CODEX_HOME", "codex/0.169.0/kill_in_tool/rollout-2026-11-20T19-53-51-01a1fa85-bfc3-74d1-9684-43a82083e7d1.jsonl", "sessions/2026/11/20"},
		{".claude", "CLAUDE_CONFIG_DIR", "claude/2.0.29/parallel_five/7bc759b1-ad5e-4432-8df1-c120eee5f8ed.jsonl", "projects/-home-dev-demo"},
	} {
		t.Run(c.home, func(t *testing.T) {
			home := filepath.Join(openTemp(t), c.home)
			path := filepath.Join(home, c.dir, filepath.Base(c.fixture))
			text, err := os.ReadFile(filepath.Join("../fixtures", c.fixture))
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(text, []byte("\n"))
			lines[3] = bytes.TrimSpace(lines[3])    // glued to the next one
			lines[1] = append([]byte{}, "x}{\n"...) // set aside
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
				t.Fatal(err)
			}
			opened := opensIn(t, filepath.Dir(path))
			syncs := filepath.Join(t.TempDir(), "syncs")
			p := child(t, "pre-resume", "--repair", path)
			p.Env = append(p.Env, c.variable+"="+home, syncsFile+"="+syncs)
			if _, out := exitCode(t, p); !strings.Contains(out, "hist undo") {
				t.Fatalf("not repaired: %s", out)
			}
			if n := opened(filepath.Base(path)); n < 3 || n > 8 {
				t.Errorf("the file was opened %d times", n)
			} else {
				t.Logf("the file was opened %d times", n)
			}
			if list, _ := os.ReadFile(syncs); bytes.Count(list, []byte("\n")) > 6 || len(list) == 0 {
				t.Errorf("synced:\n%s", list)
			}
		})
	}
}

// opensIn returns a function that counts how often a file in a directory has been opened since.
func opensIn(t *testing.T, dir string) func(name string) int {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	// Two events in a row that are the same are one: what is closed in between keeps them apart.
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_OPEN|unix.IN_CLOSE_NOWRITE); err != nil {
		t.Fatal(err)
	}
	return func(name string) (n int) {
		t.Helper()
		buf := make([]byte, 1<<16)
		size, err := unix.Read(fd, buf)
		if err != nil {
			t.Fatal(err)
		}
		for rest := buf[:size]; len(rest) >= unix.SizeofInotifyEvent; {
			event := (*unix.InotifyEvent)(unsafe.Pointer(&rest[0]))
			end := unix.SizeofInotifyEvent + int(event.Len)
			if event.Mask&unix.IN_OPEN != 0 && string(bytes.TrimRight(rest[unix.SizeofInotifyEvent:end], "\x00")) == name {
				n++
			}
			rest = rest[end:]
		}
		return n
	}
}
