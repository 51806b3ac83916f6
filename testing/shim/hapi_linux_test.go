package shim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

// hapi is HAPI's hub and runner on loopback, with the shim first in their PATH.
type hapi struct {
	t     *testing.T
	h     *clienttest.Home
	url   string
	token string
	env   []string
	home  string

	script  string
	session string
}

func startHapi(t *testing.T, p *place, h *clienttest.Home, more ...string) *hapi {
	t.Helper()
	script := filepath.Join(os.Getenv(frontEndsVar), "node_modules/@twsxtd/hapi/bin/hapi.cjs")
	if _, err := os.Stat(script); err != nil || os.Getenv(frontEndsVar) == "" {
		t.Skipf("no HAPI: npm install --prefix DIR @twsxtd/hapi, and set %s to DIR", frontEndsVar)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	a := &hapi{t: t, h: h, url: "http://127.0.0.1:" + port, home: filepath.Join(h.Root, "hapi")}
	if err := os.MkdirAll(a.home, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, v := range h.Env() {
		if path, found := strings.CutPrefix(v, "PATH="); found {
			v = "PATH=" + filepath.Dir(p.shim) + ":" + path
		}
		a.env = append(a.env, v)
	}
	a.env = append(a.env, "HIST_CODEX="+h.Bin.Path, "XDG_STATE_HOME="+filepath.Join(p.dir, "state"),
		"HAPI_HOME="+a.home, "CLI_API_TOKEN=token", "HAPI_API_URL="+a.url, "HAPI_LISTEN_HOST=127.0.0.1", "HAPI_LISTEN_PORT="+port)
	a.env = append(a.env, more...)
	t.Cleanup(a.end)
	a.script = script
	a.begin()
	return a
}

// hub starts the hub and waits until it answers.
func (a *hapi) hub() {
	a.t.Helper()
	a.run("hub")
	a.wait("the hub", func() bool {
		res, err := http.Get(a.url)
		if err == nil {
			res.Body.Close()
		}
		return err == nil
	})
}

// begin starts the hub and the runner, and logs in.
func (a *hapi) begin() {
	a.t.Helper()
	a.hub()
	a.run("runner", "start-sync")
	a.login()
}

func (a *hapi) login() {
	a.t.Helper()
	a.token = gjson.Get(a.call("POST", "/api/auth", `{"accessToken":"token"}`), "token").String()
}

// run starts one of HAPI's parts.
func (a *hapi) run(args ...string) {
	a.t.Helper()
	log, err := os.OpenFile(filepath.Join(a.h.Root, args[0]+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		a.t.Fatal(err)
	}
	defer log.Close()
	c := exec.Command("node", append([]string{a.script}, args...)...)
	c.Dir, c.Env, c.Stdout, c.Stderr = a.h.Work, a.env, log, log
	if err := c.Start(); err != nil {
		a.t.Fatal(err)
	}
	go c.Wait()
}

// end ends everything that HAPI has started, because HAPI does not do that itself.
func (a *hapi) end() {
	if a.t.Failed() {
		for _, name := range []string{"hub.log", "runner.log"} {
			text, _ := os.ReadFile(filepath.Join(a.h.Root, name))
			a.t.Logf("%s: %s", name, text[max(0, len(text)-2000):])
		}
	}
	killHome(a.h.Root)
}

func (a *hapi) wait(what string, done func() bool) {
	a.t.Helper()
	for range 600 {
		if done() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	a.t.Fatalf("%s never came", what)
}

func (a *hapi) call(method, path, body string) string {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.url+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+a.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(text)
}

// machine waits for the runner and returns its id.
func (a *hapi) machine() (id string) {
	a.t.Helper()
	a.wait("the runner", func() bool {
		id = gjson.Get(a.call("GET", "/api/machines", ""), "machines.#(active==true).id").String()
		return id != ""
	})
	return id
}

// spawn begins a session, as the page does.
func (a *hapi) spawn() {
	a.t.Helper()
	body, err := json.Marshal(map[string]any{"directory": a.h.Work, "agent": "codex", "yolo": true})
	if err != nil {
		a.t.Fatal(err)
	}
	answer := a.call("POST", "/api/machines/"+a.machine()+"/spawn", string(body))
	if a.session = gjson.Get(answer, "sessionId").String(); a.session == "" {
		a.t.Fatal(answer)
	}
}

// active says whether the hub considers the session running.
func (a *hapi) active() bool {
	return gjson.Get(a.call("GET", "/api/sessions/"+a.session, ""), "session.active").Bool()
}

// say sends a prompt; a session that is not active is resumed first, as the page does. It says whether the hub took it.
func (a *hapi) say(prompt string) bool {
	a.t.Helper()
	if !a.active() {
		a.machine()
		answer := a.call("POST", "/api/sessions/"+a.session+"/resume", "{}")
		a.t.Logf("resumed: %s", answer)
		if id := gjson.Get(answer, "sessionId").String(); id != "" {
			a.session = id
		}
	}
	answer := a.call("POST", "/api/sessions/"+a.session+"/messages", fmt.Sprintf(`{"text":%q}`, prompt))
	refused := gjson.Get(answer, "error").Exists()
	if refused {
		a.t.Logf("said: %s", answer)
	}
	return !refused
}

// processes are those of this HAPI whose command line has one of the words in it.
func (a *hapi) processes(words ...string) (found []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		env, _ := os.ReadFile(path)
		if !bytes.Contains(env, []byte("HOME="+a.h.Root+"\x00")) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		for _, w := range words {
			if bytes.Contains(bytes.ReplaceAll(line, []byte{0}, []byte(" ")), []byte(w)) {
				found = append(found, pid)
				break
			}
		}
	}
	return found
}

// kill kills what a flow names, and starts what the user would start again.
func (a *hapi) kill(what string) {
	a.t.Helper()
	words := map[string][]string{"app-server": {" app-server "}, "session": {" codex --", " app-server "}, "hub": {" hub"}}[what]
	if what == "everything" {
		killHome(a.h.Root)
		a.begin()
		return
	}
	pids := a.processes(words...)
	if len(pids) == 0 {
		a.t.Fatalf("there is no %s to kill", what)
	}
	for _, pid := range pids {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		a.t.Logf("killed: %s", bytes.ReplaceAll(line, []byte{0}, []byte(" ")))
		syscall.Kill(pid, syscall.SIGKILL)
	}
	switch what {
	case "hub":
		a.hub()
		a.login()
	case "session":
		a.wait("the end of the session", func() bool { return !a.active() })
	}
}

// hapiFlow is what happens to a session of HAPI's.
type hapiFlow struct {
	name   string
	second clienttest.Reply // to the second prompt
	tool   bool             // the second prompt's tool runs
	killed string
	early  bool // the follow-up does not wait until the session is back
	damage string
	stuck  bool // without the shim no follow-up leaves, or without the context
	inCI   bool
}

func full() clienttest.Reply { return failsSecond()[1] }

var hapiFlows = []hapiFlow{
	{name: "capacity error", second: full(), inCI: true},
	{name: "another failure", second: clienttest.Reply{Kind: clienttest.Failed, Code: "server_error", Message: "It failed."}},
	{name: "HTTP 500", second: clienttest.Reply{Kind: clienttest.HTTPError, Status: 500, Body: "{}"}},
	{name: "HTTP 429", second: clienttest.Reply{Kind: clienttest.HTTPError, Status: 429, Body: "{}"}},
	{name: "cut stream", second: clienttest.Reply{Kind: clienttest.Cut}},
	{name: "capacity error; hub killed, follow-up once the session is back", second: full(), killed: "hub"},
	{name: "capacity error; hub killed, follow-up at once", second: full(), killed: "hub", early: true},
	{name: "capacity error; session killed", second: full(), killed: "session"},
	{name: "capacity error; everything killed", second: full(), killed: "everything"},
	{name: "cut stream; session killed", second: clienttest.Reply{Kind: clienttest.Cut}, killed: "session"},
	{name: "hanging answer; session killed", second: clienttest.Reply{Kind: clienttest.Held}, killed: "session"},
	{name: "running tool; session killed", tool: true, killed: "session"},
	{name: "running tool; everything killed", tool: true, killed: "everything"},
	{name: "capacity error; app-server killed", second: full(), killed: "app-server"},
	{name: "hanging answer; app-server killed", second: clienttest.Reply{Kind: clienttest.Held}, killed: "app-server"},
	{name: "capacity error; session killed, the header lost", second: full(), killed: "session", damage: "header lost", stuck: true, inCI: true},
	{name: "capacity error; session killed, the first prompt's record lost", second: full(), killed: "session", damage: "first prompt's record lost", stuck: true},
	{name: "capacity error; session killed, NULs at the end", second: full(), killed: "session", damage: "NULs at the end"},
	{name: "capacity error; session killed, a torn end", second: full(), killed: "session", damage: "torn"},
}

// TestHapi drives HAPI as its page does: a first answer, a second prompt that fails, what else happens, and a follow-up, all
// over its websocket engine. The relay stands at the engine's socket, and the follow-up's request carries the first prompt.
func TestHapi(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a real front end")
	}
	bin, err := clienttest.Find("0.169.0")
	if err != nil {
		t.Skip(err)
	}
	all := os.Getenv(allFlowsVar) != ""
	results := newResults()
	t.Run("flows", func(t *testing.T) {
		for _, f := range hapiFlows {
			for _, behind := range []bool{true, false} {
				if all || f.inCI && behind {
					t.Run(named(f.name, behind), func(t *testing.T) {
						t.Parallel()
						got := f.play(t, bin, behind)
						results.set("HAPI 0.30.7", f.name, behind, got)
						if got != (behind || !f.stuck) {
							t.Errorf("the follow-up carries the context: %v", got)
						}
					})
				}
			}
		}
	})
	if all && !t.Failed() {
		results.write(t, "HAPI", []string{"HAPI 0.30.7"}, hapiNames())
	}
}

func hapiNames() (names []string) {
	for _, f := range hapiFlows {
		names = append(names, f.name)
	}
	return names
}

// play plays a flow and says whether the follow-up's request carries the first prompt.
func (f hapiFlow) play(t *testing.T, bin clienttest.Binary, behind bool) bool {
	t.Helper()
	p, h := newPlace(t, ""), startHome(t, bin)
	mode := "HIST_SHIM=repair"
	if !behind {
		mode = "HIST_SHIM=off"
	}
	a := startHapi(t, p, h, mode)
	a.spawn()
	second := f.second
	if f.tool {
		second = clienttest.Reply{Items: []clienttest.Item{clienttest.Shell("fc_1", "call_1", "sleep 600")}}
	}
	h.Server.Queue(failsSecond()[0], second)
	if second.Kind != clienttest.Completed && second.Code != overloaded && second.Kind != clienttest.Held {
		h.Server.Queue(second) // the client tries most things twice
	}
	for _, prompt := range []string{"FIRST", "SECOND"} {
		a.say(prompt)
		a.wait("the request with "+prompt, func() bool { return carries(h, prompt) })
		time.Sleep(time.Second) // the end of the turn is shown to nobody but the page
	}
	if f.tool {
		a.wait("the tool", func() bool { return onDisk(h, "call_1") })
	}
	if f.killed != "" {
		a.kill(f.killed)
	}
	if f.damage != "" {
		path := h.Rollouts()
		if len(path) != 1 {
			t.Fatal(path)
		}
		text, err := os.ReadFile(path[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path[0], damages[f.damage](t, text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if f.killed == "hub" && !f.early {
		a.wait("the session", a.active)
	}
	h.Server.Reset()
	sent := len(h.Server.Requests())
	taken := a.say("FOLLOWUP")
	for range 30 {
		time.Sleep(time.Second)
		if carries(h, "FOLLOWUP") {
			break
		}
		if !taken || !a.active() { // the session has ended meanwhile, and the page resumes it
			taken = a.say("FOLLOWUP")
		}
	}
	t.Logf("%d requests before, %d after", sent, len(h.Server.Requests()))
	if behind {
		p.log(`"via":"thread/start","caller":`)
	}
	return carries(h, "FIRST", "FOLLOWUP")
}
