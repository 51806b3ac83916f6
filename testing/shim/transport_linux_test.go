package shim_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The bytes of both directions are those that were written, whatever they are.
func TestEveryByte(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var many bytes.Buffer
	for many.Len() < 20<<20 {
		fmt.Fprintf(&many, `{"method":"item/agentMessage/delta","params":{"n":%d,"delta":"%s"}}`+"\n", many.Len(), strings.Repeat("x", random.IntN(2000)))
	}
	for name, text := range map[string]string{
		"nothing":                 "",
		"20 MB of lines":          many.String(),
		"one line of 30 MB":       `{"id":1,"method":"thread/resume","params":{"threadId":"` + strings.Repeat("y", 30<<20) + "\"}}\n" + `{"id":2}` + "\n",
		"CRLF and blank lines":    "{\"id\":1}\r\n\r\n\n\n{\"id\":2}\r\n",
		"NUL":                     "\x00\x00{\"id\":1}\x00\n\x00\n",
		"no JSON":                 "hello\n{{{{\n]\n\xff\xfe\n" + strings.Repeat("[", 100_000) + "\n",
		"half a line":             "{\"id\":1}\n{\"id\":2,\"method\":\"thread/",
		"a line without an end":   strings.Repeat("z", 2<<20),
		"exactly at the limit":    strings.Repeat("z", 1<<20) + "\n" + strings.Repeat("z", 1<<20-1) + "\n" + strings.Repeat("z", 1<<20+1) + "\nend\n",
		"a thread that is no id":  `{"id":1,"method":"thread/read","params":{"threadId":"__hapi_capability_probe__"}}` + "\n",
		"a thread that is no one": `{"id":1,"method":"thread/read","params":{"threadId":null}}` + "\n" + `{"id":1,"method":"thread/read","params":[1]}` + "\n",
		"its own form of JSON":    "  { \"params\" : {\"threadId\":\"" + damaged + "\"} , \"method\" : \"thread\\/resume\", \"id\": 1.50 }  \n",
	} {
		t.Run(name, func(t *testing.T) {
			r := newPlace(t, "echo:3", "HIST_SHIM_REJOIN=1").start("app-server")
			go func() {
				io.WriteString(r.in, text)
				r.in.Close()
			}()
			back := sha256.New()
			n, err := io.Copy(back, r.out)
			if err != nil || n != int64(len(text)) || !bytes.Equal(back.Sum(nil), sum(text)) {
				t.Errorf("%d of %d bytes came back, or not the same: %v", n, len(text), err)
			}
			if err := r.cmd.Wait(); r.cmd.ProcessState.ExitCode() != 3 || r.stderr.String() != "bye" {
				t.Errorf("%v: %q", err, r.stderr)
			}
		})
	}
}

func sum(text string) []byte {
	s := sha256.Sum256([]byte(text))
	return s[:]
}

// A caller that reads nothing costs no memory, and what it reads at last is all of it.
func TestSlowReader(t *testing.T) {
	const size = 100 << 20 / 120 * 120
	r := newPlace(t, fmt.Sprintf("flood:%d", size)).start("app-server")
	relay := r.relay()
	time.Sleep(time.Second)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", relay))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	var kb int
	fmt.Sscan(rest, &kb)
	t.Logf("the relay's own memory while nobody reads: %d kB", kb)
	if kb == 0 || kb > 16<<10 && !raceDetector { // which has memory of its own
		t.Errorf("the relay has %d kB of memory", kb)
	}
	if n, err := io.Copy(io.Discard, r.out); n != size || err != nil {
		t.Errorf("%d of %d bytes: %v", n, size, err)
	}
	if r.cmd.Wait(); r.cmd.ProcessState.ExitCode() != 7 {
		t.Error(r.cmd.ProcessState)
	}
	gone(t, relay)
}

