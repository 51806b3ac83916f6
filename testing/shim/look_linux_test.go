package shim_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fileSum is the SHA-256 of a file as it is now.
func fileSum(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum(string(text)))
}

const hello = `{"id":0,"method":"initialize","params":{"clientInfo":{"name":"my-wrapper","version":"1.2"}}}`

// Each message that names a thread which the server has not open waits until its session is repaired. The message that
// reaches the client is the caller's own.
func TestRepairedBeforeTheClientReads(t *testing.T) {
	for _, method := range []string{"thread/read", "thread/resume", "thread/fork", "thread/metadata/update", "thread/turns/list"} {
		p := newPlace(t, "app")
		p.env = append(p.env, "RECEIVED="+filepath.Join(p.dir, "received"))
		path := p.session()
		before := fileSum(t, path)
		r := p.start("app-server")
		r.ask(hello)
		message := fmt.Sprintf(`{ "id":7, "method":"%s","params":{"threadId":"%s", "cwd":"/x"},"more":[1, 2.0]}`, method, damaged)
		answer := r.ask(message)
		after := fileSum(t, path)
		if before == after {
			t.Errorf("%s: the session was not repaired", method)
		}
		if strings.Contains(answer, "sha256") && !strings.Contains(answer, after) {
			t.Errorf("%s: the client read the file before it was repaired: %s", method, answer)
		}
		received, err := os.ReadFile(filepath.Join(p.dir, "received"))
		if err != nil || !strings.HasSuffix(string(received), message+"\n") {
			t.Errorf("%s: %v: %s", method, err, received)
		}
		log := p.log(`"repaired":true`)
		for _, want := range []string{`"via":"` + method + `"`, `"caller":"my-wrapper/1.2"`, `"available":"` + damaged + `"`, `"used":"` + damaged + `"`, `"verdict":"resumable"`, `"ms":`} {
			if !strings.Contains(log, want) {
				t.Errorf("%s: the log lacks %s: %s", method, want, log)
			}
		}
		r.in.Close()
		r.cmd.Wait()
		if r.stderr.Len() > 0 {
			t.Errorf("%s: words on standard error: %s", method, r.stderr)
		}
	}
}

