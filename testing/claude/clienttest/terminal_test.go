package clienttest

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/agent/all"
)

var inTerminals = flag.Bool("terminal", false, "have clients write sessions in a terminal, as many as -lives says; takes minutes, and tmux")

// TestContinueAtATerminal asks the newest client at a terminal, and hist, which session it continues: not what claude -p wrote, although
// that is newer, nor one of another directory. claude -p --continue takes that of claude -p.
func TestContinueAtATerminal(t *testing.T) {
	if !*inTerminals {
		t.Skip("without -terminal")
	}
	h := newest(t)
	l := &life{Home: h, r: rand.New(rand.NewPCG(1, 1))}
	l.furnish(t)
	l.settle(t)
	m := &terminal{life: l, t: t, socket: fmt.Sprintf("hist-%d-last", os.Getpid())}
	defer m.tmux("kill-server")
	holds := func(prompt string) string {
		t.Helper()
		paths, err := filepath.Glob(filepath.Join(h.Projects(), "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			if text, err := os.ReadFile(p); err == nil && strings.Contains(string(text), prompt) {
				return p
			}
		}
		t.Fatalf("%q is in no session:\n%s", prompt, m.screen())
		return ""
	}
	says := func(prompt string, args ...string) string {
		m.Server.Behave(Manner{})
		m.open(args...)
		m.queue([]Block{say("Answered.")})
		m.enter(prompt)
		for range 10 {
			if m.rest(20*time.Second) != "" && strings.Contains(m.screen(), "Answered.") {
				break
			}
			m.keys("Enter") // what comes while the client starts is only written into its line
		}
		defer m.leave()
		return holds(prompt)
	}
	prints := func(prompt string, args ...string) string {
		if _, err := h.run(t.Context(), [][]Block{{say("Answered.")}}, append([]string{"-p", prompt}, args...)...); err != nil {
			t.Fatal(err)
		}
		return holds(prompt)
	}
	picks := func(any bool) string {
		path, err := all.Named("claude").Last(t.Context(), h.Config(), h.Work, any)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	mine := says("mine in the work folder")
	night := prints("nightly job")
	if got := picks(false); got != mine {
		t.Errorf("hist takes %s, not %s", got, mine)
	}
	if got := picks(true); got != night {
		t.Errorf("hist takes %s for claude -p, not %s", got, night)
	}
	if got := says("which one is this", "--continue"); got != mine {
		t.Errorf("claude --continue took %s, not %s", got, mine)
	}
	night = prints("nightly job, once more")
	if got := prints("the night goes on", "--continue"); got != night || picks(true) != night {
		t.Errorf("claude -p --continue took %s, hist %s, not %s", got, picks(true), night)
	}
	if got := picks(false); got != mine {
		t.Errorf("hist takes %s at the end, not %s", got, mine)
	}
}

// TestTerminalLife has clients write sessions in a terminal, as users do there: they interrupt, queue, deny, go back, run commands of
// their own, compact, clear, leave and come back, with updates of the client in between.
func TestTerminalLife(t *testing.T) {
	if !*inTerminals {
		t.Skip("without -terminal")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip(err)
	}
	eachLife(t, inTerminal)
}

// terminal is a client in a terminal of its own.
type terminal struct {
	*life
	t      *testing.T
	socket string
	told   []string
}

func inTerminal(t *testing.T, seed uint64, bins []Binary) {
	h, err := NewHome(bins[0], t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	l := &life{Home: h, r: rand.New(rand.NewPCG(seed, 1))}
	l.furnish(t)
	l.settle(t)
	m := &terminal{life: l, t: t, socket: fmt.Sprintf("hist-%d-%d", os.Getpid(), seed)}
	defer m.tmux("kill-server")
	at := l.r.IntN(len(bins))
	for range 2 + l.r.IntN(3) {
		h.Bin = bins[at]
		m.begin()
		for range 3 + l.r.IntN(6) {
			m.act()
		}
		m.leave()
		at = min(at+l.r.IntN(2), len(bins)-1)
	}
	l.check(t, m.told, "unanswered-prompt", "unfinished-call", "reachable") // a client may be left in the middle of a turn
}

// settle answers what a client asks a new user.
func (l *life) settle(t *testing.T) {
	work, err := filepath.EvalSymlinks(l.Work)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(object{
		"hasCompletedOnboarding": true, "theme": "dark", "numStartups": 20, "lastOnboardingVersion": "9.0.0", "autoUpdates": false,
		"bypassPermissionsModeAccepted": true, "customApiKeyResponses": object{"approved": []string{"sk-ant-stand-in"}, "rejected": []string{}},
		"projects": object{work: object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "projectOnboardingSeenCount": 9, "allowedTools": []string{}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(l.Root, ".claude.json"), raw, 0o600), os.WriteFile(filepath.Join(l.Config(), ".claude.json"), raw, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func (m *terminal) tmux(args ...string) string {
	out, _ := exec.Command("tmux", append([]string{"-f", "/dev/null", "-L", m.socket}, args...)...).Output()
	return string(out)
}

func (m *terminal) say(what string, more ...any) { m.told = append(m.told, fmt.Sprintf(what, more...)) }

// keys types keys by their names, text what is not one.
func (m *terminal) keys(keys ...string) {
	for _, k := range keys {
		m.tmux(append([]string{"send-keys", "-t", "c"}, k)...)
		time.Sleep(150 * time.Millisecond)
	}
}

func (m *terminal) text(s string) {
	m.tmux("send-keys", "-t", "c", "-l", s)
	time.Sleep(300 * time.Millisecond)
}

func (m *terminal) screen() string { return m.tmux("capture-pane", "-p", "-t", "c") }

// rest waits until nothing on the screen has changed for a while, at most so long.
func (m *terminal) rest(most time.Duration) string {
	last, since, begun := "", time.Now(), time.Now()
	for time.Since(begun) < most {
		now := m.screen()
		if now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) > 1500*time.Millisecond {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	return last
}

// begin starts the client, most often with the session of before.
func (m *terminal) begin() {
	var args []string
	if now, _, err := m.largest(); err == nil {
		switch m.r.IntN(6) {
		case 0, 1:
			args = []string{"--continue"}
		case 2, 3:
			args = []string{"--resume", now}
		case 4:
			args = []string{"--resume"}
		}
	}
	if m.r.IntN(3) == 0 {
		args = append(args, "--dangerously-skip-permissions")
	}
	if m.r.IntN(4) == 0 {
		args = append(args, "--settings", m.hooks(m.t))
		if strings.HasPrefix(m.Bin.Version, "1.") || m.Bin.Version == "2.0.1" {
			args = args[:len(args)-2] // 1.0.17 has none; later ones send what a hook says between the outputs of parallel calls, which the API refuses
		}
	}
	m.open(args...)
}

// open starts the client, and answers what it asks first.
func (m *terminal) open(args ...string) {
	m.say("%s %q", m.Bin.Version, args)
	m.Server.Behave(Manner{})
	line := []string{"env", "-i", "TERM=xterm-256color", "NODE_OPTIONS="}
	line = append(append(append(line, m.env()...), m.Bin.Command...), args...)
	for i := range line {
		line[i] = "'" + strings.ReplaceAll(line[i], "'", `'\''`) + "'"
	}
	m.tmux("new-session", "-d", "-s", "c", "-x", "160", "-y", "50", "-c", m.Work, strings.Join(line, " "))
	screen := m.rest(20 * time.Second)
	for range 4 {
		switch {
		case strings.Contains(screen, "trust"), strings.Contains(screen, "Press Enter"), strings.Contains(screen, "Select a conv"), strings.Contains(screen, "Resume Session"), strings.Contains(screen, "Modified"):
			m.keys("Enter")
		case strings.Contains(screen, "Yes, I accept"):
			m.keys("Down", "Enter")
		default:
			return
		}
		screen = m.rest(20 * time.Second)
	}
}

func (m *terminal) leave() {
	for range 8 { // a client that is stopped while a tool runs leaves its call without an output
		screen := m.rest(15 * time.Second)
		if !strings.Contains(screen, "esc to interrupt") && !strings.Contains(screen, "Do you want") && !strings.Contains(screen, "❯ 1.") {
			break
		}
		m.keys("Escape")
	}
	switch m.r.IntN(3) {
	case 0:
		m.say("exit")
		m.keys("C-u")
		m.text("/exit")
		m.keys("Enter")
	case 1:
		m.say("ctrl-c twice")
		m.keys("C-u", "C-c")
		m.keys("C-c", "C-c")
	case 2:
		m.say("ctrl-d twice")
		m.keys("C-u", "C-d", "C-d")
	}
	time.Sleep(1500 * time.Millisecond)
	m.tmux("kill-session", "-t", "c")
	time.Sleep(500 * time.Millisecond)
	m.endLeft()
}

// endLeft ends what of the client still runs: some never notice that their terminal is gone, others leave servers in the background.
func (m *terminal) endLeft() {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		if raw, err := os.ReadFile(path); err == nil && strings.Contains(string(raw), "\x00HOME="+m.Root+"\x00") {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				if p, err := os.FindProcess(pid); err == nil {
					_ = p.Kill()
				}
			}
		}
	}
}

// enter types a prompt or a command, and sends it.
func (m *terminal) enter(s string) {
	m.say("> %s", s)
	m.text(s)
	m.keys("Enter")
}

func (m *terminal) queue(answers ...[]Block) { m.Server.Reset(); m.Server.Queue(answers...) }

// allow answers what the client asks about its tools until it asks no more.
func (m *terminal) allow() {
	for range 12 {
		screen := m.rest(25 * time.Second)
		if !strings.Contains(screen, "Do you want") && !strings.Contains(screen, "Would you like") && !strings.Contains(screen, "Enter to select") {
			return
		}
		switch m.r.IntN(5) {
		case 0:
			m.say("esc in a dialog")
			m.keys("Escape")
		case 1:
			m.say("3 in a dialog")
			m.keys("3")
			time.Sleep(300 * time.Millisecond)
			if m.r.IntN(2) == 0 {
				m.text("rather not")
				m.keys("Enter")
			}
		default:
			m.keys("Enter")
		}
	}
	m.keys("Escape")
}

func (m *terminal) act() {
	m.Server.Behave(Manner{})
	var answers [][]Block
	for range 1 + m.r.IntN(3) {
		answers = append(answers, m.calls())
	}
	answers = append(answers, []Block{say("Done: " + m.word())})
	long := bash("toolu_"+m.word(), "sleep 7; echo "+m.word())
	switch n := m.r.IntN(21); n {
	case 0, 1:
		m.queue(answers...)
		m.enter("please do " + m.word())
		m.allow()
	case 2:
		m.queue([]Block{say("I run it."), long}, []Block{say("Ended: " + m.word())})
		m.enter("run something long " + m.word())
		time.Sleep(2500 * time.Millisecond)
		m.keys("Enter")
		time.Sleep(1000 * time.Millisecond)
		m.say("esc")
		m.keys("Escape")
	case 3:
		m.Server.Behave(Manner{Pause: 1500 * time.Millisecond})
		m.queue([]Block{{Type: "thinking", Text: "I think of " + m.word()}, say("Streaming " + m.word()), say("and more " + m.word()), bash("toolu_"+m.word(), "echo a"), bash("toolu_"+m.word(), "echo b")})
		m.enter("answer slowly " + m.word())
		time.Sleep(time.Duration(1000+m.r.IntN(7000)) * time.Millisecond)
		m.say("esc")
		m.keys("Escape")
	case 4, 5:
		m.queue([]Block{say("I run it."), long}, []Block{say("Ended: " + m.word())}, []Block{say("And that: " + m.word())})
		m.enter("run something long " + m.word())
		time.Sleep(2000 * time.Millisecond)
		m.keys("Enter")
		time.Sleep(500 * time.Millisecond)
		for range 1 + m.r.IntN(2) {
			m.enter("queued " + m.word())
		}
		if m.r.IntN(3) == 0 {
			m.say("esc, esc")
			m.keys("Escape")
			time.Sleep(500 * time.Millisecond)
			m.keys("Escape")
		}
	case 6, 7, 8:
		m.rewind()
	case 9:
		m.queue([]Block{say("A summary of it: " + m.word())})
		m.enter("/compact")
	case 10:
		m.queue(answers...)
		m.enter("!echo " + m.word())
	case 11:
		m.enter([]string{"/cost", "/context", "/status", "/model", "/rename " + m.word(), "/own " + m.word(), "/clear", "/fork", "/branch", "/todos", "/export x.txt", "/init", "/help", "/btw what is it", "/plan", "/tasks", "/rewind", "/add-dir /tmp", "/memory", "/agents", "/effort high", "/recap", "/color red", "/goal x"}[m.r.IntN(24)])
		m.rest(15 * time.Second)
		m.keys("Escape", "Escape")
	case 12:
		m.Server.Behave(Manner{Busy: 1 + m.r.IntN(2)})
		m.queue(answers...)
		m.enter("while it is busy " + m.word())
		m.allow()
	case 13:
		m.Server.Behave(Manner{Stop: []string{"max_tokens", "refusal", "stop_sequence", "pause_turn", "model_context_window_exceeded"}[m.r.IntN(5)]})
		m.queue([]Block{say("Cut " + m.word())}, []Block{say("Cut again " + m.word())})
		m.enter("ends otherwise " + m.word())
	case 14:
		m.Server.Behave(Manner{Tokens: 190_000})
		m.queue(append([][]Block{m.calls(), {say("A summary of it: " + m.word())}}, answers...)...)
		m.enter("fills the context " + m.word())
		m.allow()
	case 15:
		m.keys("BTab")
		m.say("another mode")
		m.queue(answers...)
		m.enter("in another mode " + m.word())
		m.allow()
	case 16:
		m.queue([]Block{say("I run it."), long}, []Block{say("Ended: " + m.word())}, []Block{say("And that: " + m.word())})
		m.enter("into the background " + m.word())
		time.Sleep(2000 * time.Millisecond)
		m.keys("Enter")
		time.Sleep(1500 * time.Millisecond)
		m.say("ctrl-b twice")
		m.keys("C-b", "C-b")
		time.Sleep(8 * time.Second)
	case 17:
		m.queue(append([][]Block{{say("I plan."), {Type: "tool_use", ID: "toolu_" + m.word(), Name: "ExitPlanMode", Input: object{"plan": "# A plan\n- " + m.word()}}}}, answers...)...)
		m.enter("plan it " + m.word())
		m.allow()
	case 18:
		m.queue(append([][]Block{{say("I search."), {Raw: object{"type": "server_tool_use", "id": "srvtoolu_" + m.word(), "name": "web_search", "input": object{"query": "go"}}}, {Raw: object{"type": "web_search_tool_result", "tool_use_id": fmt.Sprintf("srvtoolu_w%d", m.words), "content": []object{{"type": "web_search_result", "title": "t", "url": "https://example.com", "encrypted_content": "x"}}}}, say("Found " + m.word())}}, answers...)...)
		m.enter("search " + m.word())
		m.allow()
	case 19:
		m.queue([]Block{{Raw: object{"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="}}, say("Hidden " + m.word())})
		m.enter("look at @a.txt and @sub " + m.word())
		m.allow()
	case 20:
		m.queue([]Block{{Type: "tool_use", ID: "toolu_" + m.word(), Name: []string{"Task", "Agent"}[m.r.IntN(2)], Input: object{"description": "look", "prompt": "look at " + m.word(), "subagent_type": "general-purpose", "run_in_background": m.r.IntN(2) == 0}}, {Type: "tool_use", ID: "toolu_" + m.word(), Name: "Task", Input: object{"description": "look", "prompt": "look at " + m.word(), "subagent_type": "general-purpose"}}},
			m.calls(), m.calls(), []Block{say("Ended: " + m.word())}, []Block{say("And that: " + m.word())})
		m.enter("have agents look " + m.word())
		m.allow()
	}
	m.allow()
}

// rewind goes back to an earlier prompt, and says something else there.
func (m *terminal) rewind() {
	if m.r.IntN(2) == 0 {
		m.keys("Escape", "Escape")
	} else {
		m.keys("C-u")
		time.Sleep(200 * time.Millisecond)
		m.keys("Escape", "Escape")
	}
	m.rest(5 * time.Second)
	up := 1 + m.r.IntN(4)
	for range up {
		m.keys("Up")
	}
	m.keys("Enter")
	screen := m.rest(5 * time.Second)
	if strings.Contains(screen, "Restore") || strings.Contains(screen, "Summarize") || strings.Contains(screen, "restore") {
		if m.r.IntN(2) == 0 {
			m.queue([]Block{say("A summary of it: " + m.word())})
			down := 1 + m.r.IntN(3)
			m.say("the choice by %d", down)
			for range down {
				m.keys("Down")
			}
		}
		m.keys("Enter")
		m.rest(8 * time.Second)
	}
	m.say("rewind by %d", up)
	m.keys("C-u", "C-u", "C-k")
	m.queue([]Block{say("I go."), bash("toolu_"+m.word(), "echo "+m.word())}, []Block{say("After the rewind " + m.word())})
	m.enter("otherwise " + m.word())
	m.allow()
}
