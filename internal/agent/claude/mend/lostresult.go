package mend

import (
	"cmp"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
)

// lostResultBefore restores a call's lost output, if it is the missing parent of some records.
func (c *Checker) lostResultBefore(id string, children []*node, p *node) bool {
	n := children[0]
	if n.Filler || p != nil && p.Filler {
		return false // the client has gone on without the output
	}
	call, callID := c.openCall(p, n)
	if call == nil || n.Msg != "" && n.Msg == call.Msg || p != nil && p.Role == content.RoleUser {
		return false
	}
	d := c.find(call, faults.LostResult, "the output of this call is not in the file, and what follows depends on it: the client forgets everything above")
	d.Fix, d.Lost = finding.StandIn, 1
	if !c.restored(d, id, call, n) {
		c.insertResult(d, call, callID, id, n, finding.Before)
	}
	return true
}

// openCall is the last call without an output in the answer that p belongs to or follows. If an earlier answer's call has no
// output, it never ran: the model went on without it.
func (c *Checker) openCall(p, until *node) (*node, string) {
	last := "" // the nearest answer that has calls
	for i := until.index - 1; i >= 0 && i > until.index-maxSiblings; i-- {
		m := c.nodes[i]
		if m.Side || m.Synthetic {
			continue
		}
		if m.IsPrompt() {
			return nil, ""
		}
		if m.Role != content.RoleAssistant {
			continue
		}
		ids := m.IDs(content.BlockCall)
		if last != "" && m.answer() != last {
			return nil, ""
		}
		if len(ids) > 0 {
			last = m.answer()
		}
		for j := len(ids) - 1; j >= 0; j-- {
			if len(c.results()[ids[j]]) == 0 {
				return m, ids[j]
			}
		}
		if p == nil || m.Msg != c.nodes[until.index-1].Msg && len(ids) == 0 {
			return nil, ""
		}
	}
	return nil, ""
}

// insertResult writes an output for a call: the real one if it is found anywhere, else a placeholder.
func (c *Checker) insertResult(d *draft, call *node, callID, id string, beside *node, op finding.Op) *node {
	words, source := c.outputOf(callID)
	if source == "" {
		words, source = c.fileOutput(call, callID)
	}
	block := format.Object{"type": "tool_result", "tool_use_id": callID, "content": words}
	left, from := c.pieces.Output(callID)
	ok := from != ""
	if alone, is := c.pieces.OutputsFrom[call.UUID]; is && !ok && len(call.IDs(content.BlockCall)) == 1 {
		left, ok = alone, true
	}
	if told, at := c.pieces.OutputsAt[id]; at && !ok && call.CallsOnce() {
		left, ok = told, true
	}
	if !ok && call.CallsOnce() {
		left, ok = c.pieces.OutputBetween(&call.Facts, callID, call.Pos().Line, beside.Pos().Line)
	}
	if ok {
		block["content"], source = left.Content, cmp.Or(from, evidence.PieceSource)
		if left.IsError != nil {
			block["is_error"] = *left.IsError
		}
	}
	if source == "" {
		block["content"], block["is_error"] = content.LostResult, true
		if d.Rule == faults.UnfinishedCall {
			block["content"] = content.StoppedCall
		}
	} else {
		d.Fix, d.Source, d.Lost = finding.Recovered, source+c.provedOutput(call, block), 0
	}
	when, until := call.When, beside.index
	if when != 0 {
		when++
	}
	if op == finding.After {
		until++
	}
	parent := call
	if end, _ := c.chainEnd(call, until); call.chains() && end.UUID != "" {
		parent = end
	}
	m := format.Made{
		UUID: id, Parent: parent.UUID, When: when, Typ: "user", Source: call.UUID,
		Message: format.Object{"role": "user", "content": []any{block}},
	}
	n := c.insert(d, m, beside, op)
	c.results()[callID] = append(c.results()[callID], n)
	return n
}

// provedOutput is words for the report if the client has sent exactly this output, alone or together with those of the answer's
// other calls; "" otherwise.
func (c *Checker) provedOutput(call *node, block format.Object) string {
	for _, isError := range []any{nil, false} { // some tools state that there was no error
		if isError != nil {
			block = format.Object{"type": block["type"], "tool_use_id": block["tool_use_id"], "content": block["content"], "is_error": isError}
		}
		if words := c.provedAmong("user", c.otherOutputs(call), block); words != "" {
			return words
		}
	}
	return ""
}

// outputOf is a call's output as it is kept outside the session, and where.
func (c *Checker) outputOf(callID string) (words, source string) {
	if c.opts.Beside != nil {
		return c.opts.Beside.Output(callID)
	}
	return "", ""
}