// These are not checked and not delayed: a thread that the server has open, one that was checked just before, a session that
// a process has open, and anything that is not in a file.
func TestNotLookedAt(t *testing.T) {
	count := func(p *place) int {
		text, _ := os.ReadFile(filepath.Join(p.dir, "state/hist/decisions.jsonl"))
		return bytes.Count(text, []byte(damaged+`"],"thread_id"`)) + bytes.Count(text, []byte("hist could not"))
	}
	resume := `{"id":1,"method":"thread/resume","params":{"threadId":"` + damaged + `"%s}}`
	t.Run("open or just looked at", func(t *testing.T) {
		p := newPlace(t, "app")
		p.session()
		r := p.start("app-server")
		for range 5 {
			r.ask(fmt.Sprintf(resume, ""))
			r.ask(`{"id":2,"method":"thread/read","params":{"threadId":"` + damaged + `"}}`)
		}
		p.log(damaged)
		if n := count(p); n != 1 {
			t.Errorf("looked %d times", n)
		}
	})
	for name, more := range map[string]string{"a path": `,"path":"/x.jsonl"`, "a history": `,"history":[]`} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, "app")
			path := p.session()
			before := fileSum(t, path)
			p.start("app-server").ask(fmt.Sprintf(resume, more))
			if n := count(p); n != 0 || fileSum(t, path) != before {
				t.Errorf("looked %d times", n)
			}
		})
	}
	t.Run("in use", func(t *testing.T) {
		p := newPlace(t, "app")
		path := p.session()
		before := fileSum(t, path)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if answer := p.start("app-server").ask(fmt.Sprintf(resume, "")); !strings.Contains(answer, before) || fileSum(t, path) != before {
			t.Error(answer)
		}
		p.log(`"verdict":"in_use"`)
	})
	t.Run("check only", func(t *testing.T) {
		p := newPlace(t, "app", "HIST_SHIM=check")
		path := p.session()
		before := fileSum(t, path)
		p.start("app-server").ask(fmt.Sprintf(resume, ""))
		if log := p.log(`"verdict":"repairable"`); fileSum(t, path) != before || strings.Contains(log, `"repaired"`) {
			t.Error(log)
		}
	})
	t.Run("off", func(t *testing.T) {
		p := newPlace(t, "app", "HIST_SHIM=off")
		path := p.session()
		before := fileSum(t, path)
		r := p.start("app-server")
		r.ask(fmt.Sprintf(resume, ""))
		if relayOf(r.cmd.Process.Pid) != 0 || fileSum(t, path) != before || count(p) != 0 {
			t.Error("something was done")
		}
	})
	t.Run("off in capitals", func(t *testing.T) {
		for _, value := range []string{"OFF", "0"} {
			p := newPlace(t, "app", "HIST_SHIM="+value)
			path := p.session()
			before := fileSum(t, path)
			r := p.start("app-server")
			r.ask(fmt.Sprintf(resume, ""))
			relay := relayOf(r.cmd.Process.Pid)
			r.end()
			if relay != 0 || fileSum(t, path) != before || count(p) != 0 || r.stderr.Len() > 0 {
				t.Errorf("%s: something was done: %s", value, r.stderr)
			}
		}
	})
	t.Run("an unknown mode", func(t *testing.T) {
		p := newPlace(t, "app", "HIST_SHIM=disabled")
		path := p.session()
		before := fileSum(t, path)
		r := p.start("app-server")
		r.ask(fmt.Sprintf(resume, ""))
		p.log(`"verdict":"repairable"`)
		r.in.Close()
		r.cmd.Wait()
		if fileSum(t, path) != before || r.stderr.String() != "hist shim: HIST_SHIM=disabled is not one of off, check and repair; using check\n" {
			t.Errorf("%s", r.stderr)
		}
	})
	t.Run("no time", func(t *testing.T) {
		p := newPlace(t, "app", "HIST_SHIM_TIMEOUT=1ms")
		path := p.session()
		before := fileSum(t, path)
		if answer := p.start("app-server").ask(fmt.Sprintf(resume, "")); !strings.Contains(answer, before) {
			t.Error(answer)
		}
		p.log("hist took too long to look")
	})
	t.Run("no hist that answers", func(t *testing.T) {
		p := newPlace(t, "app")
		p.session()
		if err := os.MkdirAll(filepath.Join(p.dir, "state/hist"), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, f := range []string{"home", "state"} { // neither the session nor the log can be had
			os.RemoveAll(filepath.Join(p.dir, f))
			if err := os.WriteFile(filepath.Join(p.dir, f), nil, 0o400); err != nil {
				t.Fatal(err)
			}
		}
		p.start("app-server").ask(fmt.Sprintf(resume, ""))
	})
}

// A timeout that is not valid does not prevent the check: the default is used.
func TestATimeoutWithoutUnit(t *testing.T) {
	for _, value := range []string{"5", "0s"} {
		p := newPlace(t, "app", "HIST_SHIM_TIMEOUT="+value)
		path := p.session()
		before := fileSum(t, path)
		r := p.start("app-server")
		r.ask(`{"id":1,"method":"thread/resume","params":{"threadId":"` + damaged + `"}}`)
		if fileSum(t, path) == before {
			t.Errorf("%s: not repaired", value)
		}
		p.log(`"repaired":true`)
		r.in.Close()
		r.cmd.Wait()
		if want := "hist shim: HIST_SHIM_TIMEOUT=" + value + " is not a time above zero with a unit, such as 2s; using 2s\n"; r.stderr.String() != want {
			t.Errorf("%s", r.stderr)
		}
	}
}

