package shim_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex/clienttest"
)

// frontEndsVar names the directory into which npm has installed the front ends, which holds node_modules.
const frontEndsVar = "HIST_FRONT_ENDS_DIR"

// conversation runs a front end: it says the prompts in a thread, or in a new one if there is none, and returns the thread.
type conversation func(t *testing.T, h *clienttest.Home, codex, thread string, prompts ...string) string

// byNode runs a front end's program of ours.
func byNode(program, module string) conversation {
	return func(t *testing.T, h *clienttest.Home, codex, thread string, prompts ...string) string {
		t.Helper()
		dir := os.Getenv(frontEndsVar)
		modules := filepath.Join(dir, "node_modules")
		if _, err := os.Stat(filepath.Join(modules, module)); err != nil || dir == "" {
			t.Skipf("no %s: npm install --prefix DIR %s, and set %s to DIR", module, module, frontEndsVar)
		}
		script, err := filepath.Abs(filepath.Join("testdata/frontends", program))
		if err != nil {
			t.Fatal(err)
		}
		if thread == "" {
			thread = "-"
		}
		out := runIn(t, h, "node", append([]string{script, modules, codex, thread}, prompts...)...)
		words := strings.Fields(out)
		if len(words) == 0 {
			t.Fatalf("%s named no thread", program)
		}
		return words[len(words)-1]
	}
}

// byExec runs the command itself, as a shell script does.
func byExec(t *testing.T, h *clienttest.Home, codex, thread string, prompts ...string) string {
	t.Helper()
	for _, prompt := range prompts {
		args := []string{"exec", "--skip-git-repo-check", "--json"}
		if thread != "" {
			args = append(args, "resume", thread)
		}
		out := runIn(t, h, codex, append(args, prompt)...)
		if _, rest, found := strings.Cut(out, `"thread_id":"`); found && thread == "" {
			thread = rest[:36]
		}
	}
	return thread
}

// runIn runs a program in a client's home and returns its standard output. That it fails is its own affair.
func runIn(t *testing.T, h *clienttest.Home, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	c.Dir, c.Env, c.Stdout, c.Stderr = h.Work, append(h.Env(), "HIST_CODEX="+h.Bin.Path, "XDG_STATE_HOME="+filepath.Join(h.Root, "state")), &stdout, &stderr
	if err := c.Run(); err != nil && ctx.Err() != nil {
		t.Fatalf("%s %v: %v: %s", program, args, err, &stderr)
	}
	t.Logf("%s: %s", filepath.Base(program), &stderr)
	return stdout.String()
}

// damages are what is done to a session between two runs, as a crash or a power loss does.
var damages = map[string]func(t *testing.T, text []byte) []byte{
	"none":        func(t *testing.T, text []byte) []byte { return text },
	"header lost": func(t *testing.T, text []byte) []byte { _, rest, _ := bytes.Cut(text, []byte("\n")); return rest },
	"first prompt's record lost": func(t *testing.T, text []byte) []byte {
		var kept [][]byte
		for _, line := range bytes.SplitAfter(text, []byte("\n")) {
			if !bytes.Contains(line, []byte(`"type":"response_item"`)) || !bytes.Contains(line, []byte("FIRST")) {
				kept = append(kept, line)
			}
		}
		if len(kept) == bytes.Count(text, []byte("\n"))+1 {
			t.Fatal("there is no such record")
		}
		return bytes.Join(kept, nil)
	},
	"NULs at the end": func(t *testing.T, text []byte) []byte { return append(text, make([]byte, 700)...) },
	"torn":            func(t *testing.T, text []byte) []byte { return text[:len(text)-20] },
}

// TestFrontEnds plays a capacity error, a new process and damage with real front ends and the real client. Behind the shim
// the follow-up's request carries the first prompt, always; without it, where nothing is damaged.
func TestFrontEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real clients")
	}
	bin, err := clienttest.Find("0.169.0")
	if err != nil {
		t.Skip(err)
	}
	place := newPlace(t, "")
	for name, talk := range map[string]conversation{
		"exec": byExec, "codex-sdk": byNode("codex-sdk.mjs", "@openai/codex-sdk"), "ai-sdk": byNode("ai-sdk.mjs", "ai-sdk-provider-codex-cli"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("same process", func(t *testing.T) {
				h := startHome(t, bin)
				h.Server.Queue(failsSecond()...)
				talk(t, h, place.shim, "", "FIRST", "SECOND", "FOLLOWUP")
				if !carries(h, "FIRST", "FOLLOWUP") {
					t.Error("the follow-up does not carry the context")
				}
			})
			for damage, do := range damages {
				for _, behind := range []bool{true, false} {
					if !behind && damage != "header lost" {
						continue // one is enough to see that the shim makes the difference
					}
					what := damage
					codex := place.shim
					if !behind {
						what, codex = damage+", without hist", bin.Path
					}
					t.Run(what, func(t *testing.T) {
						h := startHome(t, bin)
						h.Server.Queue(failsSecond()...)
						thread := talk(t, h, codex, "", "FIRST", "SECOND")
						path := h.Rollouts()
						if len(path) != 1 || !strings.Contains(path[0], thread) {
							t.Fatal(path, thread)
						}
						text, err := os.ReadFile(path[0])
						if err != nil {
							t.Fatal(err)
						}
						if err := os.WriteFile(path[0], do(t, text), 0o600); err != nil {
							t.Fatal(err)
						}
						h.Server.Reset()
						talk(t, h, codex, thread, "FOLLOWUP")
						if got := carries(h, "FIRST", "FOLLOWUP"); got != behind {
							t.Errorf("the follow-up carries the context: %v", got)
						}
					})
				}
			}
		})
	}
}