// One direction that is blocked does not block the other.
func TestDirectionsAreApart(t *testing.T) {
	r := newPlace(t, "app").start("app-server")
	r.ask(`{"id":0,"method":"initialize","params":{}}`)
	done := make(chan error, 1)
	go func() { // nobody reads the answers: they fill the pipes, and the requests too, at last
		_, err := io.WriteString(r.in, strings.Repeat(`{"id":1,"method":"x"}`+"\n", 200_000))
		done <- err
	}()
	for range 200_000 {
		r.line()
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// The caller's child is the client: its id, its arguments, its exit code, its signals.
func TestTheChildIsTheClient(t *testing.T) {
	for _, args := range []string{"app-server", "app-server -c a=b", "exec hello", "--version", ""} {
		r := newPlace(t, "info:5").start(strings.Fields(args)...)
		line := r.line()
		if want := fmt.Sprintf(`"pid":%d}`, r.cmd.Process.Pid); !strings.HasSuffix(line, want) {
			t.Errorf("%s: %s, want %s", args, line, want)
		}
		quoted := `"args":["codex"`
		for _, a := range strings.Fields(args) {
			quoted += `,"` + a + `"`
		}
		if !strings.Contains(line, quoted+"]") {
			t.Errorf("%s: %s", args, line)
		}
		if r.cmd.Wait(); r.cmd.ProcessState.ExitCode() != 5 || r.stderr.Len() > 0 {
			t.Errorf("%s: %v %q", args, r.cmd.ProcessState, r.stderr)
		}
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGKILL} {
		// Whoever runs the tests may ignore a signal, as nohup does, and children inherit that; what is caught they don't.
		caught := make(chan os.Signal, 1)
		signal.Notify(caught, s)
		defer signal.Stop(caught)
		p := newPlace(t, "wait", "GOTRACEBACK=none")
		cmd := p.command("app-server")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		r := p.started(cmd)
		if r.line() != "ready" {
			t.Fatal(s)
		}
		relay := r.relay()
		syscall.Kill(-r.cmd.Process.Pid, s) // to the whole group, as a terminal does
		r.cmd.Wait()
		if status := r.cmd.ProcessState.Sys().(syscall.WaitStatus); s != syscall.SIGQUIT && status.Signal() != s || status.ExitStatus() == 0 {
			t.Errorf("%v: %v", s, r.cmd.ProcessState)
		}
		if _, err := r.out.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("%v: the caller's stream did not end: %v", s, err)
		}
		gone(t, relay)
	}
}

// started is start with a command of the test's own.
func (p *place) started(cmd *exec.Cmd) *running {
	p.t.Helper()
	r := &running{t: p.t, cmd: cmd, stderr: &bytes.Buffer{}}
	inRead, in, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, outWrite, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout = inRead, outWrite
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	inRead.Close()
	outWrite.Close()
	r.in, r.pipe = in, out
	r.out = newReader(out)
	p.t.Cleanup(func() { cmd.Process.Kill(); in.Close(); out.Close() })
	return r
}

// The relay ends with the client and not before it, whichever side goes first.
func TestEnds(t *testing.T) {
	t.Run("the caller goes", func(t *testing.T) {
		p := newPlace(t, "echo:0")
		r := p.started(p.command("app-server"))
		relay := r.relay()
		r.in.Close()
		r.pipe.Close()
		if err := r.cmd.Wait(); err != nil {
			t.Error(err)
		}
		gone(t, relay)
	})
	t.Run("the caller stops reading", func(t *testing.T) {
		p := newPlace(t, "flood:100000000")
		r := p.started(p.command("app-server"))
		relay := r.relay()
		r.line()
		r.pipe.Close()
		r.cmd.Wait()
		if r.cmd.ProcessState.ExitCode() == 7 {
			t.Error("the client wrote it all, to nobody")
		}
		gone(t, relay)
	})
	t.Run("the client is killed", func(t *testing.T) {
		p := newPlace(t, "echo:0")
		r := p.started(p.command("app-server"))
		relay := r.relay()
		r.cmd.Process.Kill()
		r.cmd.Wait()
		gone(t, relay)
		var err error
		for range 100 { // a process may count as ended before all of its threads have
			if _, err = io.WriteString(r.in, "x\n"); err != nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if !errors.Is(err, syscall.EPIPE) {
			t.Errorf("a caller that writes on: %v", err)
		}
	})
	t.Run("only the launcher is killed", func(t *testing.T) {
		p := newPlace(t, "launcher:echo")
		r := p.started(p.command("app-server"))
		relay := r.relay()
		r.say("one")
		if r.line() != "one" {
			t.Fatal()
		}
		r.cmd.Process.Kill()
		r.cmd.Wait()
		time.Sleep(300 * time.Millisecond)
		r.say("two") // the client that it launched answers still
		if r.line() != "two" {
			t.Fatal()
		}
		r.in.Close()
		if _, err := r.out.ReadByte(); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		gone(t, relay)
	})
	t.Run("the client closes its input", func(t *testing.T) {
		p := newPlace(t, "close")
		r := p.started(p.command("app-server"))
		if r.line() != "closed" {
			t.Fatal()
		}
		var err error
		for range 100 { // the first bytes may lie in the pipe
			if _, err = r.in.Write(make([]byte, 1<<16)); err != nil {
				break
			}
		}
		if !errors.Is(err, syscall.EPIPE) {
			t.Error(err)
		}
	})
	t.Run("the relay is killed", func(t *testing.T) {
		p := newPlace(t, "echo:0")
		r := p.started(p.command("app-server"))
		syscall.Kill(r.relay(), syscall.SIGKILL)
		if err := r.cmd.Wait(); err != nil { // as if the caller had gone
			t.Error(err)
		}
	})
}

// A relay inherits nothing but the caller's standard streams, and the client inherits everything that it would have without
// the shim.
func TestInheritedFiles(t *testing.T) {
	p := newPlace(t, "info:0")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := p.command("app-server")
	cmd.ExtraFiles = []*os.File{write}
	out, err := cmd.Output()
	if err != nil || !bytes.Contains(out, []byte(`"3"`)) {
		t.Errorf("%v: %s", err, out)
	}
	bare := exec.Command(filepath.Join(p.dir, "real/codex"))
	bare.Env, bare.ExtraFiles = p.env, []*os.File{write}
	without, err := bare.Output()
	if _, fds, _ := strings.Cut(string(without), `"fds":`); err != nil || !strings.Contains(string(out), strings.Split(fds, "]")[0]) {
		t.Errorf("the client has %s, without the shim it has %s", out, without)
	}
	write.Close()
	if n, err := read.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) { // nobody holds it any longer
		t.Error(n, err)
	}
}

// No client, or none that runs; and programs called codex that are shims again.
func TestWhichClient(t *testing.T) {
	run := func(p *place, args ...string) (string, int) {
		cmd := p.command(args...)
		var both bytes.Buffer
		cmd.Stdout, cmd.Stderr = &both, &both
		timer := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
		defer timer.Stop()
		cmd.Run()
		return both.String(), cmd.ProcessState.ExitCode()
	}
	p := newPlace(t, "info:5")
	os.Remove(filepath.Join(p.dir, "real/codex"))
	p.env = append(p.env, "PATH="+filepath.Join(p.dir, "shim"))
	if out, code := run(p, "--version"); code != 127 || !strings.HasPrefix(out, "hist shim: there is no client behind this shim") {
		t.Errorf("%d: %s", code, out)
	}
	bad := filepath.Join(p.dir, "bad")
	if err := os.WriteFile(bad, []byte("\x7fELF no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "HIST_CODEX="+bad)
	if out, code := run(p); code != 126 || !strings.HasPrefix(out, "hist shim: running "+bad) {
		t.Errorf("%d: %s", code, out)
	}

	p = newPlace(t, "info:5")
	shims := []string{filepath.Join(p.dir, "shim")}
	program, err := os.ReadFile(filepath.Join(p.bin, "hist"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"copy", "wrapper", "child"} {
		if err := os.Mkdir(filepath.Join(p.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		shims = append(shims, filepath.Join(p.dir, dir))
	}
	p.link("again", "hist", "codex")
	shims = append(shims, filepath.Join(p.dir, "again"))
	for name, text := range map[string]string{
		"copy/codex": string(program), "wrapper/codex": "#!/bin/sh\nexec codex \"$@\"\n", "child/codex": "#!/bin/sh\ncodex \"$@\"\nexit $?\n",
	} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.env = append(p.env, "PATH="+strings.Join(shims, ":")+":"+filepath.Join(p.dir, "real")+":/usr/bin:/bin")
	for _, client := range []string{"", filepath.Join(p.dir, "copy/codex"), p.shim} {
		env := p.env
		p.env = append(p.env, "HIST_CODEX="+client)
		if out, code := run(p, "--version"); code != 5 || !strings.Contains(out, `"pid"`) {
			t.Errorf("HIST_CODEX=%s: %d: %s", client, code, out)
		}
		p.env = env
	}
	// The client's own calls of codex reach the client again, through the shim.
	p = newPlace(t, "info:5")
	if err := os.WriteFile(filepath.Join(p.dir, "agent"), []byte("#!/bin/sh\nTESTCLIENT=info:6 codex exec hello\nexit $?\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(p.dir, "real/codex"))
	if err := os.Symlink(filepath.Join(p.dir, "agent"), filepath.Join(p.dir, "real/codex")); err != nil {
		t.Fatal(err)
	}
	p.link("behind", "client", "codex")
	p.env = append(p.env, "PATH="+filepath.Join(p.dir, "shim")+":"+filepath.Join(p.dir, "real")+":"+filepath.Join(p.dir, "behind")+":/usr/bin:/bin")
	if out, code := run(p, "exec", "x"); code != 6 || !strings.Contains(out, `"exec","hello"`) {
		t.Errorf("%d: %s", code, out)
	}
}