// No word of a conversation is in any log.
func TestNoWordsInTheLog(t *testing.T) {
	p := newPlace(t, "app", "HIST_SHIM_REJOIN=1")
	p.session()
	r := p.start("app-server")
	r.ask(`{"id":0,"method":"initialize","params":{"clientInfo":{"name":"w","version":"1"}}}`)
	r.ask(`{"id":1,"method":"thread/start","params":{"cwd":"/x","baseInstructions":"SECRET-1"}}`)
	r.ask(`{"id":2,"method":"turn/start","params":{"threadId":"01a1fa85-0000-7000-8000-000000000001","text":"FAIL","input":"SECRET-2"}}`)
	r.until("turn/completed")
	r.ask(`{"id":3,"method":"thread/start","params":{"cwd":"/x","baseInstructions":"SECRET-3"}}`)
	r.ask(`{"id":4,"method":"thread/resume","params":{"threadId":"` + damaged + `","baseInstructions":"SECRET-4"}}`)
	p.log(damaged) // once it is there
	run := p.command("exec", "resume", damaged, "SECRET-5")
	run.Env = append(run.Env, "TESTCLIENT=info:0")
	run.Run()
	if log := p.log(`"via":"argv"`); strings.Contains(log, "SECRET") || strings.Contains(log, "list the files") {
		t.Error(log)
	}
}

// The session that a command line names is checked before the client runs. hist prints at most one line, and the client is
// run whatever was found.
func TestCommandLines(t *testing.T) {
	for _, c := range []struct {
		args     string
		asked    string
		repaired bool
	}{
		{"resume -c model=o3 ID", damaged, true},
		{"exec resume --json -m gpt-5 ID go", damaged, true},
		{"exec --json resume --last", "--last", true},
		{"exec -C work resume --last", "--last", true},
		{"exec -C elsewhere resume --last", "--last", false},
		{"exec -C elsewhere resume --last --all", "--last", true},
		{"resume my-task", "my-task", true},
		{"fork ID", damaged, true},
		{"resume --unknown ID", damaged, true},
		{"resume 01a1fa85-0000-7000-8000-000000000000", "01a1fa85-0000-7000-8000-000000000000", false},
		{"-p resume exec hello", "", false},
		{"exec hello", "", false},
		{"resume", "", false},
	} {
		p := newPlace(t, "info:5")
		path := p.session()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		work := filepath.Join(p.dir, "work")
		for _, dir := range []string{work, filepath.Join(p.dir, "elsewhere")} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte("/home/dev/demo"), []byte(work)), 0o600); err != nil {
			t.Fatal(err)
		}
		names := fmt.Sprintf("{\"id\":%q,\"thread_name\":\"my-task\"}\n", damaged)
		if err := os.WriteFile(filepath.Join(p.dir, "home/session_index.jsonl"), []byte(names), 0o600); err != nil {
			t.Fatal(err)
		}
		before := fileSum(t, path)
		cmd := p.command(strings.Fields(strings.ReplaceAll(c.args, "ID", damaged))...)
		if !strings.Contains(c.args, "-C") {
			cmd.Dir = work
		}
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		cmd.Run()
		if cmd.ProcessState.ExitCode() != 5 || !strings.HasPrefix(stdout.String(), `{"args":`) || bytes.Count(stdout.Bytes(), []byte("\n")) != 1 {
			t.Errorf("%s: %v: %s", c.args, cmd.ProcessState, &stdout)
		}
		if repaired := fileSum(t, path) != before; repaired != c.repaired {
			t.Errorf("%s: repaired: %v", c.args, repaired)
		}
		lines := bytes.Count(stderr.Bytes(), []byte("\n"))
		if want := 1; c.asked == "" && lines != 0 || c.asked != "" && lines != want || c.repaired && !strings.HasPrefix(stderr.String(), "hist: repaired thread "+damaged) {
			t.Errorf("%s: %s", c.args, &stderr)
		}
		log, _ := os.ReadFile(filepath.Join(p.dir, "state/hist/decisions.jsonl"))
		if asked := bytes.Contains(log, []byte(`"via":"argv","caller":"codex"`)); asked != (c.asked != "") || asked && !bytes.Contains(log, []byte(`"asked":["`+c.asked+`"]`)) {
			t.Errorf("%s: %s", c.args, log)
		}
	}
}
