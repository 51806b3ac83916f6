package shim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/shim/front"
)

// TestLostContext plays docs/lost-context.md: its commands, its messages, and what it says of the log.
func TestLostContext(t *testing.T) {
	text, err := os.ReadFile("../../docs/lost-context.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	commands := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(page)
	traffic := regexp.MustCompile("(?s)```\n(thread/start.*?)```").FindStringSubmatch(page)
	if commands == nil || traffic == nil {
		t.Fatal("the page has no commands, or no messages")
	}
	for _, rejoin := range []bool{true, false} {
		p := newPlace(t, "app")
		received := filepath.Join(p.dir, "received")
		p.env = append(p.env, "RECEIVED="+received, "PATH="+p.bin+":"+filepath.Join(p.dir, "real")+":"+os.Getenv("PATH"))
		install := commands[1]
		if !rejoin {
			install = strings.Replace(install, " --rejoin", "", 1)
		}
		script := exec.Command("sh", "-ec", install+"\ncommand -v codex")
		script.Dir, script.Env = p.dir, p.env
		out, err := script.CombinedOutput()
		p.shim = filepath.Join(p.dir, ".local/share/hist/bin/codex")
		if err != nil || !strings.Contains(string(out), "\n"+p.shim+"\n") {
			t.Fatalf("%v: %s", err, out)
		}
		r := p.start("app-server")
		r.ask(hello)
		thread, prompts := "", 0
		for line := range strings.Lines(traffic[1]) {
			switch words := strings.Fields(line); words[0] {
			case "thread/start":
				answer := r.ask(`{"id":1,"method":"thread/start","params":{"cwd":"/work"}}`)
				thread = regexp.MustCompile(`"thread":{"id":"([^"]+)"`).FindStringSubmatch(answer)[1]
			case "turn/start":
				prompts++
				text := "go on"
				if strings.Contains(line, "systemError") {
					text = "FAIL"
				}
				r.ask(`{"id":2,"method":"turn/start","params":{"threadId":"` + thread + `","text":"` + text + `"}}`)
				r.until("turn/completed")
			}
		}
		const first, second = "01a1fa85-0000-7000-8000-000000000001", "01a1fa85-0000-7000-8000-000000000002"
		want, arrow := second, first+" → new .*resuming lost threads is not switched on"
		if rejoin {
			want, arrow = first, first+" → "+first+" "
		}
		if prompts != 3 || thread != want {
			t.Errorf("rejoin %v: %d prompts, the last to %s", rejoin, prompts, thread)
		}
		p.log(`"available":"` + first)
		if list := p.hist("list", "--decisions"); !regexp.MustCompile(arrow).MatchString(list) {
			t.Errorf("rejoin %v: %s", rejoin, list)
		}
		got, err := os.ReadFile(received)
		if resumed := strings.Contains(string(got), `"method":"thread/resume"`); err != nil || resumed != rejoin {
			t.Errorf("rejoin %v: %v: %s", rejoin, err, got)
		}
	}
}

// Installing the shim, asking for its status, and removing it.
func TestInstall(t *testing.T) {
	p := newPlace(t, "info:0")
	run := func(want int, words string, args ...string) {
		t.Helper()
		c := exec.Command(filepath.Join(p.bin, "hist"), append([]string{"shim"}, args...)...)
		c.Dir, c.Env = p.dir, p.env
		out, _ := c.CombinedOutput()
		if c.ProcessState.ExitCode() != want || !strings.Contains(string(out), words) {
			t.Errorf("%v: exit %d, want %d and %q: %s", args, c.ProcessState.ExitCode(), want, words, out)
		}
	}
	real := filepath.Join(p.dir, "real")
	run(0, "PATH reaches it", "install", "shim") // again
	run(0, "PATH reaches "+p.shim+" first: put "+p.dir+"/late before ", "install", "late")
	if err := os.Mkdir(filepath.Join(p.dir, "other"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "other/codex"), []byte("a client"), 0o755); err != nil {
		t.Fatal(err)
	}
	run(3, "it is not a shim of hist's; nothing was changed", "install", "other")
	run(3, "it is not a shim of hist's; nothing was changed", "remove", "other")
	run(0, "removed "+p.dir+"/late/codex", "remove", "late")
	run(3, "nothing was changed", "remove", "late")
	run(0, "a shim\n  client         "+real+"/codex, version", "status")
	run(2, "takes one directory", "install")
	run(2, "hist can't run in front of \"claude\"", "install", "late", "claude")
	run(0, "PATH reaches "+p.shim+"-acp first", "install", "late", "codex-acp")
	if _, err := os.Lstat(filepath.Join(p.dir, "late/codex")); err == nil {
		t.Error("a shim that was not asked for")
	}
	run(0, "removed "+p.dir+"/late/codex-acp", "remove", "late")
	run(2, "takes install DIR", "start")
	run(2, "takes install DIR")
	p.link("real", "client", "codex-acp") // a program that is there is stood in front of, too
	run(0, "installed "+p.dir+"/both/codex-acp", "install", "both")
	run(0, "PATH reaches   "+p.shim+"-acp, a shim\n  client         "+real+"/codex-acp, version", "status")
	p.session()
	p.command("resume", damaged).Run()
	run(0, damaged+" → "+damaged, "status")
	p.env = append(p.env, "PATH="+real)
	run(1, "not a shim", "status")
	p.env = append(p.env, "PATH="+filepath.Join(p.dir, "shim"))
	run(1, "client         none", "status")
}

// A process that becomes the client, or a relay between streams, initialises none of the packages that hist itself needs.
func TestStartsLight(t *testing.T) {
	p := newPlace(t, "info:0")
	command := p.command("exec", "hello")
	relay := exec.Command(filepath.Join(p.bin, "hist"), "note", "codex", "asked", "why")
	relay.Args[0], relay.Env = front.RelayName, p.env
	for name, c := range map[string]*exec.Cmd{"command": command, "relay": relay} {
		c.Env = append(c.Env, "GODEBUG=inittrace=1")
		out, err := c.CombinedOutput()
		trace, _, _ := strings.Cut(string(out), `{"args"`)
		if err != nil || !strings.Contains(trace, "init os ") {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		trace, _, _ = strings.Cut(strings.Replace(trace, "init internal/bytealg ", "", 1), "init internal/bytealg ") // the client's is behind it
		heavy := []string{"modernc.org/sqlite", "modernc.org/libc ", "hist/lint", "hist/cmd", "hist/internal/agent", "net ", "net/http", "urfave", "blackfriday", "compress/zstd"}
		if name == "command" {
			heavy = append(heavy, "encoding/json", "modernc.org/", "unicode ")
		}
		for _, heavy := range heavy {
			if strings.Contains(trace, "init "+heavy) || strings.Contains(trace, "/"+heavy) {
				t.Errorf("a %s initialises %s:\n%s", name, heavy, trace)
			}
		}
	}
}
