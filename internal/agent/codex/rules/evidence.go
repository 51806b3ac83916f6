package rules

import (
	"cmp"
	"fmt"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// evidence is an event that repeats a call, or its output.
type evidence struct {
	witness
	tells  codex.Tells
	proof  uint64 // hash of the text with which the output must end, as it is written in the file
	length int    // length of that text, in bytes; 0 if the event proves nothing
	kept   bool   // it is a compaction, whose history holds the output
}

// output is how the output of a call is made of the event.
func (ev *evidence) output(tool codex.Tool) finding.Recipe {
	if ev.kept {
		return codex.KeptOutputRecipe{Tool: tool}
	}
	return codex.OutputRecipe{Tool: tool}
}

// proves says whether an output ends with the text that has this length and hash.
func (c *callChecker) proves(rec *session.Record, proof uint64, length int) bool {
	text := codex.Literal(rec, codex.FieldOutput)
	at := len(text) - length
	if at == 0 {
		return length > 0 && codex.SumOf(rec, codex.FieldOutput) == proof
	}
	return length > 0 && at > 0 && codex.Sum(text[at:]) == proof && !jsonl.Escaped(text, at)
}

// evidence takes an event. If it repeats a call that is open, or one that has not been seen, its place is kept.
func (c *callChecker) evidence(rec *session.Record) {
	tells, name := codex.Evidence(rec)
	if tells&(codex.TellsOutput|codex.TellsCall) == 0 || len(rec.CallID) == 0 {
		return
	}
	if codex.Nested(rec) {
		t := &witness{ref: finding.RefOf(rec), name: name, torn: rec.Torn, from: rec.From}
		if tells&codex.TellsOutput != 0 && c.runs.late(rec, t) {
			return
		}
		if rec.Pos.Lost > 0 && !c.runs.goesOn(rec) {
			c.lostScript(rec.Pos)
		}
		c.runs.number, c.runs.apart = rec.Ordinal.Value, false
		if tells&codex.TellsOutput != 0 {
			c.runs.ran(rec, t)
		}
		return
	}
	ev := c.made.evidence.one()
	ev.ref.Set(rec)
	ev.name, ev.torn, ev.from, ev.tells = name, rec.Torn, rec.From, tells
	c.args.told(rec, ev, c.naming)
	if text, sum := codex.Proof(rec); len(text) > 0 {
		ev.proof, ev.length = sum, len(text)
	}
	seen := false
	id := c.key(session.NoFamily, rec.CallID)
	for family := session.Function; family <= session.Search; family++ {
		if open, ok := c.open[id+callKey(family)]; ok {
			seen = true
			if open.evidence == nil || open.evidence.tells&codex.TellsOutput == 0 {
				open.evidence = ev
			}
		}
	}
	for family := session.Function; family <= session.Search && !seen; family++ {
		if _, seen = c.answered(id + callKey(family)); seen {
			c.long.end(rec, ev)
		}
	}
	if !seen {
		c.only(rec, ev)
	}
	if !seen && len(c.loose) < 1<<16 {
		if _, err := codex.CallFrom(string(rec.CallID), "", codex.Naming{}, rec.Raw); err != nil {
			ev.tells &^= codex.TellsCall
		}
		c.loose[id] = ev
	}
}

// witness is an event that repeats what another record says.
type witness struct {
	ref  finding.Ref
	name string
	torn bool   // its line was cut off: the record that it repeats was never written, or is lost with the rest
	sum  uint64 // for a message's event: its eventSum
	said uint64 // for a thought's event: the sum of the first text that it shows
	from string // the file that holds it, if the session has lost it; "" for the client's database
}

// source names the witness in a report.
func (t *witness) source() string {
	if t.ref.Pos.Lost > 0 {
		return cmp.Or(t.from, KeptSource)
	}
	return fmt.Sprintf("%s on line %d", t.name, t.ref.Pos.Line)
}
