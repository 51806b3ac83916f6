//go:build linux

package shim_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// build makes hist and the client that the tests play, once.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hist-shim-")
	if err != nil {
		return "", err
	}
	for name, path := range map[string]string{"hist": "github.com/hist-cli/hist", "client": "./testclient"} {
		c := exec.Command("go", "build", "-o", filepath.Join(dir, name))
		if raceDetector && name == "hist" {
			c.Args = append(c.Args, "-race")
		} else {
			c.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released: a program that loads libraries starts later
		}
		c.Args = append(c.Args, path)
		if out, err := c.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := build(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// place is a home with a shim in front of the client that the tests play.
type place struct {
	t    testing.TB
	dir  string
	bin  string
	env  []string
	shim string
}

func newPlace(t testing.TB, role string, more ...string) *place {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "shim") // short, for sockets' names
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &place{t: t, dir: dir, bin: bin, shim: filepath.Join(dir, "shim", "codex")}
	p.link("shim", "hist", "codex", "codex-acp")
	p.link("real", "client", "codex")
	p.env = append([]string{
		"PATH=" + filepath.Join(dir, "shim") + ":" + filepath.Join(dir, "real") + ":" + os.Getenv("PATH"),
		"HOME=" + dir, "CODEX_HOME=" + filepath.Join(dir, "home"), "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "TESTCLIENT=" + role,
		"TMPDIR=" + dir,
	}, more...)
	if raceDetector {
		log := filepath.Join(dir, "race")
		p.env = append(p.env, "GORACE=atexit_sleep_ms=10 log_path="+log)
		t.Cleanup(func() {
			found, _ := filepath.Glob(log + ".*")
			for _, path := range found {
				text, _ := os.ReadFile(path)
				t.Errorf("hist has a race: %s", text)
			}
		})
	}
	return p
}

// link puts a program into a directory, under other names.
func (p *place) link(dir, program string, names ...string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Join(p.dir, dir), 0o755); err != nil {
		p.t.Fatal(err)
	}
	for _, name := range names {
		if err := os.Symlink(filepath.Join(p.bin, program), filepath.Join(p.dir, dir, name)); err != nil {
			p.t.Fatal(err)
		}
	}
}

const damaged = "01a1fa85-bfc3-74d1-9684-43a82083e7d1"

// session puts a damaged session into the home and returns its path.
func (p *place) session() string {
	p.t.Helper()
	name := "rollout-2026-11-20T19-53-51-" + damaged + ".jsonl"
	text, err := os.ReadFile("../../fixtures/codex/0.169.0/kill_in_tool/" + name)
	if err != nil {
		p.t.Fatal(err)
	}
	path := filepath.Join(p.dir, "home/sessions/2026/11/20", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p *place) command(args ...string) *exec.Cmd {
	c := exec.Command(p.shim, args...)
	c.Args[0] = "codex"
	c.Dir, c.Env = p.dir, p.env
	return c
}

// hist runs hist in the place and returns what it prints.
func (p *place) hist(args ...string) string {
	p.t.Helper()
	c := exec.Command(filepath.Join(p.bin, "hist"), args...)
	c.Dir, c.Env = p.dir, p.env
	out, err := c.Output()
	if ended, ok := err.(*exec.ExitError); ok { //nolint:errorlint // as Output returns it
		out = append(out, ended.Stderr...)
	}
	return string(out)
}

// log is the log of decisions, in JSON; it is waited for until it has a text, if one is wanted.
func (p *place) log(wanted string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, "state/hist/decisions.jsonl")
	text := []byte(nil)
	for range 300 {
		text, _ = os.ReadFile(path)
		if bytes.Contains(text, []byte(wanted)) {
			return string(text)
		}
		time.Sleep(20 * time.Millisecond)
	}
	p.t.Errorf("the log never had %q:\n%s", wanted, text)
	return string(text)
}

// running is a client behind the shim, with pipes to it.
type running struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	pipe   io.ReadCloser
	stderr *bytes.Buffer
}

func (p *place) start(args ...string) *running {
	p.t.Helper()
	r := &running{t: p.t, cmd: p.command(args...), stderr: &bytes.Buffer{}}
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		p.t.Fatal(err)
	}
	if r.pipe, err = r.cmd.StdoutPipe(); err != nil {
		p.t.Fatal(err)
	}
	r.out = newReader(r.pipe)
	r.cmd.Stderr = r.stderr
	if err := r.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		r.cmd.Process.Kill()
		r.pipe.Close()
		r.in.Close()
	})
	return r
}

// ask sends a line and returns the one that answers it, past notifications.
func (r *running) ask(line string) string {
	r.t.Helper()
	r.say(line)
	for {
		answer := r.line()
		if strings.HasPrefix(answer, `{"id"`) || strings.HasPrefix(answer, `{"error"`) {
			return answer
		}
	}
}

func (r *running) say(line string) {
	r.t.Helper()
	if _, err := io.WriteString(r.in, line+"\n"); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) line() string {
	r.t.Helper()
	line, err := r.out.ReadString('\n')
	if err != nil {
		r.t.Fatalf("%v: %q %s", err, line, r.stderr)
	}
	return strings.TrimSuffix(line, "\n")
}

// until reads lines up to one that has a text.
func (r *running) until(text string) string {
	r.t.Helper()
	for {
		if line := r.line(); strings.Contains(line, text) {
			return line
		}
	}
}

// relayOf is the id of the relay of a client, 0 if there is none.
func relayOf(client int) int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		i := bytes.LastIndexByte(text, ')')
		fields := strings.Fields(string(text[i+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if len(fields) > 1 && fields[1] == strconv.Itoa(client) && strings.HasPrefix(string(command), "hist-shim-relay") && !strings.Contains(string(command), "\x00note\x00") {
			return pid
		}
	}
	return 0
}

// relay waits for the relay of a client to be there.
func (r *running) relay() int {
	r.t.Helper()
	for range 500 {
		if pid := relayOf(r.cmd.Process.Pid); pid != 0 {
			return pid
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.t.Fatal("there is no relay")
	return 0
}

// gone waits for a process to have ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range 500 {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || bytes.Contains(state, []byte(") Z ")) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d, the relay, is left over", pid)
	syscall.Kill(pid, syscall.SIGKILL)
}

func newReader(in io.Reader) *bufio.Reader { return bufio.NewReaderSize(in, 1<<20) }
