package rules

import (
	"fmt"
	"slices"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

func (c *callChecker) duplicateCall(rec *session.Record, copied bool) {
	what := "a second, different call"
	if copied {
		what = "a copy of the call"
	}
	c.report(finding.Finding{
		Rule: ruleDuplicateCall, Impact: finding.Rejects, Fix: finding.SetAside, Pos: rec.Pos, Offset: rec.Offset, Record: rec.Type,
		Message: fmt.Sprintf("%s with call_id %s: both are sent, and the API may refuse them", what, check.Clip(rec.CallID, 40)),
		Edits:   []finding.Edit{{At: rec.Pos, Op: finding.Remove}},
		Unseen:  1,
	})
}

// callAtSeam reports a call that is there twice with the same id and time but different texts: the first is at the seam where a
// doubled block of the file begins, and ends with the bytes with which the block begins. The first is removed and forgotten,
// and the second counts as the call.
func (c *callChecker) callAtSeam(first *openCall, rec *session.Record) {
	c.report(finding.Finding{
		Rule: ruleDuplicateCall, Impact: finding.Rejects, Fix: finding.SetAside, Pos: rec.Pos, Offset: rec.Offset, Record: rec.Type,
		Message: fmt.Sprintf("a second call with call_id %s, not the same as on line %d: the first is where a duplicated block begins, and is removed", check.Clip(rec.CallID, 40), first.ref.Pos.Line),
		Edits:   []finding.Edit{{At: first.ref.Pos, Op: finding.Remove}},
		Unseen:  1,
	})
	delete(c.open, c.key(first.family, []byte(first.tool.CallID)))
	if c.asked[first.sum] == first {
		delete(c.asked, first.sum)
	}
	if first.script != nil {
		c.runs.drop(first.script)
	}
	first.leave()
}

// itemSum is a hash of the id that the item itself has, 0 if it has none.
func itemSum(rec *session.Record) uint64 {
	if len(codex.Field(rec, codex.FieldID)) == 0 {
		return 0
	}
	return codex.SumOf(rec, codex.FieldID)
}

// written is a hash of the time and the item's id that a record names; 0 if it names no time.
func (c *callChecker) written(rec *session.Record) uint64 {
	if len(codex.Text(rec, codex.FieldTimestamp)) == 0 {
		return 0
	}
	return says(rec, codex.FieldTimestamp, codex.FieldID)
}

// duplicateOutput reports a second output for one call. The first one is kept unless an event confirms only the second, or the
// first was cut off. If both have the same time and id but different texts, they are one record of a doubled block of the file:
// the first is at the seam, and ends with the bytes with which the block begins.
func (c *callChecker) duplicateOutput(key callKey, earlier answered, rec *session.Record, sum uint64) {
	f := finding.Finding{
		Rule: ruleDuplicateOutput, Impact: finding.Rejects, Fix: finding.SetAside, Pos: rec.Pos, Offset: rec.Offset, Record: rec.Type,
		Message: fmt.Sprintf("a second output for call %s: both are sent, and the API may refuse them", check.Clip(rec.CallID, 40)),
		Edits:   []finding.Edit{{At: rec.Pos, Op: finding.Remove}},
		Unseen:  1,
	}
	sameRecord := !earlier.proven && !rec.Torn && earlier.written != 0 && earlier.written == c.written(rec)
	confirmed := !earlier.proven && c.proves(rec, earlier.proof, earlier.length)
	switch {
	case sum == earlier.output:
		f.Message += "; it is a copy of the first"
	case sameRecord && !confirmed:
		f.Message = fmt.Sprintf("a second output for call %s, not the same as on line %d: the first is where a duplicated block begins, and is removed", check.Clip(rec.CallID, 40), earlier.at.Line)
		f.Edits = []finding.Edit{{At: earlier.at, Op: finding.Remove}}
		c.leaveCut(earlier)
		earlier.output, earlier.at, earlier.torn = sum, rec.Pos, false
		c.keep(key, earlier)
	case confirmed || earlier.torn && !rec.Torn:
		f.Message += "; this one is confirmed by an event, so the first is removed"
		if !confirmed {
			f.Message = fmt.Sprintf("a second output for call %s; the first was cut short and is removed", check.Clip(rec.CallID, 40))
		}
		f.Edits = []finding.Edit{{At: earlier.at, Op: finding.Remove}}
		c.leaveCut(earlier)
		earlier.output, earlier.at, earlier.proven, earlier.torn = sum, rec.Pos, confirmed, false
		c.keep(key, earlier)
	}
	c.report(f)
}

// leaveCut withdraws the completion of an output that was cut off: it is removed, because the whole one follows.
func (c *callChecker) leaveCut(earlier answered) {
	c.run.AmendFraming(earlier.at.Line, func(f *finding.Finding) {
		rest := slices.DeleteFunc(slices.Clone(f.Edits), func(e finding.Edit) bool {
			return earlier.torn && e.At == earlier.at && (e.Op == finding.Before || e.Op == finding.Remove && e.Moved)
		})
		if len(rest) < len(f.Edits) {
			f.Edits, f.Source = rest, ""
		}
	})
}
