package rules

import (
	"cmp"
	"fmt"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

var ruleLostPair = texts.Rule(finding.Rule{Name: "lost-pair", Family: "calls", Impact: finding.Loses, Fix: finding.Recovered})

// lostCall is an event of a call that has not been seen.
type lostCall struct {
	*evidence
	callID string
	kind   string // payload type of its output
	from   session.Pos
}

// maxLostCalls is how many are kept in a turn.
const maxLostCalls = 1 << 12

// only keeps an event that repeats call and output, until the end of its turn shows whether both are missing.
func (c *callChecker) only(rec *session.Record, ev *evidence) {
	if ev.tells&codex.TellsOutput == 0 || ev.tells&codex.TellsCall == 0 || len(c.lost) >= maxLostCalls || codex.ByUser(rec) {
		return
	}
	kind := codex.OutputTypeOf(rec)
	_, noCall := codex.CallFrom("", kind, codex.Naming{}, rec.Raw)
	if _, noOutput := codex.OutputFrom(codex.Tool{}, rec.Raw); noCall != nil || noOutput != nil {
		return // what it repeated is damaged
	}
	c.lost = append(c.lost, lostCall{ev, string(rec.CallID), kind, c.begun})
}

// settleLost reports the calls up to a place that are known only from their event.
func (c *callChecker) settleLost(to session.Pos) {
	for _, l := range c.lost {
		if !c.known(l.callID) {
			c.lostCall(l, to)
		}
	}
	c.lost = c.lost[:0]
	c.lostScript(to)
}

// known says whether a call, or an output, with this id has been seen.
func (c *callChecker) known(callID string) bool {
	for family := session.Function; family <= session.Search; family++ {
		key := c.key(family, []byte(callID))
		if c.open[key] != nil || c.early[key] != nil || c.cut[key] != nil || c.past[key] {
			return true
		}
		if _, ok := c.answered(key); ok {
			return true
		}
	}
	return false
}

// around are the edits that insert a call in front of an event and its output behind it. Without a hole for each, an event of
// the file does not prove that they were ever there: then it returns nil.
func (c *callChecker) around(first, last *witness, from, to session.Pos, call, output finding.Content) []finding.Edit {
	if first.ref.Pos.Lost > 0 && last.ref.Pos.Lost > 0 {
		return []finding.Edit{{At: first.ref.Pos, Op: finding.Before, New: call}, {At: last.ref.Pos, Op: finding.After, New: output}}
	}
	front := c.run.holes.Newest(from, first.ref.Pos)
	if front == nil {
		return nil
	}
	behind := c.run.holes.First(last.ref.Pos, to)
	if behind == nil {
		return nil
	}
	return []finding.Edit{front.Insert(call), behind.Insert(output)}
}

func (c *callChecker) lostCall(l lostCall, to session.Pos) {
	id, kind := l.callID, l.kind
	tool := codex.Tool{Type: codex.CallType(kind), Name: cmp.Or(c.shell, "exec_command"), CallID: id}
	if kind == "custom_tool_call_output" {
		tool.Name = "apply_patch"
	}
	edits := c.around(&l.witness, &l.witness, l.from, to,
		finding.Content{From: &l.ref, Recipe: codex.CallRecipe{CallID: id, OutputType: kind, Naming: c.naming()}},
		finding.Content{From: &l.ref, Recipe: codex.OutputRecipe{Tool: tool}})
	if edits == nil {
		return
	}
	f := ruleLostPair.At(l.ref, "event_msg", fmt.Sprintf("call %s and its output are lost: the model does not see what this event shows", check.Clip([]byte(id), 40)))
	f.Source, f.On, f.IDs, f.Hole = l.source(), l.ref, id, l.ref.Pos.Lost == 0
	c.run.Report(f.With(edits...))
}

// lostScript reports one or more scripts of which only the events of what they ran are left.
func (c *callChecker) lostScript(to session.Pos) {
	several := c.runs.parts > 1 || c.runs.parts == 1 && len(c.runs.loose) > 0
	ran := append(c.runs.before, c.runs.loose...)
	c.runs.loose, c.runs.before, c.runs.parts = nil, nil, 0
	if len(ran) == 0 {
		return
	}
	torn := c.tornScript(c.runs.began)
	if torn != nil && !several {
		c.tornScriptRan(torn, ran)
		return
	}
	one := &script{ran: ran, several: several}
	open := &openCall{tool: codex.LostScript(ran[0].ref.Pos.Line, ran[0].ref.Pos.Lost)}
	output := one.output(open)
	call := joinResults(ran, codex.ScriptRecipe{CallID: open.tool.CallID, OutputType: "custom_tool_call_output", Several: several})
	edits := c.around(&ran[0], &ran[len(ran)-1], c.begun, to, call, output)
	if edits == nil {
		return
	}
	message := "the call of a script and its output are lost: the model does not see what these events show"
	if several {
		message = "the calls of scripts and their outputs are lost: the model does not see what these events show, and it is not known which script ran what"
	}
	f := ruleLostPair.At(ran[0].ref, "event_msg", message)
	f.Fix, f.Source, f.Lost, f.On, f.Hole = finding.StandIn, one.source(), 1, ran[0].ref, ran[0].ref.Pos.Lost == 0
	c.run.Report(f.With(edits...))
}

// tornScriptRan restores a script's call as far as its torn line can be read, and its output from the events of what it ran.
func (c *callChecker) tornScriptRan(torn *tornCall, ran []witness) {
	one, tool := &script{ran: ran}, torn.call.Tool()
	output := one.output(&openCall{tool: tool, stamp: torn.call.Timestamp})
	source := fmt.Sprintf("the readable part of line %d", torn.at.Line)
	if ran[0].ref.Pos.Lost == 0 { // otherwise the lost records themselves name it
		source += ", " + one.source()
	}
	torn.used = true
	c.keep(c.key(session.Custom, []byte(tool.CallID)), answered{proven: true})
	f := ruleLostPair.At(ran[0].ref, "event_msg", fmt.Sprintf("the call %s of a script is cut and its output is lost: the model does not see what these events show", check.Clip([]byte(tool.CallID), 40)))
	f.Fix, f.Source, f.Lost, f.On, f.IDs = finding.StandIn, source, 1, ran[0].ref, tool.CallID
	c.run.Report(f.With(
		finding.Edit{At: torn.at, Op: finding.Before, New: finding.Content{Literal: torn.call.Line(tool.CallID)}},
		finding.Edit{At: ran[len(ran)-1].ref.Pos, Op: finding.After, New: output},
	))
}
