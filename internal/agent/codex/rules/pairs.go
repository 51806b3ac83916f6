package rules

import (
	"fmt"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/session"
)

var (
	ruleCallWithoutOutput = check.CallWithoutOutput
	ruleOutputWithoutCall = check.OutputWithoutCall
	ruleKindMismatch      = texts.Rule(Rule{Name: "kind-mismatch", Family: "calls", Impact: Loses, Fix: Exact})
	ruleOutputBeforeCall  = texts.Rule(Rule{Name: "output-before-call", Family: "calls", Impact: Rejects, Fix: Exact})
	ruleDuplicateOutput   = check.DuplicateOutput
	ruleDuplicateCall     = check.DuplicateCall
	ruleReplayedCall      = texts.Rule(Rule{Name: "replayed-call", Family: "calls", Impact: Notes, Fix: NoFix})
	callRules             = []*Rule{
		ruleCallWithoutOutput, ruleOutputWithoutCall, ruleKindMismatch, ruleOutputBeforeCall, ruleDuplicateOutput, ruleDuplicateCall, ruleReplayedCall,
		ruleOversizeCall, ruleBadArguments, ruleBadToolName, ruleLostMessage, ruleLostPair, ruleTokenGap, ruleLostEvent,
	}
)

// withoutOutput reports a call that nothing answers, and mends it from evidence or by a stand-in.
func (c *callChecker) withoutOutput(open *openCall) {
	name, instead := open.tool.Name, "it was aborted"
	if name == "" {
		name = open.tool.Type
	}
	if open.family == session.Search {
		instead = "nothing was found"
	}
	f := Finding{
		Rule: ruleCallWithoutOutput, Impact: Loses, Fix: StandIn, Pos: open.ref.Pos, Offset: open.ref.Offset, Record: "response_item/" + open.tool.Type,
		Message: fmt.Sprintf("call %s (%s) has no output: the model is told %s", clip([]byte(open.tool.CallID), 40), clip([]byte(name), 40), instead),
		Lost:    1, On: open.ref, IDs: open.tool.CallID,
	}
	if open.noted {
		f.Message = fmt.Sprintf("call %s (%s) has no output: a note that its script wrote is sent in its place", clip([]byte(open.tool.CallID), 40), clip([]byte(name), 40))
	}
	content := Content{Literal: codex.StandIn(open.tool, open.stamp)}
	if ev := open.evidence; ev != nil && ev.tells&codex.TellsOutput != 0 {
		f.Fix, f.Source, f.Lost = Recovered, ev.source(), 0
		tool, build := open.tool, ev.build
		content.From = &ev.ref
		content.Build = func(record []byte) ([]byte, error) { return build(tool, record) }
	} else if s := open.script; s != nil && s.call == open && len(s.ran) > 0 {
		f.Fix, f.Source, f.Lost = Recovered, s.source(), 0
		s.output(&content, open)
	}
	f.Edits = []Edit{c.place(open, content)}
	c.report(f)
}

// place puts an output where the client would have written it: in the hole it left, behind the event that tells of
// it, or behind the outputs of the calls made before it. Outputs of one group keep the order of its calls.
func (c *callChecker) place(open *openCall, content Content) Edit {
	g := open.group
	from := g.anchor(open.place)
	if g.placed != nil && from.Less(g.placed.At) {
		from = g.placed.At
	}
	if ev := open.newest(); ev != nil && from.Less(ev.ref.Pos) && ev.ref.Pos.Less(g.end) {
		from = ev.ref.Pos
	}
	edit := Edit{At: from, Op: After, New: content}
	if h := c.run.holes.First(from, g.end); h != nil {
		edit = h.Insert(content)
	} else if g.placed != nil && g.placed.At == from {
		edit.Op = g.placed.Op
	}
	g.placed = &edit
	return edit
}

