//go:build unix

package cmd

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An interrupt in the middle of writing leaves everything as it was.
func TestInterrupt(t *testing.T) {
	path := sessionFile(t, 96<<20, true)
	before := sum(t, path)
	for _, args := range [][]string{{"--in-place"}, {}, {"--output", filepath.Join(filepath.Dir(path), "out.jsonl")}} {
		c := child(t, append([]string{"repair", path}, args...)...)
		var out strings.Builder
		c.Stderr = &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		seen := false
		for deadline := time.Now().Add(30 * time.Second); !seen && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			entries, err := os.ReadDir(filepath.Dir(path))
			if err != nil {
				t.Fatal(err)
			}
			seen = len(entries) > 1
		}
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		err := c.Wait()
		if !seen || err == nil {
			t.Fatalf("%v: the interrupt came too late: temporary file seen: %v, %v", args, seen, err)
		}
		if !strings.Contains(out.String(), "interrupted; nothing that was under way has been changed") {
			t.Errorf("%v: %s", args, out.String())
		}
		if sum(t, path) != before {
			t.Error("the session changed")
		}
		alone(t, path)
		noRecord(t, c)
	}
}

// handles waits until a child that has just been started handles signals: one that comes before would end it, too. That is longer than another
// child takes for all that it does, however busy the machine is.
func handles(t *testing.T) {
	t.Helper()
	begun := time.Now()
	if err := child(t, "--version").Run(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200*time.Millisecond + 3*time.Since(begun))
}

// An interrupt ends a process that waits for input which never comes.
func TestInterruptWaiting(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe") // which nobody opens to write
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, args := range [][]string{{"lint", "-"}, {"repair", "-"}, {"lint", "--files-from", pipe}, {"pre-resume", "--error-file", pipe, "id"}} {
		c := child(t, args...)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var out strings.Builder
		c.Stderr = &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, header); err != nil {
			t.Fatal(err)
		}
		handles(t)
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(10*time.Second, func() { c.Process.Kill() })
		c.Wait() //nolint:errcheck // the exit code says it
		if !kill.Stop() {
			t.Fatalf("%v: it did not end", args)
		}
		if code := c.ProcessState.ExitCode(); code != ExitInterrupted || !strings.Contains(out.String(), "interrupted") {
			t.Errorf("%v: exit %d: %s", args, code, out.String())
		}
	}
}

// TestNothingLeftBehind: a lint whose reader has gone, or whose terminal was closed, leaves no file.
func TestNothingLeftBehind(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("../fixtures/codex/rules/call-without-output/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("s%d.jsonl", i)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := child(t, "lint", "--format", "text,sarif="+filepath.Join(dir, "x"), dir)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	c.Stdout = writer
	if err := c.Run(); err == nil || !strings.Contains(err.Error(), "broken pipe") {
		t.Errorf("it did not end like others whose reader has gone: %v", err)
	}

	c = child(t, "lint", "--format", "sarif="+filepath.Join(dir, "x"), "-")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for n := 0; len(leftOver(t, dir)) == 0; n++ {
		if n > 1000 {
			t.Fatal("the report was never begun")
		}
		time.Sleep(10 * time.Millisecond)
	}
	closed := syscall.SIGHUP
	if signal.Ignored(closed) { // these tests outlive their terminal, and so does what they start
		closed = syscall.SIGTERM
	}
	c.Process.Signal(closed) //nolint:errcheck // Wait tells
	if err := c.Wait(); err == nil {
		t.Error("it does not mind that the terminal was closed")
	}
	if left := leftOver(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func leftOver(t *testing.T, dir string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, ".hist-*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// TestHangUp: who started hist so that it outlives the terminal, as nohup does, is not disappointed.
func TestHangUp(t *testing.T) {
	hist := filepath.Join(t.TempDir(), "hist")
	if err := os.Symlink(os.Args[0], hist); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("sh", "-c", `trap "" HUP; echo ready; exec "$0" lint -`, hist)
	c.Env = child(t).Env
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
	for range 20 { // while hist starts, and when it waits for its input
		c.Process.Signal(syscall.SIGHUP) //nolint:errcheck // Wait tells
		time.Sleep(20 * time.Millisecond)
	}
	text, err := os.ReadFile("../fixtures/codex/rules/call-without-output/ok.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(text); err != nil {
		t.Error(err)
	}
	in.Close()
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// TestTimeoutOfAnErrorFile: whoever is to write the error may never do it, or never end. The timeout holds all the same, and
// what came until then is looked at.
func TestTimeoutOfAnErrorFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe") // which nobody opens to write
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	session := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(session, []byte(header), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, said := range map[string]string{pipe: "", "-": "Selected model is at capacity. Please try a different model.\n"} {
		c := child(t, "pre-resume", "--json", "--timeout", "500ms", "--error-file", file, session)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var out, complaints strings.Builder
		c.Stdout, c.Stderr = &out, &complaints
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, said); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(20*time.Second, func() { c.Process.Kill() })
		c.Wait() //nolint:errcheck // what was answered says it
		if !kill.Stop() {
			t.Fatalf("%s: it did not end", file)
		}
		if !strings.Contains(complaints.String(), "the time ran out before its end") || !strings.Contains(out.String(), `"verdict":`) || strings.Contains(out.String(), "all of it") {
			t.Errorf("%s: %s%s", file, out.String(), complaints.String())
		}
		if strings.Contains(out.String(), `"error":{`) != (said != "") {
			t.Errorf("%s: %s", file, out.String())
		}
	}
}

// TestStoppedAmongRules: rules that have very much to do end at a signal, and when the time of pre-resume is up.
func TestStoppedAmongRules(t *testing.T) {
	var calls strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&calls, `%s{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{}}`, []string{"", ","}[min(i, 1)], i)
	}
	path := filepath.Join(t.TempDir(), "2412e574-5c4d-409b-b0ed-a2d74877dfad.jsonl")
	text := `{"parentUuid":null,"isSidechain":false,"cwd":"/x","sessionId":"2412e574-5c4d-409b-b0ed-a2d74877dfad","version":"2.1.332","type":"assistant","uuid":"00000000-0000-4000-8000-000000000000",` +
		`"timestamp":"2026-11-20T19:53:52.000Z","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[` + calls.String() + "]}}\n" +
		`{"parentUuid":"00000000-0000-4000-8000-000000000000","isSidechain":false,"cwd":"/x","sessionId":"2412e574-5c4d-409b-b0ed-a2d74877dfad","version":"2.1.332","type":"user",` +
		`"uuid":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-20T19:53:53.000Z","message":{"role":"user","content":"go on"}}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]int{"lint --no-cache": 143, "repair -n": 143, "pre-resume --timeout 200ms": ExitOK} {
		c := child(t, append(strings.Fields(args), path)...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if want == 143 {
			handles(t)
			c.Process.Signal(syscall.SIGTERM) //nolint:errcheck // its end tells
		}
		kill := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
		c.Wait() //nolint:errcheck // its exit code tells
		kill.Stop()
		if code, took := c.ProcessState.ExitCode(), time.Since(begun); code != want || took > 10*time.Second {
			t.Errorf("%s: exit %d after %v", args, code, took)
		}
	}
}
