package surgery

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Step is one thing that is told to another agent's client: words, a call, or what came of one.
type Step struct {
	User    bool // a person said it; else the model
	Text    string
	Images  []Part
	Call    string // the id of a call that the other client has a tool for, or whose output this is
	Command string // of the call, which runs it in a shell
	Output  bool   // it is the output of Call
	Turn    int
}

// Handoff is what the client of one agent would send, in words that another agent's client can hold.
type Handoff struct {
	Steps []Step
	CWD   string
	From  string // the other agent, for notes to the model
	Lost  []string
}

// interrupted stands for the words that a client makes up where a call has no output. An empty output would say that it had none to give.
const interrupted = "[the call was interrupted: nobody knows what came of it]"

// HandOver takes a session's history to pieces for another agent.
func HandOver(s *Session) (*Handoff, error) {
	if s.Sent == nil {
		return nil, Refuse("hist does not know yet what the client of this agent sends")
	}
	if s.Sent.Refused != "" {
		return nil, Refuse("the client would not resume it: %s", s.Sent.Refused)
	}
	t := teller{answered: map[string]bool{}, tools: map[string]string{}, lost: map[loss]int{}}
	for i := range s.Sent.Items {
		if it := &s.Sent.Items[i]; it.Kind == session.OutputItem {
			t.answered[it.CallID] = true
		}
	}
	h := &Handoff{CWD: s.Info.CWD, From: s.Agent.Title}
	for i := range s.Sent.Items {
		if step := t.step(&s.Sent.Items[i]); step.Text != "" || len(step.Images) > 0 || step.Call != "" {
			h.Steps = append(h.Steps, step)
		}
	}
	t.lost[ofTools] += h.pair()
	if len(h.Steps) == 0 {
		return nil, Refuse("nothing of it is sent, so there is nothing to hand over")
	}
	for l, words := range lossWords {
		if n := t.lost[loss(l)]; n > 0 {
			h.Lost = append(h.Lost, fmt.Sprintf("%d × %s", n, words))
		}
	}
	return h, nil
}

// loss is a kind of what another agent can't be given as it is.
type loss int

const (
	ofImages loss = iota
	ofReasoning
	ofEncrypted
	ofContext
	ofTools
)

var lossWords = [...]string{
	ofImages:    "images of a type that the other provider does not take; a note stands in the place of each",
	ofReasoning: "reasoning, which only its own provider can read",
	ofEncrypted: "a summary that only its own provider can read; a note stands in its place",
	ofContext:   "what the client tells the model about itself; the other client tells its own",
	ofTools:     "calls of tools that the other client does not have: they are told as text, with what came of them",
}

// teller tells items as steps, one after the other.
type teller struct {
	answered map[string]bool   // by call
	tools    map[string]string // by call, the tools of those that were told as text
	lost     map[loss]int
}

// step is an item as a step; an empty one if the other agent is not given it.
func (t *teller) step(it *session.Item) Step {
	parts := Parts(it)
	step := Step{Turn: it.Turn, Text: Spoken(parts)}
	for _, p := range parts {
		if p.Image == "" {
			continue
		}
		if p.Type = imageType(p.Image); p.Type == "" {
			t.lost[ofImages]++
			step.Text += "\n[an image that the other provider does not take]"
			continue
		}
		step.Images = append(step.Images, p)
	}
	switch it.Kind {
	case session.ReasoningItem:
		t.lost[ofReasoning]++
		return Step{}
	case session.ContextItem:
		t.lost[ofContext]++
		return Step{}
	case session.CallItem:
		return t.call(it, step)
	case session.OutputItem:
		return t.output(it, step)
	case session.SummaryItem:
		if strings.TrimSpace(step.Text) == "" || strings.Contains(string(it.Content), `"encrypted_content"`) {
			t.lost[ofEncrypted]++
			step.Text = "[what came before was summed up in a form that only its own provider can read]"
		}
	default:
		if it.Made != "" || it.Role == "developer" || it.Role == "system" {
			t.lost[ofContext]++
			return Step{}
		}
	}
	step.User = it.Role != "assistant"
	return step
}

// call is a call as a command of a shell, or told as text.
func (t *teller) call(it *session.Item, step Step) Step {
	if command, ok := shellCommand(it); ok && t.answered[it.CallID] {
		return Step{Turn: it.Turn, Call: it.CallID, Command: command}
	}
	t.tools[it.CallID] = it.Tool
	t.lost[ofTools]++
	step.Text = fmt.Sprintf("[call of %s]\n%s", it.Tool, step.Text)
	return step
}

