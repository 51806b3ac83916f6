package rules

import (
	"fmt"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// withoutCall reports an output whose call is missing. The call is restored if something shows what it was; otherwise a
// placeholder replaces it.
func (c *callChecker) withoutCall(out *earlyOutput) {
	f := ruleOutputWithoutCall.At(out.ref, "response_item/"+out.kind, fmt.Sprintf("an output for call %s, which is missing: the client drops it", check.Clip([]byte(out.callID), 40)))
	f.Fix, f.Edits = finding.SetAside, []finding.Edit{{At: out.ref.Pos, Op: finding.Remove}}
	f.Lost, f.Unseen, f.On, f.IDs = 2, 1, out.ref, out.callID
	event := c.loose[c.key(session.NoFamily, []byte(out.callID))]
	torn := c.tornFor(out)
	out.rebuilt = true
	switch {
	case event != nil && event.tells&codex.TellsCall != 0:
		c.callFromEvent(&f, out, event)
	case torn != nil:
		torn.used = true
		f.Fix, f.Source, f.Lost = finding.Recovered, fmt.Sprintf("the readable part of line %d", torn.at.Line), 0
		f.Edits = []finding.Edit{{At: torn.at, Op: finding.Before, New: finding.Content{Literal: torn.call.Line(out.callID)}}}
	case out.script:
		c.callOfScript(&f, out)
	case c.run.opts.KeepOrphans:
		out.rebuilt = false
		f.Fix, f.Lost = finding.StandIn, 1
		f.Edits = []finding.Edit{
			{At: out.ref.Pos, Op: finding.Remove, Moved: true},
			{At: out.ref.Pos, Op: finding.Before, New: finding.Content{From: &out.ref, Recipe: codex.NoteRecipe{}}},
		}
	case out.kind == "function_call_output" || out.kind == "custom_tool_call_output":
		if out.apart {
			out.group = nil
		}
		f.Fix, f.Lost = finding.StandIn, 1
		f.Edits = []finding.Edit{c.placeCall(out.ref.Pos, out, finding.Content{From: &out.ref, Recipe: codex.LostCallRecipe{CallID: out.callID, OutputType: out.kind}})}
	default:
		out.rebuilt = false
	}
	c.run.Report(f)
}

// callFromEvent restores the call from an event that repeats it.
func (c *callChecker) callFromEvent(f *finding.Finding, out *earlyOutput, event *evidence) {
	f.Fix, f.Source, f.Lost = finding.Recovered, event.source(), 0
	f.Edits = []finding.Edit{c.placeCall(event.ref.Pos, out, finding.Content{From: &event.ref, Recipe: codex.CallRecipe{CallID: out.callID, OutputType: out.kind, Naming: c.naming()}})}
}

// callOfScript inserts a placeholder for the call of a script. If the record is only a note of the script, which answers
// nothing, it also inserts one for the call's output.
func (c *callChecker) callOfScript(f *finding.Finding, out *earlyOutput) {
	f.Fix, f.Lost = finding.StandIn, 1
	f.Edits = []finding.Edit{c.placeScript(out)}
	if out.note {
		f.Lost = 2
		tool := codex.Tool{Type: codex.CallType(out.kind), Name: "exec", CallID: out.callID}
		f.Edits = append(f.Edits, finding.Edit{At: out.ref.Pos, Op: finding.Before, New: finding.Content{Literal: codex.StandIn(tool, out.stamp)}})
	}
}

// placeCall puts a call into the newest hole before the record that mentions it. If there is no hole, the call goes beside the
// calls that were being answered when its output came, or else directly in front of the record that mentions it.
func (c *callChecker) placeCall(mention session.Pos, out *earlyOutput, content finding.Content) finding.Edit {
	at := mention
	if out.ref.Pos.Less(mention) {
		at = out.ref.Pos
	}
	if at.Lost > 0 {
		return finding.Edit{At: at, Op: finding.Before, New: content}
	}
	if h := c.holeBefore(at); h != nil {
		return h.Insert(content)
	}
	switch {
	case out.group == nil:
		return finding.Edit{At: at, Op: finding.Before, New: content}
	case out.before.Line > 0:
		return finding.Edit{At: out.before, Op: finding.Before, New: content}
	}
	return finding.Edit{At: out.group.last(), Op: finding.After, New: content}
}

// holeBefore is the newest hole in front of a place in which a call that is mentioned there may have been. The hole must not be
// far from the place, nor in front of a compaction, which forgets calls.
func (c *callChecker) holeBefore(at session.Pos) *check.Hole {
	from := session.Pos{Line: max(1, at.Line-64)}
	if from.Less(c.packed) && c.packed.Less(at) {
		from = c.packed
	}
	return c.run.holes.Newest(from, at)
}

// naming is how the session names tools: 0.114 and older write a server's tool in one word, 0.145 and newer in two (measured).
func (c *callChecker) naming() codex.Naming {
	return codex.Naming{Shell: c.shell, OneWord: codex.Before(c.run.header.Version, 0, 145)}
}
