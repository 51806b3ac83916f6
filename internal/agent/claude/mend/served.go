package mend

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// servedAlone reports outputs of the API's servers whose call is not in the file, which clients send nevertheless (measured
// with 2.1.330), and calls without their output.
func (c *Checker) servedAlone() {
	if !c.some.served {
		return
	}
	calls, outputs, wrong := map[string]bool{}, map[string]bool{}, map[string]string{}
	goesOn := map[string]bool{}  // answers that end with text
	waiting := map[string]bool{} // answers that also call one of the client's tools: the servers' output may wait for that one's
	for _, n := range c.nodes {
		for _, s := range n.Served {
			calls[s.ID] = calls[s.ID] || !s.Output
			outputs[s.ID] = outputs[s.ID] || s.Output
			if what := s.WrongID(); what != "" && !n.Foreign {
				wrong[s.ID] = what
			}
		}
		if n.Role == content.RoleAssistant && len(n.Blocks) > 0 {
			goesOn[n.Msg] = n.Blocks[len(n.Blocks)-1].Kind == content.BlockText
			waiting[n.Msg] = waiting[n.Msg] || slices.ContainsFunc(n.Blocks, func(b content.Block) bool { return b.Kind == content.BlockCall })
		}
	}
	for _, n := range c.nodes {
		for _, s := range n.Served {
			if what := wrong[s.ID]; what != "" {
				f := c.fault(n, check.Refused, s.Span.Start, "the API refuses every request: a call of one of its own tools: "+what,
					finding.Cut{Start: s.At.Start, End: s.At.End, New: jsonl.AppendQuote(nil, api.FreshID(s.Call(), s.ID))})
				f.Fix, f.Impact = finding.Exact, faults.OnAll(finding.Rejects)
			}
			switch {
			case s.Output && !calls[s.ID]:
				f := c.fault(n, faults.BadBlock, s.Span.Start, "the output of one of the API's own tools has no call: the API refuses it",
					finding.Cut{Start: s.Span.Start, End: s.Span.Start, New: append(s.Call(), ',')})
				f.Fix, f.Lost = finding.StandIn, 1
			case !s.Output && !outputs[s.ID] && slices.Contains(servedTools, s.Tool) && (s.Tool == webSearch || !waiting[n.Msg]):
				c.servedCallAlone(n, s, goesOn[n.Msg])
			}
		}
	}
}

const webSearch = "web_search"

// servedTools are the tools whose calls the API refuses without their outputs (its documentation).
var servedTools = []string{webSearch, "web_fetch", "code_execution", "bash_code_execution", "text_editor_code_execution"}

// servedCallAlone reports a call of the API's servers without its output. 2.1.2 sends it so, 2.1.330 drops it; both send a
// placeholder for the output (measured). If the answer does not go on after the call, it was interrupted, and nothing is lost
// by dropping it.
func (c *Checker) servedCallAlone(n *node, s content.Served, goesOn bool) {
	impact := faults.OldAndNewer(finding.Rejects, finding.Notes)
	if goesOn {
		impact = faults.OldAndNewer(finding.Rejects, finding.Loses)
	}
	if c.worst(impact) == finding.Notes {
		return
	}
	what := "this web search"
	if s.Tool != webSearch {
		what = "this call of one of the API's own tools (" + s.Tool + ")"
	}
	f := c.fault(n, faults.LostResult, s.Span.Start, what+" has no output: the client drops it, an older one sends it and the API refuses it",
		finding.Cut{Start: s.Span.End, End: s.Span.End, New: append([]byte{','}, s.NoOutput()...)})
	f.Fix, f.Impact, f.Lost = finding.StandIn, impact, 1
}

// servedApart mends served calls that something stands apart from their outputs in the chain that the client wrote there: a command run by
// hand, a reminder, a prompt that waited. It sends that as the user, so the two halves come into two messages, and the API refuses every
// further request (2.1.215 to 2.1.332, measured). What stands between moves behind the turn.
func (c *Checker) servedApart() {
	if !c.some.served {
		return
	}
	calls := map[string]*node{}
	for _, n := range c.nodes {
		for _, s := range n.Served {
			switch call := calls[s.ID]; {
			case !s.Output:
				calls[s.ID] = n
			case call != nil && call != n && call.Msg != "" && call.Msg == n.Msg && !n.Side && n.dropped == nil:
				c.joinServed(call, n)
			}
		}
	}
}

// joinServed hangs what stands between the two halves of a served call behind the turn.
func (c *Checker) joinServed(call, output *node) {
	last := output.up
	first, sent, inAnswer := last, false, false
	for p, steps := last, 0; p != call; p, steps = p.up, steps+1 {
		switch {
		case p == nil || p.Role == content.RoleResult || p.Role == content.RoleBoundary || steps > maxSiblings:
			return
		case p.Role == content.RoleAssistant && p != last && p.Msg == call.Msg: // further calls of the answer
			inAnswer = true
			continue
		case p.Role == content.RoleAssistant || inAnswer:
			return
		}
		first = p
		sent = sent || p.Role == content.RoleUser || p.Attachment != "" && p.Attachment != "prompt_snapshot" || p.Typ == "system" && p.Over
	}
	if !sent {
		return
	}
	d := c.find(output, faults.LateResult, "something that the client wrote comes between a call of one of the API's own tools and its output: the API refuses every further request")
	d.also, d.Impact = []*node{call}, finding.Rejects
	c.hang(output, first.up, d)
	end, next := turnEnd(output), (*node)(nil)
	for k := end.first; k != nil; k = k.latter {
		if !k.Side && k.dropped == nil && k.IsPrompt() {
			next = k
		}
	}
	c.hang(first, end, d)
	if next != nil {
		c.hang(next, last, d)
	}
}
