package clienttest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// clients runs a test with every client that is installed.
func clients(t *testing.T, test func(t *testing.T, bin Binary)) {
	t.Helper()
	versions := Versions()
	if len(versions) == 0 {
		_, err := Find("")
		t.Skip(err)
	}
	for _, v := range versions {
		t.Run(v, func(t *testing.T) {
			bin, err := Find(v)
			if err != nil {
				t.Fatal(err)
			}
			test(t, bin)
		})
	}
}

// clientsSince runs a test with the clients from one version on.
func clientsSince(t *testing.T, version string, test func(t *testing.T, bin Binary)) {
	t.Helper()
	clients(t, func(t *testing.T, bin Binary) {
		if !versionLess(bin.Version, version) {
			test(t, bin)
		}
	})
}

func newHome(t *testing.T, bin Binary) *Home {
	t.Helper()
	h, err := NewHome(t.TempDir(), bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// A session that the client has just written comes back whole when it is
// resumed in another home.
func TestResumeClean(t *testing.T) {
	clients(t, func(t *testing.T, bin Binary) {
		wrote := newHome(t, bin)
		rec, err := Record(t.Context(), wrote, "clean")
		if err != nil {
			t.Fatal(err)
		}
		last := rec.Requests[len(rec.Requests)-1].Body
		h := newHome(t, bin)
		id, err := h.AddSession(rec.Rollout)
		if err != nil {
			t.Fatal(err)
		}
		res := h.Resume(t.Context(), id, Prompt)
		if res.Err != nil || res.ExitCode != 0 || len(res.Requests) != 1 || res.Rollout != h.Stored(id) {
			t.Fatalf("%+v", res)
		}
		// The last request of the recording had all but the closing answer
		// and no new prompt; a prompt is put there to be left out.
		recorded := append(Input(last), Message("msg_1", "All done.")(nil), []byte(prompt))
		c := Compare(recorded, Input(res.Requests[0].Body))
		if c.Clean < 10 || c.Sent != c.Clean || !c.OrderKept || c.Aborted != 0 {
			t.Errorf("%+v", c)
		}
		if b := append(wrote.Server.Blocked(), h.Server.Blocked()...); len(b) > 0 {
			t.Errorf("the client asked for other hosts: %v", b)
		}
	})
}

// A call that was running when the client was killed is told to the model as
// aborted: what the repair of such files is measured by.
func TestResumeKilledInTool(t *testing.T) {
	if testing.Short() {
		t.Skip("kills clients, which takes some seconds")
	}
	clients(t, func(t *testing.T, bin Binary) {
		h := newHome(t, bin)
		rec, err := Record(t.Context(), h, "kill_in_tool")
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(rec.Rollout)
		if err != nil {
			t.Fatal(err)
		}
		for _, output := range []string{`_output","call_id":"call_2"`, `_output","call_id":"call_p3"`} {
			if bytes.Contains(data, []byte(output)) {
				t.Errorf("%s is there", output)
			}
		}
		id, err := SessionID(rec.Rollout)
		if err != nil {
			t.Fatal(err)
		}
		res := h.Resume(t.Context(), id, Prompt)
		if res.ExitCode != 0 || len(res.Requests) != 1 {
			t.Fatalf("%+v", res)
		}
		if c := Compare(nil, Input(res.Requests[0].Body)); c.Aborted != 2 {
			t.Errorf("%+v", c)
		}
	})
}

func TestNothingButLoopback(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "secret")
	t.Setenv("HTTPS_PROXY", "http://proxy.invalid:3128")
	h := newHome(t, Binary{Version: "none", Path: "none"})
	hosts := regexp.MustCompile(`https?://([^/"]*)`)
	own := strings.TrimPrefix(h.Server.Proxy(), "http://")
	if !strings.HasPrefix(own, "127.0.0.1:") {
		t.Errorf("the stand-in listens on %s", own)
	}
	for _, text := range append(h.Env(), h.config()) {
		for _, m := range hosts.FindAllStringSubmatch(text, -1) {
			if m[1] != own {
				t.Errorf("%q names %s", text, m[1])
			}
		}
		if strings.Contains(text, "secret") {
			t.Errorf("%q was inherited", text)
		}
	}
}

func TestAddSession(t *testing.T) {
	const id = "01a1fa85-897f-7b72-87b7-f6ebde981289"
	const header = `{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"` + id + `"}}` + "\n"
	for name, want := range map[string]string{
		"rollout-2026-11-20T19-53-37-01a1fa85-897f-7b72-87b7-000000000000.jsonl": "2026/11/20/rollout-2026-11-20T19-53-37-01a1fa85-897f-7b72-87b7-000000000000.jsonl",
		"repaired.jsonl": "2026/01/02/rollout-2026-01-02T03-04-05-" + id + ".jsonl",
	} {
		h := newHome(t, Binary{})
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(header), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := h.AddSession(path)
		if err != nil {
			t.Fatal(err)
		}
		want = filepath.Join(h.Codex, "sessions", filepath.FromSlash(want))
		if h.Stored(got) != want {
			t.Errorf("%s is %s, want %s", got, h.Stored(got), want)
		}
		if data, err := os.ReadFile(want); err != nil || string(data) != header {
			t.Errorf("%q, %v", data, err)
		}
	}
}

func TestFindSaysHowToGetIt(t *testing.T) {
	t.Setenv(DirVar, t.TempDir())
	_, err := Find("0.1.2")
	if _, ok := errors.AsType[*NotFoundError](err); !ok || !strings.Contains(err.Error(), "npm install --prefix .codex-bin/0.1.2 @openai/codex@0.1.2") {
		t.Errorf("%v", err)
	}
	if v := Versions(); len(v) != 0 {
		t.Errorf("%v", v)
	}
}

func TestVersionOrder(t *testing.T) {
	if !versionLess("0.79.0", "0.114.0") || versionLess("0.114.0", "0.79.0") || versionLess("1.0", "1.0") {
		t.Error("0.79.0 is older than 0.114.0")
	}
}