// withoutCall reports an output that answers nothing, and rebuilds its call if an event tells it.
func (c *callChecker) withoutCall(out *earlyOutput) {
	f := Finding{
		Rule: ruleOutputWithoutCall, Impact: Loses, Fix: SetAside, Pos: out.ref.Pos, Offset: out.ref.Offset, Record: "response_item/" + out.kind,
		Message: fmt.Sprintf("an output for call %s, which is missing: the client drops it", clip([]byte(out.callID), 40)),
		Edits:   []Edit{{At: out.ref.Pos, Op: Remove}},
		Lost:    2, Unseen: 1, On: out.ref, IDs: out.callID,
	}
	ev := c.loose[c.key(session.NoFamily, []byte(out.callID))]
	torn := c.tornFor(out)
	out.rebuilt = ev != nil && ev.tells&codex.TellsCall != 0 || torn != nil || out.script
	switch {
	case ev != nil && ev.tells&codex.TellsCall != 0:
		id, kind, shell := out.callID, out.kind, c.shell
		f.Fix, f.Source, f.Lost = Recovered, ev.source(), 0
		f.Edits = []Edit{c.placeCall(ev.ref.Pos, out, Content{From: &ev.ref, Build: func(record []byte) ([]byte, error) {
			return codex.CallFrom(id, kind, shell, record)
		}})}
	case torn != nil:
		torn.used = true
		f.Fix, f.Source, f.Lost = Recovered, fmt.Sprintf("the readable part of line %d", torn.at.Line), 0
		f.Edits = []Edit{{At: torn.at, Op: Before, New: Content{Literal: torn.call.Line(out.callID)}}}
	case out.script:
		f.Fix, f.Lost = StandIn, 1
		f.Edits = []Edit{c.placeScript(out)}
		if out.note { // which answers nothing
			f.Lost = 2
			tool := codex.Tool{Type: codex.CallType(out.kind), Name: "exec", CallID: out.callID}
			f.Edits = append(f.Edits, Edit{At: out.ref.Pos, Op: Before, New: Content{Literal: codex.StandIn(tool, out.stamp)}})
		}
	case c.run.opts.KeepOrphans:
		f.Fix, f.Lost = StandIn, 1
		f.Edits = []Edit{
			{At: out.ref.Pos, Op: Remove, Moved: true},
			{At: out.ref.Pos, Op: Before, New: Content{From: &out.ref, Build: func(record []byte) ([]byte, error) { return codex.Note(record), nil }}},
		}
	case out.kind == "function_call_output" || out.kind == "custom_tool_call_output":
		out.rebuilt = true
		if out.apart {
			out.group = nil
		}
		f.Fix, f.Lost = StandIn, 1
		f.Edits = []Edit{c.placeCall(out.ref.Pos, out, Content{Literal: codex.LostCall(out.callID, out.kind, out.stamp)})}
	}
	c.report(f)
}

// placeCall puts a call in the newest hole before what tells of it, or else among the calls that were being answered
// when its output came, or directly in front of what tells of it.
func (c *callChecker) placeCall(mention session.Pos, out *earlyOutput, content Content) Edit {
	at := mention
	if out.ref.Pos.Less(mention) {
		at = out.ref.Pos
	}
	if at.Lost > 0 {
		return Edit{At: at, Op: Before, New: content}
	}
	if h := c.holeBefore(at); h != nil {
		return h.Insert(content)
	}
	switch {
	case out.group == nil:
		return Edit{At: at, Op: Before, New: content}
	case out.before.Line > 0:
		return Edit{At: out.before, Op: Before, New: content}
	}
	return Edit{At: out.group.last(), Op: After, New: content}
}

// holeBefore is the newest hole in which a call may have stood whose output, or what else tells of it, stands at a place: not
// far in front of it, nor in front of a compaction, which forgets calls.
func (c *callChecker) holeBefore(at session.Pos) *check.Hole {
	from := session.Pos{Line: max(1, at.Line-64)}
	if from.Less(c.packed) && c.packed.Less(at) {
		from = c.packed
	}
	return c.run.holes.Newest(from, at)
}

func (c *callChecker) kindMismatch(open *openCall, rec *session.Record) {
	span := rec.Spans[codex.FieldPayloadType]
	want := codex.OutputType(open.tool.Type)
	cuts := []Cut{{Start: span.Start, End: span.End, New: []byte(`"` + want + `"`)}}
	if c.run.provider.IDs && wrongID(want, rec.ID) != "" { // it was right for the other kind
		cuts = append(cuts, codex.BlankID(rec.Raw, "payload"))
	}
	c.report(Finding{
		Rule: ruleKindMismatch, Impact: Loses, Fix: Exact, Pos: rec.Pos, Offset: rec.Offset, Record: rec.Type,
		Message: fmt.Sprintf("call %s is a %s and needs a %s: the client drops this one and tells the model it was aborted", clip(rec.CallID, 40), open.tool.Type, want),
		Edits:   []Edit{{At: rec.Pos, Op: Splice, Cuts: cuts}},
		Unseen:  1,
	})
}

