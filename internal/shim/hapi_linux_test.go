package shim_test

import (
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
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex/clienttest"
)

// hapi is a hub and a runner of HAPI's on loopback, in whose PATH the shim stands first.
type hapi struct {
	t     *testing.T
	h     *clienttest.Home
	url   string
	token string
	env   []string
	home  string
}

func startHapi(t *testing.T, p *place, h *clienttest.Home) *hapi {
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
	t.Cleanup(a.end)
	for i, args := range [][]string{{"hub"}, {"runner", "start-sync"}} {
		log, err := os.Create(filepath.Join(h.Root, args[0]+".log"))
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command("node", append([]string{script}, args...)...)
		c.Dir, c.Env, c.Stdout, c.Stderr = h.Work, a.env, log, log
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		go c.Wait()
		if i == 0 {
			a.wait("the hub", func() bool { _, err := http.Get(a.url); return err == nil })
		}
	}
	a.token = gjson.Get(a.call("POST", "/api/auth", `{"accessToken":"token"}`), "token").String()
	return a
}

// end ends all that HAPI has started, which it does not do itself.
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

// TestHapi drives HAPI as its page does: a first answer, a capacity error, a follow-up, all over its websocket engine. The
// relay stands at the engine's socket, and the follow-up's request carries the first prompt.
func TestHapi(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a real front end")
	}
	bin, err := clienttest.Find("0.169.0")
	if err != nil {
		t.Skip(err)
	}
	p, h := newPlace(t, ""), startHome(t, bin)
	a := startHapi(t, p, h)
	machine := ""
	a.wait("the runner", func() bool {
		machine = gjson.Get(a.call("GET", "/api/machines", ""), "machines.0.id").String()
		return machine != ""
	})
	h.Server.Queue(failsSecond()...)
	body, err := json.Marshal(map[string]any{"directory": h.Work, "agent": "codex", "yolo": true})
	if err != nil {
		t.Fatal(err)
	}
	answer := a.call("POST", "/api/machines/"+machine+"/spawn", string(body))
	session := gjson.Get(answer, "sessionId").String()
	if session == "" {
		t.Fatal(answer)
	}
	for _, prompt := range []string{"FIRST", "SECOND", "FOLLOWUP"} {
		a.call("POST", "/api/sessions/"+session+"/messages", fmt.Sprintf(`{"text":%q}`, prompt))
		a.wait("the request with "+prompt, func() bool { return carries(h, prompt) })
		time.Sleep(time.Second) // the end of the turn is shown to nobody but the page
	}
	if !carries(h, "FIRST", "FOLLOWUP") {
		t.Error("the follow-up does not carry the context")
	}
	p.log(`"via":"thread/start","caller":`)
}
