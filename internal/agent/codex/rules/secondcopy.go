package rules

import (
	"fmt"
	"slices"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// A relay that counts the calls of each answer anew, or gives them no id of their own, gives several calls one id. Each has its output,
// behind it.

// namesake is a call with the id of an earlier one, whose own output has not come yet.
type namesake struct {
	finding finding.Finding // sets it aside, which is right if no output comes
	key     callKey
	copied  bool        // it is the same call as before
	id      finding.Cut // gives it an id of its own
}

// maxNamesakes is how many calls may wait for a second output with their id.
const maxNamesakes = 64

// secondCopy is a finding about the second of two records, of which one goes.
func secondCopy(rule *finding.Rule, rec *session.Record, gone session.Pos, message string) finding.Finding {
	f := rule.Of(rec, message).With(finding.Edit{At: gone, Op: finding.Remove})
	f.Unseen = 1
	return f
}

func (c *callChecker) duplicateCall(rec *session.Record, key callKey, copied bool) {
	what := "a second, different call"
	if copied {
		what = "a copy of the call"
	}
	f := secondCopy(ruleDuplicateCall, rec, rec.Pos, fmt.Sprintf("%s with call_id %s: both are sent, and the API may refuse them", what, check.Clip(rec.CallID, 40)))
	earlier, _ := c.answered(key)
	if open := c.open[key]; open != nil {
		earlier.begun = open.begun
	}
	if copied && earlier.begun == codex.SumOf(rec, codex.FieldTimestamp) || len(c.namesakes) == maxNamesakes {
		c.run.Report(f)
		return
	}
	span := rec.Spans[codex.FieldCallID]
	id := api.FreshID(nil, fmt.Sprint(string(rec.CallID), codex.Stamp(rec), len(c.namesakes)))
	c.namesakes = append(c.namesakes, namesake{f, key, copied, finding.Cut{Start: span.Start, End: span.End, New: quoted(id)}})
}

// ownOutput takes an output for that of a call which has the id of an earlier one, and gives both a new one. It returns false if no such
// call waits, or if the output is a copy of the earlier call's: written at the same time or, where no time tells, of the same text.
func (c *callChecker) ownOutput(key callKey, earlier answered, rec *session.Record, sum uint64) bool {
	i := slices.IndexFunc(c.namesakes, func(n namesake) bool { return n.key == key })
	if i < 0 {
		return false
	}
	same := sum == earlier.output
	if written := c.written(rec); written != 0 && earlier.written != 0 {
		same = written == earlier.written && (same && c.namesakes[i].copied || earlier.at.Less(c.back))
	}
	if same || earlier.torn || rec.Torn {
		return false
	}
	call, span := c.namesakes[i], rec.Spans[codex.FieldCallID]
	f := call.finding
	f.Fix, f.First, f.Unseen = finding.Exact, true, 0
	f.Message = fmt.Sprintf("another call has the call_id %s, too: all are sent, and the API may refuse them; this one and its output, on line %d, get a new one", check.Clip(rec.CallID, 40), rec.Pos.Line)
	f.Edits = []finding.Edit{
		{At: f.Pos, Op: finding.Splice, Cuts: []finding.Cut{call.id}},
		{At: rec.Pos, Op: finding.Splice, Cuts: []finding.Cut{{Start: span.Start, End: span.End, New: call.id.New}}},
	}
	c.run.Report(f)
	c.namesakes = slices.Delete(c.namesakes, i, i+1)
	return true
}

// settleNamesakes is done at the end of an answer: outputs that its calls have not got yet will not come.
func (c *callChecker) settleNamesakes() {
	for i := range c.namesakes {
		c.run.Report(c.namesakes[i].finding)
	}
	c.namesakes, c.served = c.namesakes[:0], false
}

// callAtSeam reports a call that is there twice with the same id and time but different texts: the first is at the seam where a
// doubled block of the file begins, and ends with the bytes with which the block begins. The first is removed and forgotten,
// and the second counts as the call.
func (c *callChecker) callAtSeam(first *openCall, rec *session.Record) {
	message := fmt.Sprintf("a second call with call_id %s, not the same as on line %d: the first is where a duplicated block begins, and is removed", check.Clip(rec.CallID, 40), first.ref.Pos.Line)
	c.run.Report(secondCopy(ruleDuplicateCall, rec, first.ref.Pos, message))
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
	f := secondCopy(ruleDuplicateOutput, rec, rec.Pos, fmt.Sprintf("a second output for call %s: both are sent, and the API may refuse them", check.Clip(rec.CallID, 40)))
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
	c.run.Report(f)
}

// leaveCut says that an output that was cut off need not be completed: it is removed, because the whole one follows.
func (c *callChecker) leaveCut(earlier answered) {
	if earlier.torn {
		c.run.About(earlier.at).Mend = check.Mend{}
	}
}