// output is an output, as its call was told.
func (t *teller) output(it *session.Item, step Step) Step {
	step.User = true
	tool, told := t.tools[it.CallID]
	switch {
	case it.CallID == "":
		step.Text = fmt.Sprintf("[output of %s]\n%s", cmp.Or(it.Tool, "the client"), step.Text)
		return step
	case told:
		step.Text = fmt.Sprintf("[output of %s]\n%s", tool, step.Text)
		return step
	case it.Made != "" && step.Text == "":
		step.Text = interrupted
	}
	step.Call, step.Output = it.CallID, true
	return step
}

// pair makes sure that each output comes in the message behind that of its call, as every provider wants it, and once. A pair of which
// that is not so is told as text. It returns how many calls are.
func (h *Handoff) pair() (told int) {
	calls, outputs := map[string][]int{}, map[string][]int{}
	message := make([]int, len(h.Steps))
	for i := range h.Steps {
		s := &h.Steps[i]
		if i > 0 {
			message[i] = message[i-1]
			if s.User != h.Steps[i-1].User {
				message[i]++
			}
		}
		if s.Call != "" && s.Output {
			outputs[s.Call] = append(outputs[s.Call], i)
		} else if s.Call != "" {
			calls[s.Call] = append(calls[s.Call], i)
		}
	}
	for i := range h.Steps {
		s := &h.Steps[i]
		if s.Call == "" {
			continue
		}
		c, o := calls[s.Call], outputs[s.Call]
		if len(c) == 1 && len(o) == 1 && message[o[0]] == message[c[0]]+1 {
			continue
		}
		if s.Output {
			s.Text = "[output of a command]\n" + s.Text
		} else {
			s.Text = "[command]\n" + s.Command
			told++
		}
		s.Call, s.Output = "", false
	}
	return told
}

// imageType is an image's type by its first bytes, in base64; "" if it is none that every provider takes.
func imageType(data string) string {
	for _, f := range [][2]string{{"iVBORw0KGgo", "image/png"}, {"/9j/", "image/jpeg"}, {"R0lGOD", "image/gif"}, {"UklGR", "image/webp"}} {
		if strings.HasPrefix(data, f[0]) {
			return f[1]
		}
	}
	return ""
}

// shellCommand is the command that a call runs in a shell; ok is false for other tools.
func shellCommand(it *session.Item) (command string, ok bool) {
	v := gjson.ParseBytes(it.Content)
	args := v.Get("arguments")
	if args.Type == gjson.String {
		args = gjson.Parse(args.String())
	} else if !args.Exists() {
		args = v.Get("input")
	}
	switch it.Tool {
	case "Bash", "bash", "exec_command", "shell_command":
		for _, key := range []string{"command", "cmd"} {
			if c := args.Get(key); c.Type == gjson.String {
				return c.String(), true
			}
		}
	case "shell", "container.exec":
		list := args.Get("command").Array()
		if len(list) == 3 && (list[1].String() == "-lc" || list[1].String() == "-c") {
			return list[2].String(), true
		}
	}
	return "", false
}

// Arrives says in words what a client sends of the session that was made of the handoff. It is an error if something of it is missing.
func (h *Handoff) Arrives(sent *session.Sent) (string, error) {
	if sent.Refused != "" {
		return "", fmt.Errorf("nothing was written: the other client would refuse the session: %s", sent.Refused)
	}
	var all strings.Builder
	calls := 0
	for i := range sent.Items {
		it := &sent.Items[i]
		if it.Kind == session.CallItem {
			calls++
		}
		for _, p := range Parts(it) {
			all.WriteString(p.Text)
			all.WriteString(p.Image)
			all.WriteByte('\n')
		}
	}
	want := 0
	for _, s := range h.Steps {
		if s.Call != "" && !s.Output {
			want++
			continue
		}
		if !strings.Contains(all.String(), s.Text) {
			return "", fmt.Errorf("nothing was written: a text of turn %d would not arrive", s.Turn)
		}
		for _, p := range s.Images {
			if !strings.Contains(all.String(), p.Image) {
				return "", fmt.Errorf("nothing was written: an image of turn %d would not arrive", s.Turn)
			}
		}
	}
	if calls != want {
		return "", fmt.Errorf("nothing was written: %d of %d calls would arrive", calls, want)
	}
	return fmt.Sprintf("all of them arrive (%s, as its client sends them)", count(len(sent.Items), "item")), nil
}
