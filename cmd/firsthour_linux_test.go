package cmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/hist-cli/hist/internal/testkit/testfile"
)

// TestFirstHour plays what happens to people in their first hour with hist. Each file of testdata/first-hour is one situation, and
// holds what is printed in it. Who reads one asks: would I know what to do next?
//
//	# what the situation is
//	@ home NAME...     puts sessions into the user's home: see firstHomes
//	@ columns N        from here on hist is at a terminal this wide; 0, as at the start, is a pipe
//	@ types TEXT       what the user types when the next command asks
//	@ env NAME=VALUE   sets a variable
//	@ in DIRECTORY     goes there
//	@ as another       from here on another user runs hist
//	@ open FILE        another program has it open
//	@ ago TIME FILE    when a file was changed
//	$ COMMAND          runs it in a shell; hist, unless the line needs a shell, runs in this process
//
// What follows a command is what it printed; [exit N] is its exit code. -update writes it anew.
func TestFirstHour(t *testing.T) {
	files, err := filepath.Glob("testdata/first-hour/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no situations")
	}
	fixtures, err := filepath.Abs("../fixtures")
	if err != nil {
		t.Fatal(err)
	}
	local := time.Local
	time.Local = time.FixedZone("CET", 3600) // times are shown as people there read them
	t.Cleanup(func() { time.Local = local })
	for _, file := range files {
		path, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s := newSituation(t, fixtures)
			got := s.play(string(want))
			if got == string(want) {
				return
			}
			if *testfile.Update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("printed:\n%s\nwant:\n%s", got, want)
		})
	}
}

// situation is a user at a terminal.
type situation struct {
	t        *testing.T
	fixtures string
	home     string // has as many characters as the one that is shown for it
	columns  uint16
	types    string
	other    bool
	fixed    []string // ids that are the same each time
	made     []string // ids that hist made, in the order in which they were printed
	runs     []string // printed commands that were tried
}

// shownHome stands for the user's home in what is printed.
const shownHome = "/home/ana"

func newSituation(t *testing.T, fixtures string) *situation {
	s := &situation{t: t, fixtures: fixtures}
	for i := os.Getpid(); ; i++ { // the home's name has always the same length, so that lines are broken at the same words
		s.home = fmt.Sprintf("/tmp/%04x", i&0xffff)
		err := os.Mkdir(s.home, 0o755)
		if err == nil {
			break
		}
		if !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.RemoveAll(s.home) }) //nolint:errcheck // it is a folder of temporary files
	for _, name := range []string{"CODEX_HOME", "CLAUDE_CONFIG_DIR", "PI_CODING_AGENT_DIR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CODEX_THREAD_ID"} {
		t.Setenv(name, "")
		os.Unsetenv(name) //nolint:errcheck // it was set
	}
	t.Setenv("HOME", s.home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(s.home, ".cache"))
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("ACCESSIBLE", "1") // questions are lines
	t.Setenv("PATH", s.home+"/bin:"+os.Getenv("PATH"))
	t.Setenv("TZ", "CET-1")
	for _, client := range []string{"codex", "claude", "pi"} {
		s.write("bin/"+client, "#!/bin/sh\necho \"($0 runs here, in $PWD: $*)\"\n", 0o755)
	}
	s.must(os.Mkdir(s.home+"/demo", 0o755))
	t.Chdir(s.home + "/demo")
	return s
}

// firstHomes are sessions that a user may have: the fixture, where it lies below the home, and how long ago it was changed.
var firstHomes = map[string][]struct {
	fixture, at string
	ago         time.Duration
}{
	"codex":         {{"codex/0.171.0/clean", ".codex/sessions/2026/11/27", 3 * time.Hour}},
	"codex-damaged": {{"codex/0.171.0/kill_in_tool", ".codex/sessions/2026/11/27", 2 * time.Hour}},
	"codex-exec":    {{"codex/0.169.0/clean", ".codex/sessions/2026/11/20", time.Hour}},
	"claude":        {{"claude/2.1.330/clean", ".claude/projects/DEMO", 5 * time.Hour}},
	"claude-damaged": {
		{"claude/rules/broken-parent/bad.jsonl", ".claude/projects/DEMO/7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a11.jsonl", 4 * time.Hour},
	},
	"pi": {{"pi/1.5.2/clean", ".pi/agent/sessions/-DEMO--", 25 * time.Hour}},
	"pi-damaged": {
		{"pi/rules/broken-link/bad.jsonl", ".pi/agent/sessions/-DEMO--/2026-03-02T09-00-00-000Z_019cadb2-1111-7000-8000-00000000beef.jsonl", 26 * time.Hour},
	},
}

