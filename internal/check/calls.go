package check

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// Encoder makes the edits that mend an agent's records: whole lines if a record is one line, cuts if it holds several items.
type Encoder interface {
	// Answer gives an open call an output that says that nothing is known of its outcome.
	Answer(call Open) []finding.Edit
	// EndTurn closes an open turn behind the last record of it.
	EndTurn(turn Open, last session.Pos) []finding.Edit
	// Drop takes a record out of the session.
	Drop(rec *session.Record) []finding.Edit
}

// Open is a call without an output, or a turn without an end.
type Open struct {
	At     finding.Ref
	ID     string
	Record string // its type in the agent's words
}

// Calls pairs tool calls and outputs by their ids, for an agent whose format needs no more than that. Codex has a
// checker of its own, which knows what its client writes a second time.
type Calls struct {
	run    *Run
	enc    Encoder
	seed   maphash.Seed
	open   map[uint64]Open
	called map[uint64]bool  // calls that have come, answered or not
	got    map[uint64]bool  // calls whose output has come
	early  map[uint64]early // outputs whose call has not come yet
}

type early struct {
	Open
	drop []finding.Edit
}

// NewCalls makes the checker for one session.
func NewCalls(run *Run, enc Encoder) *Calls {
	return &Calls{run: run, enc: enc, seed: maphash.MakeSeed(), open: map[uint64]Open{}, called: map[uint64]bool{}, got: map[uint64]bool{}, early: map[uint64]early{}}
}

// Record takes the next record into account.
func (c *Calls) Record(rec *session.Record) {
	key := maphash.Bytes(c.seed, rec.CallID)
	switch rec.Kind {
	case session.Call:
		c.call(key, rec)
	case session.Output:
		c.output(key, rec)
	}
}

func (c *Calls) call(key uint64, rec *session.Record) {
	if c.called[key] {
		c.second(DuplicateCall, rec, "a second call with the id")
		return
	}
	c.called[key] = true
	if _, answered := c.early[key]; answered {
		delete(c.early, key)
		return
	}
	c.open[key] = openOf(rec, rec.CallID)
}

func (c *Calls) output(key uint64, rec *session.Record) {
	switch {
	case c.got[key]:
		c.second(DuplicateOutput, rec, "a second output for call")
		return
	case c.called[key]:
		delete(c.open, key)
	default:
		c.early[key] = early{openOf(rec, rec.CallID), c.enc.Drop(rec)}
	}
	c.got[key] = true
}

// shortID is the id as a message shows it.
func (o Open) shortID() string { return Clip([]byte(o.ID), 40) }

func openOf(rec *session.Record, id []byte) Open {
	return Open{finding.RefOf(rec), string(id), rec.Type}
}

// second reports a record whose id an earlier one has already. what says which record it is, in front of the id.
func (c *Calls) second(rule *finding.Rule, rec *session.Record, what string) {
	c.run.Report(finding.Finding{
		Rule: rule, Impact: rule.Impact, Fix: finding.SetAside, Pos: rec.Pos, Offset: rec.Offset, Record: rec.Type,
		Message: what + " " + Clip(rec.CallID, 40), Edits: c.enc.Drop(rec), Unseen: 1,
	})
}

// End reports what is still unpaired, in the order of the file.
func (c *Calls) End() {
	if c.run.Options().Live {
		return
	}
	for _, call := range InOrder(c.open, func(o Open) session.Pos { return o.At.Pos }) {
		c.run.Report(call.finding(CallWithoutOutput, finding.StandIn, fmt.Sprintf("call %s has no output", call.shortID()), c.enc.Answer(call)))
	}
	for _, out := range InOrder(c.early, func(e early) session.Pos { return e.At.Pos }) {
		c.run.Report(out.finding(OutputWithoutCall, finding.SetAside, fmt.Sprintf("an output for call %s, which is missing", out.shortID()), out.drop))
	}
}

// finding is one about the open call or turn; its edits mend it.
func (o Open) finding(rule *finding.Rule, fix finding.Fix, message string, edits []finding.Edit) finding.Finding {
	return finding.Finding{
		Rule: rule, Impact: rule.Impact, Fix: fix, Pos: o.At.Pos, Offset: o.At.Offset, Record: o.Record, On: o.At, IDs: o.ID,
		Message: message, Edits: edits, Lost: 1,
	}
}

// InOrder returns the values of a map in the order of their places in the file, no two of which may be the same.
func InOrder[K comparable, T any](m map[K]T, at func(T) session.Pos) []T {
	return slices.SortedFunc(maps.Values(m), func(a, b T) int {
		if at(a).Less(at(b)) {
			return -1
		}
		return 1
	})
}