func startHome(t *testing.T, bin clienttest.Binary) *clienttest.Home {
	t.Helper()
	h, err := clienttest.NewHome("", bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if blocked := h.Server.Blocked(); len(blocked) > 0 {
			t.Logf("it asked for %v, and was refused", blocked)
		}
		h.Close()
	})
	return h
}

// failsSecond answers the first prompt, and the second with what a provider says that has no room.
func failsSecond() []clienttest.Reply {
	full := clienttest.Reply{Kind: clienttest.Failed, Code: "server_is_overloaded", Message: "Our servers are currently overloaded. Please try again later."}
	return []clienttest.Reply{{Items: []clienttest.Item{clienttest.Message("msg_1", "The first answer.")}}, full}
}

// carries says whether the newest request holds both marks in what users said.
func carries(h *clienttest.Home, marks ...string) bool {
	requests := h.Server.Requests()
	if len(requests) == 0 {
		return false
	}
	said := ""
	for _, item := range clienttest.Input(requests[len(requests)-1].Body) {
		if bytes.Contains(item, []byte(`"role":"user"`)) {
			said += string(item)
		}
	}
	for _, m := range marks {
		if !strings.Contains(said, m) {
			return false
		}
	}
	return true
}

// TestLostContextWithTheClient plays what HAPI 0.17.1 says, word for word in its methods, to the real client: a capacity
// error in the second turn, and a new thread for the follow-up.
func TestLostContextWithTheClient(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a real client")
	}
	bin, err := clienttest.Find("0.169.0")
	if err != nil {
		t.Skip(err)
	}
	for name, c := range map[string]struct {
		rejoin, first bool // the first turn fails, not the second
		more          string
		carries       bool
	}{
		"as it is":             {},
		"rejoined":             {rejoin: true, carries: true},
		"the first turn fails": {rejoin: true, first: true, carries: true},
		"cleared":              {rejoin: true, more: `,"sessionStartSource":"clear"`},
		"ephemeral":            {rejoin: true, more: `,"ephemeral":true`},
	} {
		t.Run(name, func(t *testing.T) {
			p, h := newPlace(t, ""), startHome(t, bin)
			cmd := exec.Command(p.shim, "app-server")
			cmd.Dir, cmd.Env = h.Work, append(h.Env(), "HIST_CODEX="+h.Bin.Path, "XDG_STATE_HOME="+filepath.Join(p.dir, "state"))
			if c.rejoin {
				cmd.Env = append(cmd.Env, "HIST_SHIM_REJOIN=1")
			}
			r := p.started(cmd)
			r.ask(`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"hapi-codex-client","version":"0.17.1"},"capabilities":{"experimentalApi":true}}}`)
			r.say(`{"method":"initialized"}`)
			begin := func(id, more string) string {
				answer := r.ask(`{"id":` + id + `,"method":"thread/start","params":{"cwd":"` + h.Work + `","approvalPolicy":"never","sandbox":"danger-full-access"` + more + `}}`)
				return gjson.Get(answer, "result.thread.id").String()
			}
			turn := func(thread, prompt string) {
				r.say(`{"id":9,"method":"turn/start","params":{"threadId":"` + thread + `","input":[{"type":"text","text":"` + prompt + `"}]}}`)
				r.until(`"method":"turn/completed"`)
			}
			replies := failsSecond()
			if c.first {
				replies = replies[1:]
			}
			h.Server.Queue(replies...)
			thread := begin("2", "")
			turn(thread, "FIRST")
			if !c.first {
				turn(thread, "SECOND")
			}
			h.Server.Reset()
			next := begin("3", c.more)
			turn(next, "FOLLOWUP")
			if got := carries(h, "FIRST", "FOLLOWUP"); got != c.carries || (next == thread) != c.carries || thread == "" {
				t.Errorf("thread %s, then %s: the follow-up carries the context: %v", thread, next, got)
			}
			p.log(`"available":"` + thread)
		})
	}
}
