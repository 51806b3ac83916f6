package clienttest

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

const request = `{"model":"m","tools":[{"type":"function","name":"exec_command"}],"input":[{"type":"message","role":"user"},{"type":"reasoning"}]}`

func post(t *testing.T, s *Server) (status int, body string, err error) {
	t.Helper()
	resp, err := http.Post(s.URL()+"/responses", "application/json", strings.NewReader(request))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

func TestServerReplies(t *testing.T) {
	s := NewServer()
	defer s.Close()
	for _, c := range []struct {
		name   string
		reply  Reply
		status int
		has    string
		hasNot string
		broken bool // the connection ends in the middle
	}{
		{
			name: "completed", reply: Reply{Items: []Item{Shell("fc_1", "call_1", "echo <one>")}}, status: 200,
			has: `"arguments":"{\"cmd\": \"echo \u003cone\u003e\"`,
		},
		{name: "tokens", reply: Reply{Tokens: 3000}, status: 200, has: `"total_tokens":3000`},
		{
			name: "cut", reply: Reply{Kind: Cut, Items: []Item{Patch("ctc_1", "call_p", "f")}}, status: 200,
			has: `"call_id":"call_p"`, hasNot: "response.completed", broken: true,
		},
		{
			name: "failed", reply: Reply{Kind: Failed, Code: "server_is_overloaded"}, status: 200,
			has: `"code":"server_is_overloaded"`, hasNot: "response.completed",
		},
		{name: "http", reply: Reply{Kind: HTTPError, Status: 429, Body: "slow down"}, status: 429, has: "slow down"},
		{name: "slow", reply: Reply{
			Delay: 30 * time.Millisecond, Pause: time.Millisecond,
			Items: []Item{Message("m", "a"), Message("m", "b")},
		}, status: 200, has: "response.completed"},
		{name: "default", status: 200, has: `"text":"ok"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.Reset()
			if c.name != "default" {
				s.Queue(c.reply)
			}
			start := time.Now()
			status, body, err := post(t, s)
			if status != c.status || !strings.Contains(body, c.has) || c.hasNot != "" && strings.Contains(body, c.hasNot) {
				t.Errorf("status %d, body %s", status, body)
			}
			if (err != nil) != c.broken {
				t.Errorf("broken: %v", err)
			}
			if d := time.Since(start); d < c.reply.Delay {
				t.Errorf("answered after %v", d)
			}
			got := s.Requests()
			if len(got) != 1 || len(Input(got[0].Body)) != 2 {
				t.Errorf("requests: %+v", got)
			}
		})
	}
}

func TestServerHeld(t *testing.T) {
	s := NewServer()
	s.Queue(Reply{Kind: Held, Items: []Item{Message("m", "half")}})
	done := make(chan error, 1)
	go func() {
		_, _, err := post(t, s)
		done <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.WaitSent(ctx, 1); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		t.Fatalf("it ended: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	s.Close()
	<-done
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := s.WaitSent(short, 2); err == nil {
		t.Error("waited for a reply that never came, and got it")
	}
}

func TestServerListsNoModels(t *testing.T) {
	s := NewServer()
	defer s.Close()
	resp, err := http.Get(s.URL() + "/models")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(body), `"data":[]`) {
		t.Errorf("%s, %v", body, err)
	}
	if len(s.Requests()) != 0 {
		t.Error("a GET is no model request")
	}
}

func TestServerRelaysNothing(t *testing.T) {
	s := NewServer()
	defer s.Close()
	proxy, err := url.Parse(s.Proxy())
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
	if resp, err := client.Get("http://host.invalid/"); err != nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("%v, %v", resp, err)
	}
	if _, err := client.Get("https://other.invalid/"); err == nil {
		t.Error("a tunnel was opened")
	}
	if got := strings.Join(s.Blocked(), " "); got != "host.invalid other.invalid:443" {
		t.Errorf("blocked: %q", got)
	}
}

func TestShellTakesTheToolOnOffer(t *testing.T) {
	for tool, want := range map[string]string{
		"exec_command": `{\"cmd\": \"ls\", `, "shell": `{\"command\": [\"bash\", \"-lc\", \"ls\"], `, "shell_command": `{\"command\": \"ls\", `,
	} {
		item := string(Shell("fc", "call", "ls")(Tools{tool: true}))
		if !strings.Contains(item, want) || !strings.Contains(item, `"name":"`+tool+`"`) {
			t.Errorf("%s: %s", tool, item)
		}
	}
}
