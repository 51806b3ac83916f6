package rules

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

var ruleWrongCallID = texts.Rule(finding.Rule{Name: "wrong-call-id", Family: "calls", Impact: finding.Loses, Fix: finding.Exact})

// maxCompared is how many outputs without a call, of those for the calls of one answer, are compared with each of these calls.
const maxCompared = 8

// damagedIDs pairs calls without an output and outputs without a call that stand together and whose ids show that they were one.
func (c *callChecker) damagedIDs() {
	if len(c.open) == 0 || len(c.early) == 0 {
		return
	}
	outputs := map[*callGroup][]*earlyOutput{}
	for _, out := range check.InOrder(c.early, func(o *earlyOutput) session.Pos { return o.ref.Pos }) {
		if out.group != nil && !out.note && len(outputs[out.group]) < maxCompared {
			outputs[out.group] = append(outputs[out.group], out)
		}
	}
	for _, open := range check.InOrder(c.open, func(o *openCall) session.Pos { return o.ref.Pos }) {
		for _, out := range outputs[open.group] {
			key := c.key(out.family, []byte(out.callID))
			if c.early[key] != out || codex.OutputType(open.tool.Type) != out.kind || out.ref.Pos.Less(open.ref.Pos) {
				continue
			}
			id, ok := c.oneID(open, out)
			if !ok {
				continue
			}
			c.wrongCallID(open, out, id)
			delete(c.early, key)
			delete(c.open, c.key(open.family, []byte(open.tool.CallID)))
			break
		}
	}
}

// withoutID takes an output without a call_id for that of the only call which waits for one. It returns false for any other record.
func (c *callChecker) withoutID(rec *session.Record) bool {
	if c.group == nil || c.group.over || len(c.open) != 1 || !rec.Model || rec.Pos == c.run.limited.paired || len(rec.CallID) > 0 || len(codex.Field(rec, codex.FieldOutput)) == 0 || codex.Misfit(rec) != "" {
		return false
	}
	for key, open := range c.open {
		if open.group != c.group || "response_item/"+codex.OutputType(open.tool.Type) != rec.Type {
			return false
		}
		f := ruleWrongCallID.Of(rec, fmt.Sprintf("this output has no call_id; it answers call %s on line %d, the only one without an output, which the client takes for aborted", check.Clip([]byte(open.tool.CallID), 40), open.ref.Pos.Line))
		f.Fix, f.Source, f.On, f.Unseen = finding.Recovered, "the only call without an output", finding.RefOf(rec), 1
		c.run.Report(f.With(finding.Edit{At: rec.Pos, Op: finding.Splice, Cuts: []finding.Cut{session.SetMember(rec.Raw, "payload", "call_id", quoted(open.tool.CallID))}}))
		c.answer(key, open, rec, says(rec, codex.FieldOutput))
	}
	return true
}

// maxFirstIDs is how many ids that are not the client's are remembered.
const maxFirstIDs = 64

// doubledID is the first of two ids that a call or an output has, and the cut that takes the last one out, which the client takes.
type doubledID struct {
	first string
	last  finding.Cut
}

// firstID remembers the first of two ids.
func (c *callChecker) firstID(rec *session.Record) {
	if rec.Written == nil || rec.Mended || len(c.firstIDs) == maxFirstIDs {
		return
	}
	pairs := session.DoubledMembers(rec.Written)
	if len(pairs) != 1 {
		return
	}
	if id := gjson.GetBytes(session.Blanked(rec.Written, pairs[0].Last), "payload.call_id").Str; id != "" && id != string(rec.CallID) {
		if c.firstIDs == nil {
			c.firstIDs = map[session.Pos]doubledID{}
		}
		c.firstIDs[rec.Pos] = doubledID{id, pairs[0].Last}
	}
}

// oneID is the id that a call and an output have had in common, if one of theirs was damaged.
func (c *callChecker) oneID(open *openCall, out *earlyOutput) (id string, ok bool) {
	ofCall, ofOutput := open.tool.CallID, out.callID
	callForeign, outputForeign := !inCallID.All([]byte(ofCall)), !inCallID.All([]byte(ofOutput))
	shownCall, shownOutput := open.evidence != nil, c.loose[c.key(session.NoFamily, []byte(ofOutput))] != nil
	switch {
	case ofCall != "" && ofCall == c.firstIDs[out.ref.Pos].first:
		return ofCall, true
	case ofOutput != "" && ofOutput == c.firstIDs[open.ref.Pos].first:
		return ofOutput, true
	case out.holed > 0 && normalize.Fills(ofCall, ofOutput, out.holed):
		return ofCall, true
	case open.torn && strings.HasPrefix(ofOutput, ofCall):
		return ofOutput, true
	case callForeign == outputForeign && shownCall && shownOutput:
		return "", false // events know both
	case outputForeign && !callForeign:
		return ofCall, bare(ofOutput) == ofCall || alike(ofCall, ofOutput, foreignID)
	case callForeign && !outputForeign:
		return ofOutput, bare(ofCall) == ofOutput || alike(ofCall, ofOutput, foreignID)
	case shownOutput:
		return ofOutput, alike(ofCall, ofOutput, shortID)
	case shownCall:
		return ofCall, alike(ofCall, ofOutput, shortID)
	}
	return ofCall, alike(ofCall, ofOutput, longID)
}

// inCallID is what call_ids consist of.
var inCallID = codex.SetOf("_.:/|+=-")

// bare is an id without the bytes that no id has.
func bare(id string) string {
	kept := make([]byte, 0, len(id))
	for i := range len(id) {
		if inCallID[id[i]] {
			kept = append(kept, id[i])
		}
	}
	return string(kept)
}

// Ids of the API are random. Programs count theirs, so two short ones may differ in a single byte: then an event must know one of them,
// and none the other.
const (
	longID    = 20
	shortID   = 8
	foreignID = 4 // with bytes that no id has
)

// alike says whether two ids, of which none is shorter than least, differ only in one place: some bytes came in, or are gone, or one is
// another.
func alike(a, b string, least int) bool {
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	front := 0
	for front < len(short) && short[front] == long[front] {
		front++
	}
	back := 0
	for back < len(short)-front && short[len(short)-1-back] == long[len(long)-1-back] {
		back++
	}
	changed := 0
	if len(short) == len(long) {
		changed = 1
	}
	return len(short) >= least && front+back+changed >= len(short)
}

// wrongCallID reports a call and an output whose ids differ, and gives both the one that was the id of both.
func (c *callChecker) wrongCallID(open *openCall, out *earlyOutput, id string) {
	ref, at, whose := out.ref, out.idAt, out.callID
	this, other, line := "output", "call", open.ref.Pos.Line
	if id == out.callID {
		ref, at, whose = open.ref, open.idAt, open.tool.CallID
		this, other, line = "call", "output", out.ref.Pos.Line
	}
	f := ruleWrongCallID.At(ref, "", fmt.Sprintf("the id of this %s, %s, is not that of its %s, %s, on line %d: the client drops the output", this, check.Clip([]byte(whose), 40), other, check.Clip([]byte(id), 40), line))
	f.Unseen, f.On, f.IDs = 1, ref, whose
	cut := finding.Cut{Start: at.Start, End: at.End, New: quoted(id)}
	if two := c.firstIDs[ref.Pos]; two.first == id { // some clients drop a record in which a key stands twice
		cut = two.last
	}
	c.run.Report(f.With(finding.Edit{At: ref.Pos, Op: finding.Splice, Cuts: []finding.Cut{cut}}))
}
