//go:build unix

package cmd

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
)

// terminal is hist at a terminal.
type terminal struct {
	cmd   *exec.Cmd
	tty   *os.File
	ended chan struct{}

	mu   sync.Mutex
	seen vt10x.Terminal
}

// atTerminal starts hist, or zsh, at a terminal of so many columns; out, if given, takes its standard output. Its home holds a
// session that was killed, and one that is well and was changed two hours before.
func atTerminal(t *testing.T, columns uint16, env []string, out io.Writer, args ...string) *terminal {
	t.Helper()
	home := t.TempDir()
	for i, name := range []string{"kill_in_tool/rollout-2026-11-20T19-53-51-01a1fa85-bfc3-74d1-9684-43a82083e7d1.jsonl", "clean/rollout-2026-11-20T19-53-37-01a1fa85-897f-7b72-87b7-f6ebde981289.jsonl"} {
		text, err := os.ReadFile("../fixtures/codex/0.169.0/" + name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(home, "sessions/2026/11/20", filepath.Base(name))
		changed := time.Now().Add(-time.Duration(2*i+1) * time.Hour)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, changed, changed); err != nil {
			t.Fatal(err)
		}
	}
	c := &terminal{cmd: child(t, args...), ended: make(chan struct{}), seen: vt10x.New(vt10x.WithSize(int(columns), 24))}
	if args[0] == "zsh" {
		c.cmd = exec.Command("zsh", "-f")
		c.cmd.Env = os.Environ()
	}
	// A program built with -race tells of a race between two goroutines of the library, when it puts the terminal back.
	c.cmd.Env = append(c.cmd.Env, "GORACE=exitcode=0 atexit_sleep_ms=10 log_path="+filepath.Join(t.TempDir(), "race"))
	c.cmd.Env = append(append(c.cmd.Env, "CODEX_HOME="+home, "CLAUDE_CONFIG_DIR="+t.TempDir(), "TERM=xterm-256color", "ACCESSIBLE="), env...)
	if out != nil {
		c.cmd.Stdout = out
	}
	var err error
	if c.tty, err = pty.StartWithSize(c.cmd, &pty.Winsize{Rows: 24, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.ended)
		buf := make([]byte, 4096)
		for {
			n, err := c.tty.Read(buf)
			c.mu.Lock()
			c.seen.Write(buf[:n]) //nolint:errcheck // it takes everything
			c.mu.Unlock()
			if err != nil {
				break
			}
		}
		c.cmd.Wait() //nolint:errcheck // the exit code says it
	}()
	t.Cleanup(func() {
		c.cmd.Process.Kill() //nolint:errcheck // mostly it has ended
		<-c.ended
		c.tty.Close()
	})
	return c
}

// screen is what stands on it now, line by line.
func (c *terminal) screen() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := strings.Split(c.seen.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// coloured says whether anything on the screen has a colour.
func (c *terminal) coloured() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	columns, lines := c.seen.Size()
	for i := range columns * lines {
		if c.seen.Cell(i%columns, i/columns).FG != vt10x.DefaultFG {
			return true
		}
	}
	return false
}

