package clienttest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"github.com/hist-cli/hist/internal/agent/codex/home"
)

// screen is the terminal client at a terminal.
type screen struct {
	cmd  *exec.Cmd
	tty  *os.File
	mu   sync.Mutex
	seen vt10x.Terminal
}

// atATerminal is a home for the newest client, whose test takes half a minute.
func atATerminal(t *testing.T) *Home {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes half a minute")
	}
	bin, err := Find("0.171.0")
	if err != nil {
		t.Skip(err)
	}
	base, err := os.MkdirTemp("", "h") // the name of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHome(base, bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.Close()
		os.RemoveAll(base)
	})
	return h
}

// chat runs the terminal client, trusted to work in the home's directory.
func (h *Home) chat(t *testing.T, args ...string) *screen {
	t.Helper()
	c := &screen{cmd: exec.Command(h.Bin.Path, args...), seen: vt10x.New(vt10x.WithSize(100, 30))}
	c.cmd.Dir, c.cmd.Env = h.Work, append(h.Env(), "TERM=xterm-256color")
	var err error
	if c.tty, err = pty.StartWithSize(c.cmd, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	go func() {
		const asks = "\x1b[6n" // where the cursor is
		buf, last := make([]byte, 4096), ""
		for {
			n, err := c.tty.Read(buf)
			c.mu.Lock()
			c.seen.Write(buf[:n]) //nolint:errcheck // it takes everything
			c.mu.Unlock()
			if last += string(buf[:n]); strings.Contains(last, asks) {
				c.tty.WriteString("\x1b[1;1R") //nolint:errcheck // it may have ended
				last = ""
			}
			last = last[max(0, len(last)-len(asks)+1):]
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		c.cmd.Process.Kill() //nolint:errcheck // mostly it has ended
		c.cmd.Wait()         //nolint:errcheck // the same
		c.tty.Close()
	})
	return c
}

func (c *screen) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.TrimSpace(c.seen.String())
}

// shows waits until one of some texts stands on the screen, and returns it.
func (c *screen) shows(t *testing.T, texts ...string) string {
	t.Helper()
	for range 300 {
		now := c.text()
		for _, text := range texts {
			if strings.Contains(now, text) {
				return text
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%q is not on the screen:\n%s", texts, c.text())
	return ""
}

// types types a line. The client takes what comes too fast for something pasted.
func (c *screen) types(text string) {
	for _, part := range []string{text, "\r"} {
		c.tty.WriteString(part) //nolint:errcheck // what is on the screen tells
		time.Sleep(time.Second)
	}
}

// codex runs a command of the client's that is no turn.
func (h *Home) codex(t *testing.T, args ...string) {
	t.Helper()
	c := exec.Command(h.Bin.Path, args...)
	c.Dir, c.Env = h.Work, h.Env()
	if out, err := c.CombinedOutput(); err != nil {
		t.Logf("codex %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestDaemon runs the terminal client of 0.171.0, which leaves a daemon behind: it keeps the thread open, `codex resume` joins it
// and goes on, `codex exec resume` is refused. What is damaged meanwhile stays on the screen, out of the client's database, and is not sent any more.
func TestDaemon(t *testing.T) {
	h := atATerminal(t)
	config := h.config() + fmt.Sprintf("\n[projects.%q]\ntrust_level = \"trusted\"\n", h.Work)
	if err := os.WriteFile(filepath.Join(h.Codex, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	stop := func() { h.codex(t, "app-server", "daemon", "stop") }
	defer stop()
	h.Server.Queue(Reply{Items: []Item{Message("m", "first answer")}})

	c := h.chat(t)
	c.shows(t, "Use existing model")
	c.types("\x1b")
	c.shows(t, "Ask Codex")
	c.types("hello there")
	c.shows(t, "first answer")
	c.types("/exit")
	c.cmd.Wait() //nolint:errcheck // its exit code does not matter
	rollouts := h.Rollouts()
	if len(rollouts) != 1 {
		t.Fatalf("%d sessions", len(rollouts))
	}
	id, err := SessionID(rollouts[0])
	if err != nil {
		t.Fatal(err)
	}
	busy, err := home.InUse(rollouts[0], h.Codex, id)
	if err != nil || busy == nil || busy.Free == nil {
		t.Fatalf("the daemon is not known: %+v, %v", busy, err)
	}
	if res := h.Resume(context.Background(), id, "refused"); res.ExitCode == 0 {
		t.Errorf("codex exec resume was not refused")
	}
	c = h.chat(t, "resume", "--no-daemon", id)
	c.shows(t, "open in another app")
	c.cmd.Process.Kill() //nolint:errcheck // it waits for somebody to press R
	c.cmd.Wait()         //nolint:errcheck // it was killed

	text, err := os.ReadFile(rollouts[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for i, l := range lines {
		if strings.Contains(l, "hello there") || strings.Contains(l, "first answer") {
			lines[i] = strings.Repeat("x", len(l)-1) + "\n"
		}
	}
	if err := os.WriteFile(rollouts[0], []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	h.Server.Reset()
	h.Server.Queue(Reply{Items: []Item{Message("m", "second answer")}})
	c = h.chat(t, "resume", "--include-non-interactive", id)
	c.shows(t, "first answer") // it shows what its database has
	c.types("go on")
	c.shows(t, "second answer")
	for _, r := range h.Server.Requests() {
		if strings.Contains(string(r.Body), "hello there") {
			t.Error("the daemon still sends what is not in the file any more")
		}
	}
	c.types("/exit")
	c.cmd.Wait() //nolint:errcheck // its exit code does not matter
	stop()
	if busy, err := home.InUse(rollouts[0], h.Codex, id); busy != nil || err != nil {
		t.Errorf("after the daemon's end: %+v, %v", busy, err)
	}
}
