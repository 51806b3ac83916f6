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

// trust lets the terminal client begin in some directories without a question, and without its word of a newer model, which would
// come up at some moment over what is typed.
func (h *Home) trust(t *testing.T, dirs ...string) {
	t.Helper()
	config := h.config() + fmt.Sprintf("\n[notice.model_migrations]\n%q = \"gpt-6-sol\"\n", ModelFor(h.Bin.Version))
	for _, dir := range dirs {
		config += fmt.Sprintf("\n[projects.%q]\ntrust_level = \"trusted\"\n", dir)
	}
	if err := os.WriteFile(filepath.Join(h.Codex, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
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

// sees is the first of some texts that stands on the screen within a time, "" if none does.
func (c *screen) sees(within time.Duration, texts ...string) string {
	for end := time.Now().Add(within); ; time.Sleep(100 * time.Millisecond) {
		now := c.text()
		for _, text := range texts {
			if strings.Contains(now, text) {
				return text
			}
		}
		if time.Now().After(end) {
			return ""
		}
	}
}

// patience is how long a test waits for what a client shows; a key that a busy client has missed is pressed again after a tenth of it.
const patience = 40 * time.Second

// shows waits until one of some texts stands on the screen, and returns it.
func (c *screen) shows(t *testing.T, texts ...string) string {
	t.Helper()
	seen := c.sees(patience, texts...)
	if seen == "" {
		t.Fatalf("%q is not on the screen:\n%s", texts, c.text())
	}
	return seen
}

// presses presses a key until one of some texts stands on the screen, and returns it.
func (c *screen) presses(t *testing.T, key string, texts ...string) string {
	t.Helper()
	for range 10 {
		c.tty.WriteString(key) //nolint:errcheck // what is on the screen tells
		if seen := c.sees(patience/10, texts...); seen != "" {
			return seen
		}
	}
	return c.shows(t, texts...)
}

// asks types a prompt and waits for the answer. What is typed too fast the client takes for something pasted, with the Enter behind it.
func (c *screen) asks(t *testing.T, prompt, answer string) {
	t.Helper()
	c.tty.WriteString(prompt) //nolint:errcheck // the next line waits for it
	c.shows(t, prompt)
	time.Sleep(time.Second)
	c.presses(t, "\r", answer)
}

// leaves ends the client.
func (c *screen) leaves(t *testing.T) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		c.cmd.Wait() //nolint:errcheck // its exit code does not matter
		close(ended)
	}()
	c.tty.WriteString("/exit") //nolint:errcheck // whether it ends tells
	for range 10 {
		time.Sleep(time.Second)
		c.tty.WriteString("\r") //nolint:errcheck // the same
		select {
		case <-ended:
			return
		case <-time.After(patience / 10):
		}
	}
	t.Fatalf("the client does not end:\n%s", c.text())
}

// begun is the client at a terminal, waiting for a prompt. On a busy machine the client may end at once; then the next one is taken.
func (h *Home) begun(t *testing.T, args ...string) *screen {
	t.Helper()
	const tooSlow, waits = "timed out discarding buffered terminal input", "Ask Codex"
	for {
		if c := h.chat(t, args...); c.shows(t, tooSlow, waits) == waits {
			return c
		}
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
	h.trust(t, h.Work)
	stop := func() { h.codex(t, "app-server", "daemon", "stop") }
	defer stop()
	h.Server.Queue(Reply{Items: []Item{Message("m", "first answer")}})

	c := h.begun(t)
	c.asks(t, "hello there", "first answer")
	c.leaves(t)
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
	c.asks(t, "go on", "second answer")
	for _, r := range h.Server.Requests() {
		if strings.Contains(string(r.Body), "hello there") {
			t.Error("the daemon still sends what is not in the file any more")
		}
	}
	c.leaves(t)
	stop()
	if busy, err := home.InUse(rollouts[0], h.Codex, id); busy != nil || err != nil {
		t.Errorf("after the daemon's end: %+v, %v", busy, err)
	}
}