func (c *callChecker) outputBeforeCall(open *openCall, out *earlyOutput) {
	edits := []Edit{{At: out.ref.Pos, Op: Remove, Moved: true}}
	if out.swapped {
		edits = append(edits,
			Edit{At: out.ref.Pos, Op: Before, New: Content{From: &open.ref}},
			Edit{At: open.ref.Pos, Op: Remove, Moved: true},
			Edit{At: open.ref.Pos, Op: Before, New: Content{From: &out.ref}})
	} else {
		edits = append(edits, c.place(open, Content{From: &out.ref}))
	}
	c.report(Finding{
		Rule: ruleOutputBeforeCall, Impact: Rejects, Fix: Exact, Pos: out.ref.Pos, Offset: out.ref.Offset, Record: "response_item/" + out.kind,
		Message: fmt.Sprintf("the output of call %s comes before the call, which is on line %d", clip([]byte(out.callID), 40), open.ref.Pos.Line),
		Edits:   edits, On: out.ref, IDs: out.callID,
	})
}

func (c *callChecker) duplicateCall(rec *session.Record, copied bool) {
	what := "a second, different call"
	if copied {
		what = "a copy of the call"
	}
	c.report(Finding{
		Rule: ruleDuplicateCall, Impact: Rejects, Fix: SetAside, Pos: rec.Pos, Offset: rec.Offset, Record: rec.Type,
		Message: fmt.Sprintf("%s with call_id %s: both are sent, and the API may refuse them", what, clip(rec.CallID, 40)),
		Edits:   []Edit{{At: rec.Pos, Op: Remove}},
		Unseen:  1,
	})
}

// written stands for when a record was written, and as which item; 0 if it does not say.
func (c *callChecker) written(rec *session.Record) uint64 {
	stamp := codex.Text(rec, codex.FieldTimestamp)
	if len(stamp) == 0 {
		return 0
	}
	return c.sum(stamp, rec.ID)
}

// duplicateOutput keeps the first output, unless an event confirms only the later one. Where one record stands there
// twice with two texts, a block is doubled, and the first stands at its seam: it ends with what the block begins with.
func (c *callChecker) duplicateOutput(key callKey, earlier answered, rec *session.Record, sum uint64) {
	f := Finding{
		Rule: ruleDuplicateOutput, Impact: Rejects, Fix: SetAside, Pos: rec.Pos, Offset: rec.Offset, Record: rec.Type,
		Message: fmt.Sprintf("a second output for call %s: both are sent, and the API may refuse them", clip(rec.CallID, 40)),
		Edits:   []Edit{{At: rec.Pos, Op: Remove}},
		Unseen:  1,
	}
	again := !earlier.proven && !rec.Torn && earlier.written != 0 && earlier.written == c.written(rec)
	switch better := !earlier.proven && c.proves(rec, earlier.proof, earlier.length); {
	case sum == earlier.output:
		f.Message += "; it is a copy of the first"
	case again && !better:
		f.Message = fmt.Sprintf("a second output for call %s, not the same as on line %d: the first is where a doubled block begins, and is removed", clip(rec.CallID, 40), earlier.at.Line)
		f.Edits = []Edit{{At: earlier.at, Op: Remove}}
		earlier.output, earlier.at, earlier.torn = sum, rec.Pos, false
		c.keep(key, earlier)
	case better || earlier.torn && !rec.Torn:
		f.Message += "; this one is confirmed by an event, so the first is removed"
		if !better {
			f.Message = fmt.Sprintf("a second output for call %s; the first was cut short and is removed", clip(rec.CallID, 40))
		}
		f.Edits = []Edit{{At: earlier.at, Op: Remove}}
		earlier.output, earlier.at, earlier.proven, earlier.torn = sum, rec.Pos, better, false
		c.keep(key, earlier)
	}
	c.report(f)
}

// restoreTorn replaces an output that was cut inside its text by the whole one that an event holds.
func (c *callChecker) restoreTorn(open *openCall, rec *session.Record) {
	tool, ev := open.tool, open.evidence
	c.run.AmendFraming(rec.Pos.Line, func(f *Finding) {
		f.Source = ev.source()
		f.Edits = append(f.Edits,
			Edit{At: rec.Pos, Op: Remove, Moved: true},
			Edit{At: rec.Pos, Op: Before, New: Content{From: &ev.ref, Build: func(record []byte) ([]byte, error) { return codex.OutputFrom(tool, record) }}})
	})
}