// add puts sessions into the home, as if they had been begun by a person in the folder demo.
func (s *situation) add(name string) {
	list, ok := firstHomes[name]
	if !ok {
		s.t.Fatalf("there are no sessions %q", name)
	}
	for _, f := range list {
		from := filepath.Join(s.fixtures, f.fixture)
		to := strings.Replace(f.at, "DEMO", strings.ReplaceAll(s.home, "/", "-")+"-demo", 1)
		if !strings.HasSuffix(from, ".jsonl") {
			files, err := filepath.Glob(from + "/*.jsonl")
			if err != nil || len(files) != 1 {
				s.t.Fatal(from, err)
			}
			from, to = files[0], filepath.Join(to, filepath.Base(files[0]))
		}
		text, err := os.ReadFile(from)
		s.must(err)
		for _, r := range [][2]string{
			{"/home/dev/demo", s.home + "/demo"},
			{"/srv/mill", s.home + "/demo"},
			{`"originator":"codex_exec"`, `"originator":"codex-tui"`},
			{`"promptSource":"sdk"`, `"promptSource":"typed"`},
			{`"entrypoint":"sdk-cli"`, `"entrypoint":"cli"`},
		} {
			text = bytes.ReplaceAll(text, []byte(r[0]), []byte(r[1]))
		}
		if name != "codex-exec" {
			text = bytes.ReplaceAll(text, []byte(`"source":"exec"`), []byte(`"source":"cli"`))
		}
		s.fixed = append(s.fixed, uuidForm.FindAllString(to+string(text), -1)...)
		path := s.write(to, string(text), 0o600)
		s.changed(path, f.ago)
	}
}

func (s *situation) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *situation) write(path, text string, mode os.FileMode) string {
	path = filepath.Join(s.home, path)
	s.must(os.MkdirAll(filepath.Dir(path), 0o755))
	s.must(os.WriteFile(path, []byte(text), mode))
	return path
}

// changed sets when a file was changed; half a minute more keeps the age the same while the test runs.
func (s *situation) changed(path string, ago time.Duration) {
	at := time.Now().Add(-ago - 30*time.Second)
	s.must(os.Chtimes(path, at, at))
}

// play does what the lines of a file say, and returns them with what is printed now.
func (s *situation) play(file string) string {
	var out strings.Builder
	for line := range strings.Lines(file) {
		mark, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch mark {
		case "#":
			out.WriteString(line)
		case "@":
			out.WriteString(line)
			s.does(rest)
		case "$":
			out.WriteString(line)
			text, code := s.run(rest)
			out.WriteString(s.masked(text))
			if code != ExitOK {
				fmt.Fprintf(&out, "[exit %d]\n", code)
			}
			if !strings.Contains(rest, "help") { // whose examples are of other sessions
				s.tried(text)
			}
		}
	}
	return out.String()
}

// does obeys a line that begins with @.
func (s *situation) does(line string) {
	what, of, _ := strings.Cut(line, " ")
	switch what {
	case "home":
		for _, name := range strings.Fields(of) {
			s.add(name)
		}
	case "columns":
		n, err := strconv.ParseUint(of, 10, 16)
		s.must(err)
		s.columns = uint16(n)
	case "types":
		s.types = of + "\n"
	case "env":
		name, value, _ := strings.Cut(of, "=")
		s.t.Setenv(name, os.ExpandEnv(value))
	case "in":
		s.t.Chdir(os.ExpandEnv(of))
	case "as":
		if os.Geteuid() != 0 {
			s.t.Skip("only root is another user, too")
		}
		hist, err := exec.LookPath("hist")
		s.must(err)
		text, err := os.ReadFile(hist)
		s.must(err)
		s.write("bin/hist", string(text), 0o755)
		s.other = true
	case "open":
		c := exec.Command("sleep", "600")
		f, err := os.OpenFile(s.named(of), os.O_RDWR, 0)
		s.must(err)
		c.ExtraFiles = []*os.File{f}
		s.must(c.Start())
		f.Close()
		s.t.Cleanup(func() {
			c.Process.Kill() //nolint:errcheck // it sleeps for longer than this test
			c.Wait()         //nolint:errcheck // it was killed
		})
	case "ago":
		d, name, _ := strings.Cut(of, " ")
		ago, err := time.ParseDuration(d)
		s.must(err)
		s.changed(s.named(name), ago)
	default:
		s.t.Fatalf("%q means nothing", line)
	}
}

// named is the one file that a pattern names.
func (s *situation) named(pattern string) string {
	files, err := filepath.Glob(os.ExpandEnv(pattern))
	if err != nil || len(files) != 1 {
		s.t.Fatalf("%s names %q (%v)", pattern, files, err)
	}
	return files[0]
}

