package rules

import (
	"fmt"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

var (
	ruleCallWithoutOutput = check.CallWithoutOutput
	ruleOutputWithoutCall = check.OutputWithoutCall
	ruleKindMismatch      = texts.Rule(finding.Rule{Name: "kind-mismatch", Family: "calls", Impact: finding.Loses, Fix: finding.Exact})
	ruleOutputBeforeCall  = texts.Rule(finding.Rule{Name: "output-before-call", Family: "calls", Impact: finding.Rejects, Fix: finding.Exact})
	ruleDuplicateOutput   = check.DuplicateOutput
	ruleDuplicateCall     = check.DuplicateCall
	ruleReplayedCall      = texts.Rule(finding.Rule{Name: "replayed-call", Family: "calls", Impact: finding.Notes, Fix: finding.NoFix})
	callRules             = []*finding.Rule{
		ruleCallWithoutOutput, ruleOutputWithoutCall, ruleKindMismatch, ruleOutputBeforeCall, ruleDuplicateOutput, ruleDuplicateCall, ruleReplayedCall,
		ruleWrongCallID, ruleOversizeCall, ruleBadArguments, ruleBadToolName, ruleLostMessage, ruleLostPair, ruleTokenGap, ruleLostEvent,
	}
)

// withoutOutput reports a call that has no output. The output is restored if an event or a script's results show what it was;
// otherwise a placeholder replaces it.
func (c *callChecker) withoutOutput(open *openCall) {
	if open.parent && open.evidence == nil && c.run.holes.First(open.ref.Pos, c.run.prefix.end) == nil {
		return // it was running when the sub-agent was made
	}
	name, instead := open.tool.Name, "it was aborted"
	if name == "" {
		name = open.tool.Type
	}
	if open.family == session.Search {
		instead = "nothing was found"
	}
	instead = "the model is told " + instead
	if open.noted {
		instead = "a note that its script wrote is sent in its place"
	}
	f := ruleCallWithoutOutput.At(open.ref, "response_item/"+open.tool.Type, fmt.Sprintf("call %s (%s) has no output: %s", check.Clip([]byte(open.tool.CallID), 40), check.Clip([]byte(name), 40), instead))
	f.Fix, f.Lost, f.On, f.IDs = finding.StandIn, 1, open.ref, open.tool.CallID
	content := finding.Content{Literal: codex.StandIn(open.tool, open.stamp)}
	if ev := open.evidence; ev != nil && ev.tells&codex.TellsOutput != 0 {
		f.Fix, f.Source, f.Lost = finding.Recovered, ev.source(), 0
		content.From, content.Recipe = &ev.ref, ev.output(open.tool)
	} else if s := open.script; s != nil && s.call == open && len(s.ran) > 0 {
		f.Fix, f.Source, f.Lost = finding.Recovered, s.source(), 0
		literal := content.Literal
		content = s.output(open)
		content.Literal = literal
	}
	f.Edits = []finding.Edit{c.place(open, content)}
	c.run.Report(f)
}

// place puts an output where the client would have written it: into the hole that it left, behind the event that repeats it, or
// behind the outputs of the calls before it. The outputs of a group are in the order of its calls.
func (c *callChecker) place(open *openCall, content finding.Content) finding.Edit {
	g := open.group
	from := g.anchor(open.place)
	if g.placed != nil && from.Less(g.placed.At) {
		from = g.placed.At
	}
	if ev := open.newest(); ev != nil && from.Less(ev.ref.Pos) && ev.ref.Pos.Less(g.end) {
		from = ev.ref.Pos
	}
	edit := finding.Edit{At: from, Op: finding.After, New: content}
	if h := c.run.holes.First(from, g.end); h != nil {
		edit = h.Insert(content)
	} else if g.placed != nil && g.placed.At == from {
		edit.Op = g.placed.Op
	}
	g.placed = &edit
	return edit
}

func (c *callChecker) kindMismatch(open *openCall, rec *session.Record) {
	span := rec.Spans[codex.FieldPayloadType]
	want := codex.OutputType(open.tool.Type)
	cuts := []finding.Cut{{Start: span.Start, End: span.End, New: []byte(`"` + want + `"`)}}
	if c.run.wrongID(want, rec) != "" { // the id was right for the other kind of output
		cuts = append(cuts, codex.BlankID(rec.Raw, "payload"))
	}
	f := ruleKindMismatch.Of(rec, fmt.Sprintf("call %s is a %s and needs a %s: the client drops this one and tells the model it was aborted", check.Clip(rec.CallID, 40), open.tool.Type, want))
	f.Unseen = 1
	c.run.Report(f.With(finding.Edit{At: rec.Pos, Op: finding.Splice, Cuts: cuts}))
}

func (c *callChecker) outputBeforeCall(open *openCall, out *earlyOutput) {
	edits := []finding.Edit{{At: out.ref.Pos, Op: finding.Remove, Moved: true}}
	if out.swapped {
		edits = append(edits,
			finding.Edit{At: out.ref.Pos, Op: finding.Before, New: finding.Content{From: &open.ref}},
			finding.Edit{At: open.ref.Pos, Op: finding.Remove, Moved: true},
			finding.Edit{At: open.ref.Pos, Op: finding.Before, New: finding.Content{From: &out.ref}})
	} else {
		edits = append(edits, c.place(open, finding.Content{From: &out.ref}))
	}
	f := ruleOutputBeforeCall.At(out.ref, "response_item/"+out.kind, fmt.Sprintf("the output of call %s comes before the call, which is on line %d", check.Clip([]byte(out.callID), 40), open.ref.Pos.Line))
	f.Edits, f.On, f.IDs = edits, out.ref, out.callID
	c.run.Report(f)
}

// inPlaceOf are the edits that put a record in the place of another one.
func inPlaceOf(at session.Pos, record finding.Content) []finding.Edit {
	return []finding.Edit{{At: at, Op: finding.Remove, Moved: true}, {At: at, Op: finding.Before, New: record}}
}

// restoreTorn replaces an output whose text was cut by the whole output, which an event holds.
func (c *callChecker) restoreTorn(open *openCall, rec *session.Record) {
	output := finding.Content{From: &open.evidence.ref, Recipe: open.evidence.output(open.tool)}
	c.run.About(rec.Pos).Mend = check.Mend{Fix: finding.Recovered, Source: open.evidence.source(), Edits: inPlaceOf(rec.Pos, output)}
}
