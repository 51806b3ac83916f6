package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

// writer writes what the model says, step by step. A token ends with z, so that none begins another.
type writer struct {
	rng  *rand.Rand
	code bool // code mode
	plan bool // the client has the tool update_plan
	turn int
	n    int
	// waited holds, by the call_id of each call of wait, the script that it waits for.
	waited map[string]string
}

func (w *writer) id() string { w.n++; return fmt.Sprintf("k%dz", w.n) }

// words are some that a careless reader of JSON trips over.
func (w *writer) words() string {
	some := []string{
		"naïve Ünïcödé 漢字 🧪", "a \"quoted\" word", "tab\tand\nnewline", `a \u0000 that is none`, "\u2028\u202e", "{\"type\":\"response_item\"}",
		"plain words", strings.Repeat("long ", 300),
	}
	return some[w.rng.IntN(len(some))]
}

func (w *writer) chance(percent int) bool { return w.rng.IntN(100) < percent }

// replies writes the replies of one turn: some work, and an answer.
func (w *writer) replies(most int) [][]step {
	var out [][]step
	for range w.rng.IntN(most) + 1 {
		var reply []step
		if w.chance(40) {
			reply = append(reply, w.reasoning())
		}
		if w.chance(35) {
			reply = append(reply, w.answer())
		}
		reply = append(reply, w.call())
		if w.chance(30) {
			reply = append(reply, w.call())
		}
		out = append(out, reply)
	}
	return append(out, []step{w.answer()})
}

func (w *writer) reasoning() step {
	id := w.id()
	return step{id: id, item: clienttest.Reasoning("rs_"+id, "Thinking of "+id), says: Element{Kind: "reasoning", Token: "Thinking of " + id, Turn: w.turn}}
}

func (w *writer) answer() step {
	id := w.id()
	return step{id: id, item: clienttest.Message("msg_"+id, "MSG-"+id+" "+w.words()), says: Element{Kind: "answer", Token: "MSG-" + id, Turn: w.turn}}
}

// call is one call of a tool.
func (w *writer) call() step {
	if w.code {
		return w.codeCall()
	}
	id := w.id()
	call := "call_" + id
	says := Element{Kind: "call", Token: "run-" + id, Call: call, Turn: w.turn}
	out := func(token string, marked bool) ran {
		return ran{Element: Element{Kind: "output", Token: token, Call: call, Turn: w.turn}, marked: marked}
	}
	s := step{id: id, says: says}
	switch n := w.rng.IntN(100); {
	case n < 55:
		s.says.Tool = "shell"
		s.item, s.will = clienttest.Shell("fc_"+id, call, w.command(id)), []ran{out("OUT-"+id, true)}
	case n < 67:
		s.says.Tool = "patch"
		s.item, s.will = clienttest.Patch("ctc_"+id, call, "run-"+id+".txt"), []ran{out("A run-"+id, false)}
	case n < 80:
		s.says.Tool = "mcp"
		s.item = clienttest.Function("fc_"+id, call, "mcp__"+clienttest.MCPServer, clienttest.MCPTool,
			fmt.Sprintf(`{"text": "run-%s", "image": %v}`, id, w.chance(30)))
		s.will = []ran{out(clienttest.MCPWords+"run-"+id, false)}
	case n < 86 && w.plan:
		s.says.Tool = "plan"
		s.item = clienttest.Function("fc_"+id, call, "", "update_plan", `{"plan": [{"step": "run-`+id+`", "status": "completed"}]}`)
		s.will = []ran{out("Plan updated", false)}
	case n < 90:
		return w.search()
	default:
		s.says.Tool = "long"
		s.item = w.long(id, call)
		s.will = []ran{out("OUT-"+id, true)}
		s.then = w.writeStdin
	}
	return s
}

// search is what the provider does by itself: there is no output.
func (w *writer) search() step {
	id := w.id()
	return step{
		id:   id,
		item: clienttest.Raw(`{"type":"web_search_call","id":"ws_` + id + `","status":"completed","action":{"type":"search","query":"run-` + id + `"}}`),
		says: Element{Kind: "search", Token: "run-" + id, Turn: w.turn},
	}
}

// command prints OUT-id, which does not stand in its own text, and leaves its mark when it has.
func (w *writer) command(id string) string {
	var b strings.Builder
	if w.chance(40) {
		fmt.Fprintf(&b, "sleep 0.%d; ", w.rng.IntN(9)+1)
	}
	if w.chance(25) {
		fmt.Fprintf(&b, "seq 1 %d; ", w.rng.IntN(600)+1)
	}
	fmt.Fprintf(&b, "printf 'OUT%%s\\n' -%s; ", id)
	if w.chance(25) {
		b.WriteString("printf 'tab\\there \\\"q\\\" \\342\\230\\203\\n'; ")
	}
	fmt.Fprintf(&b, "echo OUT-%s >> marks", "''"+id)
	if w.chance(10) {
		b.WriteString("; exit 3")
	}
	return b.String() + " # run-" + id
}