// shows waits until a text stands there.
func (c *terminal) shows(t *testing.T, text string) {
	t.Helper()
	for range 1000 {
		if strings.Contains(c.screen(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it never shows %q but:\n%s", text, c.screen())
}

// types sends keys.
func (c *terminal) types(t *testing.T, keys string) {
	t.Helper()
	if _, err := c.tty.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// exits waits for the end and compares the exit code.
func (c *terminal) exits(t *testing.T, want int) {
	t.Helper()
	select {
	case <-c.ended:
	case <-time.After(30 * time.Second):
		t.Fatalf("it does not end:\n%s", c.screen())
	}
	if got := c.cmd.ProcessState.ExitCode(); got != want {
		t.Errorf("exit code %d, want %d:\n%s", got, want, c.screen())
	}
}

// A command that needs one session and gets none asks for it: the newest first, with title, age and health.
func TestPick(t *testing.T) {
	var out bytes.Buffer
	c := atTerminal(t, 80, nil, &out, "show")
	c.shows(t, "Show which session?")
	c.shows(t, "ID             AGE  HEALTH  LAST TURN  TITLE")
	c.shows(t, "> 01a1fa85-bfc3  1h   loses   open       list the files please")
	c.shows(t, "  01a1fa85-897f  3h   ok      completed  list the files please")
	c.types(t, "\x1b[B") // one down
	c.shows(t, "> 01a1fa85-897f")
	c.types(t, "\r")
	c.exits(t, ExitOK)
	if text := out.String(); !strings.Contains(text, "01a1fa85-897f") || strings.Contains(text, "which session") {
		t.Errorf("standard output:\n%s", text)
	}
}

// What is typed behind a slash narrows the list.
func TestPickByWord(t *testing.T) {
	c := atTerminal(t, 80, nil, nil, "pre-resume")
	c.shows(t, "Resume which session?")
	c.types(t, "/")
	c.types(t, "897f")
	c.shows(t, "/897f")
	c.types(t, "\r\r")
	c.shows(t, "codex resume 01a1fa85-897f-7b72-87b7-f6ebde981289")
	c.exits(t, ExitOK)
}

// A question stands until it is answered: what tells how far the work is does not write over it.
func TestQuestionStands(t *testing.T) {
	c := atTerminal(t, 80, nil, nil, "repair", "-i")
	c.shows(t, "Replace 1 session? [y/N]")
	time.Sleep(progressAfter + 2*progressEvery)
	if screen := c.screen(); !strings.Contains(screen, "Replace 1 session? [y/N]") || strings.Contains(screen, " files") {
		t.Errorf("the question is gone:\n%s", screen)
	}
	c.types(t, "n\n")
	c.exits(t, ExitOK)
	c.shows(t, "Nothing was changed.")
}

// In a narrow terminal every line still fits it.
func TestPickNarrow(t *testing.T) {
	c := atTerminal(t, 42, nil, nil, "show")
	c.shows(t, "> 01a1fa85-bfc3  1h   loses   list the…")
	if want := "┃ > 01a1fa85-bfc3  1h   loses   list the…\n┃   01a1fa85-897f  3h   ok      list the…\n"; !strings.Contains(c.screen(), want) {
		t.Errorf("a line does not fit:\n%s", c.screen())
	}
	c.types(t, "\x03")
	c.exits(t, ExitInterrupted)
	c.shows(t, "interrupted; nothing was done")
}

// Who may not show titles shows none here, either.
func TestPickWithoutTitles(t *testing.T) {
	conf := t.TempDir()
	if err := os.Mkdir(filepath.Join(conf, "hist"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(conf, "hist/config.toml"), []byte("no_titles = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := atTerminal(t, 80, []string{"XDG_CONFIG_HOME=" + conf}, nil, "show")
	c.shows(t, "> 01a1fa85-bfc3")
	if strings.Contains(c.screen(), "list the") {
		t.Errorf("a title is shown:\n%s", c.screen())
	}
	c.types(t, "\x03")
	c.exits(t, ExitInterrupted)
}

// For a screen reader, and where a terminal can do little, it is a numbered list.
func TestPickByNumber(t *testing.T) {
	for _, env := range []string{"TERM=dumb", "ACCESSIBLE=1"} {
		c := atTerminal(t, 80, []string{env}, nil, "show")
		c.shows(t, "Enter a number between 1 and 2:")
		if c.coloured() {
			t.Errorf("%s: the question has colours", env)
		}
		c.types(t, "2\n")
		c.exits(t, ExitOK)
		c.shows(t, "no damage was found")
	}
}

// A numbered list can be left, too: neither Ctrl-C nor the end of the input is taken for the newest session.
func TestPickNoNumber(t *testing.T) {
	for keys, want := range map[string]string{"\x03": "interrupted; nothing", "\x04": "no session was picked"} {
		c := atTerminal(t, 80, []string{"ACCESSIBLE=1"}, nil, "pre-resume")
		c.shows(t, "Enter a number between 1 and 2:")
		c.types(t, keys)
		c.exits(t, ExitInterrupted)
		c.shows(t, want)
		if strings.Contains(c.screen(), "codex resume") {
			t.Errorf("a session was picked:\n%s", c.screen())
		}
	}
}

// What a rule means is read in a narrow terminal, too: no line is broken by the terminal itself.
func TestExplainFitsTheTerminal(t *testing.T) {
	c := atTerminal(t, 60, nil, nil, "explain", "call-without-output")
	c.exits(t, ExitOK)
	for _, line := range []string{
		"impact: loses   fix: recovered   family: calls   agent:",
		"it, and puts it where the client would have written it. Only",
		"    model is told it was aborted [call-without-output]",
		`    + {"timestamp":"2026-11-18T09:30:00.822Z","type":"resp…`,
	} {
		c.shows(t, "\n"+line+"\n")
	}
}

// Zsh completes only for who types.
func TestCompletionInZsh(t *testing.T) {
	if _, err := exec.LookPath("zsh"); err != nil {
		t.Skip("no zsh")
	}
	dir := t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(dir, "hist")); err != nil {
		t.Fatal(err)
	}
	c := atTerminal(t, 100, []string{"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + dir, "CLAUDE_CONFIG_DIR=" + filepath.Join(dir, ".claude")}, nil, "zsh")
	c.types(t, "PS1='%% '; autoload -U compinit; compinit -D; source <(hist completion zsh); echo rea''dy\r")
	c.shows(t, "ready")
	c.types(t, "hist lint --format text,sa\t")
	c.shows(t, "text,sarif=")
	c.types(t, "\x15hist show 01\t\t")
	c.shows(t, "01a1fa85-bfc3-74d1-9684-43a82083e7d1  -- 1h  list the files please")
	for _, id := range []string{"9bcf69c6-3973-497c-a741-270f52afcea0", "9bcf69c7-3973-497c-a741-270f52afcea0"} {
		text, err := os.ReadFile("../fixtures/claude/2.1.330/resumed2/9bcf69c6-3973-497c-a741-270f52afcea0.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, ".claude", "projects", "-home-dev-demo", id+".jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	c.types(t, "\x15hist show 9bc\t\t")
	c.shows(t, "9bcf69c7-3973-497c-a741-270f52afcea0  -- 1h  list files please")
	c.types(t, "\x03\x15exit\r")
}
