package shim_test

import (
	"bytes"
	"cmp"
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

// frontEndsVar names the directory into which npm has installed the front ends, which holds node_modules.
const frontEndsVar = "HIST_FRONT_ENDS_DIR"

// frontEnd is a program that drives the client.
type frontEnd struct {
	name string
	// command says the prompts in a thread, or in a new one if there is none.
	command func(t *testing.T, codex, thread string, prompts ...string) []string
	each    bool // it takes a process for each prompt
	byHand  bool // it is too large for CI
	brief   bool // CI plays the flows only that say most
	old     bool // it loses its thread when a turn fails, and has it back by a rejoin
	fails   bool // it is played through every kind of failure
}

var frontEnds = []frontEnd{
	{name: "exec", each: true, command: func(_ *testing.T, codex, thread string, prompts ...string) []string {
		args := []string{codex, "exec", "--skip-git-repo-check", "--json"}
		if thread != "" {
			args = append(args, "resume", thread)
		}
		return append(args, prompts...)
	}},
	{name: "codex-sdk", command: byNode("codex-sdk.mjs", "@openai/codex-sdk"), brief: true},
	{name: "ai-sdk", command: byNode("ai-sdk.mjs", "ai-sdk-provider-codex-cli"), brief: true},
	{name: "happy", command: byNode("happy.mjs", "happy"), byHand: true},
	{name: "codex-acp", command: byEditor, brief: true},
	{name: "HAPI 0.17.1's messages", command: byMessages("0.17.1"), old: true, fails: true, brief: true},
	{name: "HAPI 0.17.4's messages", command: byMessages("0.17.4"), fails: true, byHand: true},
}

// byMessages plays a front end that is no longer available, by the messages that it sends.
func byMessages(version string) func(t *testing.T, codex, thread string, prompts ...string) []string {
	return func(t *testing.T, codex, thread string, prompts ...string) []string {
		t.Helper()
		if _, err := exec.LookPath("node"); err != nil {
			t.Skip(err)
		}
		return append([]string{"node", scriptFor(t, "hapi-0.17.mjs"), version, codex, cmp.Or(thread, "-")}, prompts...)
	}
}

// byEditor speaks to codex-acp, which has Codex linked in: behind the shim of its own name, or directly.
func byEditor(t *testing.T, codex, thread string, prompts ...string) []string {
	t.Helper()
	args := byNode("codex-acp.mjs", "@zed-industries/codex-acp")(t, codex, thread, prompts...)
	args[3] = realACP()
	if filepath.Base(filepath.Dir(codex)) == "shim" {
		args[3] = codex + "-acp"
	}
	return args
}

// realACP is codex-acp itself.
func realACP() string { return filepath.Join(os.Getenv(frontEndsVar), "node_modules/.bin/codex-acp") }

func scriptFor(t *testing.T, program string) string {
	t.Helper()
	script, err := filepath.Abs(filepath.Join("testdata/frontends", program))
	if err != nil {
		t.Fatal(err)
	}
	return script
}

// byNode runs a front end by a program of ours.
func byNode(program, module string) func(t *testing.T, codex, thread string, prompts ...string) []string {
	return func(t *testing.T, codex, thread string, prompts ...string) []string {
		t.Helper()
		dir := os.Getenv(frontEndsVar)
		modules := filepath.Join(dir, "node_modules")
		if _, err := os.Stat(filepath.Join(modules, module)); err != nil || dir == "" {
			t.Skipf("no %s: npm install --prefix DIR %s, and set %s to DIR", module, module, frontEndsVar)
		}
		return append([]string{"node", scriptFor(t, program), modules, codex, cmp.Or(thread, "-")}, prompts...)
	}
}

// talk says the prompts, and returns the thread. Where until is not nil, the front end and the client are killed during
// the last prompt, as soon as it is true.
func (f frontEnd) talk(t *testing.T, h *clienttest.Home, codex, thread string, until func() bool, prompts ...string) string {
	t.Helper()
	said := [][]string{prompts}
	if f.each {
		said = nil
		for _, p := range prompts {
			said = append(said, []string{p})
		}
	}
	for i, these := range said {
		var stop func() bool
		if i == len(said)-1 {
			stop = until
		}
		runIn(t, h, stop, f.old, f.command(t, codex, thread, these...))
		if thread == "" {
			paths := h.Rollouts()
			if len(paths) == 0 {
				t.Fatal("there is no session")
			}
			id, err := clienttest.SessionID(paths[0])
			if err != nil {
				t.Fatal(err)
			}
			thread = id
		}
	}
	return thread
}

// runIn runs a program in a client's home, until it ends or is to be killed, together with everything that it has started.
// Its failure is no error of the test.
func runIn(t *testing.T, h *clienttest.Home, until func() bool, rejoin bool, args []string) {
	t.Helper()
	c := exec.Command(args[0], args[1:]...)
	var stderr bytes.Buffer
	c.Dir, c.Env, c.Stderr = h.Work, append(h.Env(), "HIST_CODEX="+h.Bin.Path, "HIST_CODEX_ACP="+realACP(), "XDG_STATE_HOME="+filepath.Join(h.Root, "state")), &stderr
	if rejoin {
		c.Env = append(c.Env, "HIST_SHIM_REJOIN=1")
	}
	c.WaitDelay = time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	defer killHome(h.Root)
	for range 600 {
		select {
		case <-ended:
			t.Logf("%s: %s", filepath.Base(args[0]), &stderr)
			if until != nil {
				t.Error("it ended before it could be killed")
			}
			return
		case <-time.After(100 * time.Millisecond):
		}
		if until != nil && until() {
			killHome(h.Root)
			<-ended
			return
		}
	}
	killHome(h.Root)
	<-ended
	t.Errorf("%v never ended", args)
}

// killHome kills every process of a home, which is known by its environment.
func killHome(root string) {
	for range 2 {
		all, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range all {
			text, _ := os.ReadFile(path)
			if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))); bytes.Contains(text, []byte("HOME="+root+"\x00")) {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// damages are what a crash or a power loss can do to a session between two runs.
var damages = map[string]func(t *testing.T, text []byte) []byte{
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

// flow is what happens between the second prompt, which fails, and the follow-up.
type flow struct {
	name   string
	second clienttest.Reply // to the second prompt, where it is not a capacity error
	same   bool             // the follow-up comes from the same process
	killed string
	damage string
	lost   bool // without the shim the follow-up carries nothing
	long   bool // its run without the shim shows nothing that others don't: by hand only
	key    bool // it says most
}

var flows = []flow{
	{name: "capacity error, same process", same: true, long: true, key: true},
	{name: "another failure, same process", same: true, long: true, second: clienttest.Reply{Kind: clienttest.Failed, Code: "server_error", Message: "It failed."}},
	{name: "HTTP 500, same process", same: true, long: true, second: clienttest.Reply{Kind: clienttest.HTTPError, Status: 500, Body: "{}"}},
	{name: "HTTP 429, same process", same: true, long: true, second: clienttest.Reply{Kind: clienttest.HTTPError, Status: 429, Body: "{}"}},
	{name: "cut stream, same process", same: true, long: true, second: clienttest.Reply{Kind: clienttest.Cut}},
	{name: "capacity error, new process", long: true},
	{name: "killed while the model hangs", killed: "hang", long: true},
	{name: "killed in a tool", killed: "tool", long: true, key: true},
	{name: "new process, the first prompt's record lost", damage: "first prompt's record lost", lost: true, long: true},
	{name: "new process, the header lost", damage: "header lost", lost: true, key: true},
	{name: "new process, NULs at the end", damage: "NULs at the end", long: true},
	{name: "new process, a torn end", damage: "torn", long: true},
}

// allFlowsVar has every flow run without the shim, too, and writes the table of docs/dev/testing.md.
const allFlowsVar = "HIST_ALL_FLOWS"

// TestFrontEnds plays failures, kills and damage with real front ends and the real client. Behind the shim the follow-up's
// request carries the first prompt, always; without it, where nothing that it needs is damaged.
func TestFrontEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real clients")
	}
	bin, err := clienttest.Find("0.169.0")
	if err != nil {
		t.Skip(err)
	}
	place, all, results := newPlace(t, ""), os.Getenv(allFlowsVar) != "", newResults()
	t.Run("flows", func(t *testing.T) {
		for _, f := range frontEnds {
			for _, flow := range flows {
				if flow.second.Kind != clienttest.Completed && !f.fails {
					continue
				}
				for _, behind := range []bool{true, false} {
					if !all && (f.byHand || f.brief && !flow.key || !behind && flow.long) {
						continue
					}
					codex := place.shim
					if !behind {
						codex = bin.Path
					}
					t.Run(f.name+"/"+named(flow.name, behind), func(t *testing.T) {
						t.Parallel()
						got := flow.play(t, f, bin, codex)
						results.set(f.name, flow.name, behind, got)
						if got != (behind || !flow.lost && (!flow.same || !f.old)) {
							t.Errorf("the follow-up carries the context: %v", got)
						}
					})
				}
			}
		}
	})
	if all && !t.Failed() {
		var names, ends []string
		for _, f := range flows {
			names = append(names, f.name)
		}
		for _, f := range frontEnds {
			ends = append(ends, f.name)
		}
		results.write(t, "front ends", ends, names)
	}
}

// play plays a flow and says whether the follow-up's request carries the first prompt.
func (f flow) play(t *testing.T, front frontEnd, bin clienttest.Binary, codex string) bool {
	h := startHome(t, bin)
	first := clienttest.Reply{Items: []clienttest.Item{clienttest.Message("msg_1", "The first answer.")}}
	var until func() bool
	switch f.killed {
	case "":
		second := f.second
		if second.Kind == clienttest.Completed {
			second = full()
		}
		h.Server.Queue(first, second)
		if second.Code != overloaded {
			h.Server.Queue(second) // the client tries most things twice
		}
	case "hang":
		h.Server.Queue(first, clienttest.Reply{Kind: clienttest.Held})
		until = func() bool { return carries(h, "SECOND") }
	case "tool":
		h.Server.Queue(first, clienttest.Reply{Items: []clienttest.Item{clienttest.Shell("fc_1", "call_1", "sleep 600")}})
		until = func() bool { return onDisk(h, "call_1") }
	}
	if f.same {
		front.talk(t, h, codex, "", nil, "FIRST", "SECOND", "FOLLOWUP")
		return carries(h, "FIRST", "FOLLOWUP")
	}
	thread := front.talk(t, h, codex, "", until, "FIRST", "SECOND")
	path := h.Rollouts()
	if len(path) != 1 || !strings.Contains(path[0], thread) {
		t.Fatal(path, thread)
	}
	if f.damage != "" {
		text, err := os.ReadFile(path[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path[0], damages[f.damage](t, text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.Server.Reset()
	front.talk(t, h, codex, thread, nil, "FOLLOWUP")
	return carries(h, "FIRST", "FOLLOWUP")
}

// onDisk says whether a session of the home holds a text.
func onDisk(h *clienttest.Home, text string) bool {
	for _, path := range h.Rollouts() {
		if held, err := os.ReadFile(path); err == nil && bytes.Contains(held, []byte(text)) {
			return true
		}
	}
	return false
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

// overloaded is the answer of a provider without capacity, after which the client does not try again.
const overloaded = "server_is_overloaded"

// failsSecond answers the first prompt, and the second as a provider without capacity does.
func failsSecond() []clienttest.Reply {
	full := clienttest.Reply{Kind: clienttest.Failed, Code: overloaded, Message: "Our servers are currently overloaded. Please try again later."}
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
		answered      bool // none fails
		retried       bool // the caller goes back to the thread that failed
		more          string
		elsewhere     bool // in another directory
		carries       bool
		unknown       bool // no thread is known that could be used
	}{
		"as it is":               {},
		"rejoined":               {rejoin: true, carries: true},
		"the first turn fails":   {rejoin: true, first: true, carries: true},
		"cleared":                {rejoin: true, more: `,"sessionStartSource":"clear"`},
		"ephemeral":              {rejoin: true, more: `,"ephemeral":true`},
		"another directory":      {rejoin: true, elsewhere: true, unknown: true},
		"meant after an answer":  {rejoin: true, answered: true, unknown: true},
		"it goes back by itself": {rejoin: true, retried: true},
	} {
		t.Run(name, func(t *testing.T) {
			p, h := newPlace(t, ""), startHome(t, bin)
			cmd := exec.Command(p.shim, "app-server")
			cmd.Dir, cmd.Env = h.Work, append(h.Env(), "HIST_CODEX="+h.Bin.Path, "HIST_CODEX_ACP="+realACP(), "XDG_STATE_HOME="+filepath.Join(p.dir, "state"))
			if c.rejoin {
				cmd.Env = append(cmd.Env, "HIST_SHIM_REJOIN=1")
			}
			r := p.started(cmd)
			r.ask(`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"hapi-codex-client","version":"0.17.1"},"capabilities":{"experimentalApi":true}}}`)
			r.say(`{"method":"initialized"}`)
			begin := func(id, more string) string {
				dir := h.Work
				if c.elsewhere && id == "3" {
					dir = h.Root
				}
				answer := r.ask(`{"id":` + id + `,"method":"thread/start","params":{"cwd":"` + dir + `","approvalPolicy":"never","sandbox":"danger-full-access"` + more + `}}`)
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
			if c.answered {
				replies = replies[:1]
			}
			h.Server.Queue(replies...)
			thread := begin("2", "")
			turn(thread, "FIRST")
			if !c.first {
				turn(thread, "SECOND")
			}
			if c.retried {
				h.Server.Queue(failsSecond()[1])
				turn(thread, "AGAIN")
			}
			h.Server.Reset()
			next := begin("3", c.more)
			turn(next, "FOLLOWUP")
			if got := carries(h, "FIRST", "FOLLOWUP"); got != c.carries || (next == thread) != c.carries || thread == "" {
				t.Errorf("thread %s, then %s: the follow-up carries the context: %v", thread, next, got)
			}
			if !c.unknown {
				p.log(`"available":"` + thread)
			}
		})
	}
}