// long is a command that is still running when its call returns.
func (w *writer) long(id, call string) clienttest.Item {
	cmd := "printf 'OUT%s\\n' -" + id + "; sleep 0.6; printf 'END%s\\n' -" + id + " # run-" + id
	return clienttest.Function("fc_"+id, call, "", "exec_command", `{"cmd": `+quoted(cmd)+`, "yield_time_ms": 250}`)
}

var runningSession = regexp.MustCompile(`session ID (\d+)`)

// writeStdin waits for the end of a command that is still running.
func (w *writer) writeStdin(input []sentItem) (step, bool) {
	last := lastOutput(input)
	m := runningSession.FindStringSubmatch(last.Text)
	if m == nil {
		return step{}, false
	}
	id := w.id()
	call := "call_" + id
	before := strings.TrimPrefix(last.Call, "call_")
	return step{
		id: id, item: clienttest.Function("fc_"+id, call, "", "write_stdin", `{"session_id": `+m[1]+`, "chars": "", "yield_time_ms": 3000}`),
		says: Element{Kind: "call", Token: call, Call: call, Turn: w.turn, Tool: "write_stdin"},
		will: []ran{{Element: Element{Kind: "output", Token: "END-" + before, Call: call, Turn: w.turn}}},
	}, true
}

func lastOutput(input []sentItem) sentItem {
	for i := len(input) - 1; i >= 0; i-- {
		if strings.HasSuffix(input[i].Type, "_output") {
			return input[i]
		}
	}
	return sentItem{}
}

// codeCall is a script of code mode: commands, calls of the MCP server, patches and notes inside one call.
func (w *writer) codeCall() step {
	id := w.id()
	call := "call_" + id
	s := step{id: id, says: Element{Kind: "call", Token: "run-" + id, Call: call, Turn: w.turn, Tool: "exec"}}
	answeredIn, slow := call, ""
	will := func(kind, token string, marked bool) {
		s.will = append(s.will, ran{Element{Kind: kind, Token: token, Call: answeredIn, Turn: w.turn}, marked, slow})
	}
	if w.chance(6) {
		return w.search()
	}
	var js strings.Builder
	fmt.Fprintf(&js, "// run-%s\n", id)
	if w.chance(12) {
		js.Reset()
		fmt.Fprintf(&js, "// @exec: {\"yield_time_ms\": 250}\n// run-%s\n", id)
		s.then, answeredIn, slow = w.wait, "", call // here, or where it is waited for
	}
	for i := range w.rng.IntN(3) + 1 {
		part := fmt.Sprintf("%sx%dz", strings.TrimSuffix(id, "z"), i) // the script's own token is not in it
		switch n := w.rng.IntN(100); {
		case n < 60:
			fmt.Fprintf(&js, "const r%d = await tools.exec_command({cmd: %s, yield_time_ms: 30000});\ntext(r%d.output);\n", i, quoted(w.command(part)), i)
			will("output", "OUT-"+part, true)
		case n < 78:
			fmt.Fprintf(&js, "const m%d = await tools.mcp__%s__%s({text: \"run-%s\"});\ntext(m%d.content[0].text);\n", i, clienttest.MCPServer, clienttest.MCPTool, part, i)
			will("output", clienttest.MCPWords+"run-"+part, false)
		case n < 88:
			patch := "*** Begin Patch\n*** Add File: run-" + part + ".txt\n+hello from the patch\n*** End Patch\n"
			fmt.Fprintf(&js, "await tools.apply_patch(%s);\ntext(\"PATCHED\" + \"-%s\");\n", quoted(patch), part)
			will("output", "PATCHED-"+part, false)
		default:
			fmt.Fprintf(&js, "notify(\"NOTE\" + \"-%s\");\n", part)
			will("note", "NOTE-"+part, false)
		}
	}
	fmt.Fprintf(&js, "text(\"all\" + \" done-%s\");\n", id)
	s.item = clienttest.Exec("ctc_"+id, call, js.String())
	return s
}

var runningCell = regexp.MustCompile(`cell ID (\w+)`)

// waits is the tool that waits for a script.
const waits = "wait"

// wait waits for the end of a script that is still running.
func (w *writer) wait(input []sentItem) (step, bool) {
	last := lastOutput(input)
	m := runningCell.FindStringSubmatch(last.Text)
	if m == nil {
		return step{}, false
	}
	script, waited := w.waited[last.Call]
	if !waited {
		script = strings.TrimPrefix(last.Call, "call_")
	}
	id := w.id()
	call := "call_" + id
	if w.waited == nil {
		w.waited = map[string]string{}
	}
	w.waited[call] = script
	return step{
		id: id, item: clienttest.Function("fc_"+id, call, "", "wait", `{"cell_id": "`+m[1]+`", "yield_time_ms": 5000}`),
		says: Element{Kind: "call", Token: call, Call: call, Turn: w.turn, Tool: waits},
		will: []ran{{Element: Element{Kind: "output", Token: "all done-" + script, Call: call, Turn: w.turn}}},
	}, true
}

// quoted is a JSON string, which is a JavaScript string too.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return strconv.Quote(s)
	}
	return string(b)
}