// run runs a command, and returns what stands on the screen behind it.
func (s *situation) run(line string) (text string, code int) {
	inner, outer, done := s.screen()
	line = strings.ReplaceAll(line, " ~", " "+s.home)
	words := strings.Fields(line)
	if words[0] != "hist" || strings.ContainsAny(line, `'"|<>;&$*`) || s.other {
		code = s.shell(line, inner, outer)
	} else {
		code = Main(words, inner, outer, outer)
	}
	return done(), code
}

// screen is a terminal, or where there is none a pipe, and what was printed to it once it is done.
func (s *situation) screen() (in *os.File, out *os.File, done func() string) {
	var from *os.File
	var err error
	if s.columns == 0 {
		from, out, err = os.Pipe()
		s.must(err)
		in, err = os.Open(os.DevNull)
	} else {
		from, out, err = pty.Open()
		s.must(err)
		in = out
		s.must(silent(out))
		err = pty.Setsize(from, &pty.Winsize{Rows: 24, Cols: s.columns})
	}
	s.must(err)
	if s.columns > 0 { // who is asked once more than this types Ctrl-D
		_, err := from.WriteString(s.types + "\x04")
		s.must(err)
		s.types = ""
	}
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(from) // a terminal ends with an error
		read <- string(text)
	}()
	return in, out, func() string {
		out.Close()
		text := <-read
		from.Close()
		if in != out {
			in.Close()
		}
		return text
	}
}

// silent makes a terminal not show what is typed, which may stand before or behind a question.
func silent(tty *os.File) error {
	t, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		return err
	}
	t.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(int(tty.Fd()), unix.TCSETS, t)
}

// shell runs a line in a shell.
func (s *situation) shell(line string, in, out *os.File) int {
	c := exec.Command("sh", "-c", line)
	c.Stdin, c.Stdout, c.Stderr = in, out, out
	if s.other {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	c.Run() //nolint:errcheck // the exit code says it
	return c.ProcessState.ExitCode()
}

var (
	colourForm = regexp.MustCompile(`\x1b\[[0-9;]*[a-zA-Z]`)
	uuidForm   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// masks are what is another each time, and what is shown for it.
var masks = []struct {
	form  *regexp.Regexp
	shown string
}{
	{regexp.MustCompile(`20\d\d[01]\d[0-3]\dT\d{6}Z-[0-9a-f]+`), "20261127T000000Z-000000"},           // a run
	{regexp.MustCompile(`process \d+`), "process 4321"},                                               // a process
	{regexp.MustCompile(`\b(in|after) \d+(\.\d+)? ?(ms|s)\b`), "$1 0 ms"},                             // how long something took
	{regexp.MustCompile(`rollout-20[\dT-]+-(0000000\d-0000-7000)`), "rollout-2026-11-27T00-00-00-$1"}, // when a copy was made, in its file's name
	{regexp.MustCompile(`20\d\d/\d\d/\d\d(/rollout-[\dT-]+-0000000\d-0000-7000)`), "2026/11/27$1"},    // the same, in the folder of that day
	{regexp.MustCompile(`20[\dTZ-]+_(0000000\d-0000-7000)`), "2026-11-27T00-00-00-000Z_$1"},           // the same, in a name of pi
	{regexp.MustCompile(`since 20[\d-]+ [\d:]+ CET`), "since 2026-11-27 00:00:00 CET"},                // when a process began
	{regexp.MustCompile(`\b()\ds `), "${1}0s "},                                                       // the age of what was made just now
	{regexp.MustCompile(`\d+\.\d KiB( +(can be )?undone)`), "12.4 KiB$1"},                             // the size of a run's record, in which the paths stand
	{regexp.MustCompile(`((?i:sha-?256) )[0-9a-f]{12,16}`), "${1}0123456789ab"},                       // a hash of something in which the home stands
	{regexp.MustCompile(`(repaired as) [0-9a-f]{8}-[0-9a-f]+…`), "$1 00000001-000…"},                  // an id for which a column has no room
	{regexp.MustCompile(`(?m)^20[\d-]+ [\d:]{8}  `), "2026-11-27 00:00:00  "},                         // when hist was asked
}

// masked is what was printed, without what is another each time.
func (s *situation) masked(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = colourForm.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, s.home, shownHome)
	text = strings.ReplaceAll(text, strings.ReplaceAll(s.home, "/", "-"), strings.ReplaceAll(shownHome, "/", "-"))
	for _, id := range uuidForm.FindAllString(text, -1) {
		if !slices.Contains(s.fixed, id) && !slices.Contains(s.made, id) {
			s.made = append(s.made, id)
		}
	}
	for i, id := range s.made {
		text = strings.ReplaceAll(text, id[:idDigits], fmt.Sprintf("%08d-0000", i+1))
		text = strings.ReplaceAll(text, id[idDigits:], "-7000-8000-000000000000")
	}
	for _, m := range masks {
		text = m.form.ReplaceAllString(text, m.shown)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}
