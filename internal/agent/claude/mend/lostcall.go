package mend

import (
	"cmp"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
)

// lostCallBefore restores a call that is not in the file, though an output hangs on it or names it.
func (c *Checker) lostCallBefore(id string, children []*node) bool {
	n := children[0]
	orphan := c.orphanFrom(n, id)
	if orphan == nil {
		return false
	}
	p := c.before(n)
	if last := c.lastOfAnswer(p); last != nil && c.leftBehind(orphan) {
		p = last
	}
	d := c.find(orphan, faults.LostCall, "the call that this output answers is not in the file: the client drops the output, too")
	d.Fix, d.Lost = finding.StandIn, 1
	if c.oldTarget() {
		d.Impact = finding.Rejects
	}
	if !c.restored(d, id, p, n) {
		c.rebuildCall(d, orphan, id, p, n)
	}
	return true
}

// leftBehind says whether the conversation goes on beside an output: it is the output of one of several parallel calls.
func (c *Checker) leftBehind(output *node) bool {
	last := c.lastSpoken()
	return output.first == nil && last != nil && last.index > output.index
}

// lastOfAnswer is the last record, in front of the output p in the file, of the answer whose call p answers. nil if p is no
// output.
func (c *Checker) lastOfAnswer(p *node) *node {
	if p == nil {
		return nil
	}
	call := c.callOf(p)
	if call == nil {
		return nil
	}
	last := call
	for _, m := range c.nodes[call.index:p.index] {
		if m.Role == content.RoleAssistant && m.Msg == call.Msg && !m.Side {
			last = m
		}
	}
	return last
}

// orphanFrom is an output whose call is not in the file, among a record and those below it of the same answer; it must name the
// missing record or hang on it.
func (c *Checker) orphanFrom(n *node, id string) *node {
	for i := n.index; i < len(c.nodes) && i < n.index+maxSiblings; i++ {
		m := c.nodes[i]
		if m.Side {
			continue
		}
		if m.Role == content.RoleResult {
			named := m.Source == id || m.Source == "" && (m.Parent == id || c.ids.get(m.Parent) != nil)
			if named && !slices.ContainsFunc(m.IDs(content.BlockResult), func(id string) bool { return c.calls()[id] != nil }) {
				return m
			}
			continue
		}
		if m.Role == content.RoleAssistant && m.Msg != n.Msg || m.IsPrompt() {
			return nil
		}
	}
	return nil
}

// rebuildCall writes a lost call anew, with what its output shows of it.
func (c *Checker) rebuildCall(d *draft, result *node, id string, p, beside *node) {
	name, input, known := c.callFrom(result)
	msg := evidence.AnswerID(id)
	if next := c.sameAnswer(beside, id); next != "" {
		msg = next
	} else if p != nil && p.Role == content.RoleAssistant && p.Msg != "" && p.Stop != "end_turn" && !p.Synthetic && !p.Filler {
		msg = p.Msg // a part of the same answer
	}
	when := result.When
	parent := ""
	if p != nil {
		parent = p.UUID
		if p.When != 0 {
			when = p.When + 1
		}
	}
	if known {
		d.Fix, d.Source, d.Lost = finding.Recovered, "the structured result beside the output", 0
	}
	left, from := c.pieces.Call(result.IDs(content.BlockResult)[0])
	callID := c.validID(d, result)
	block := format.Object{"type": "tool_use", "id": callID, "name": name, "input": input}
	if from != "" {
		known, block["name"], block["input"] = true, left.Name, left.Input
		d.Fix, d.Source, d.Lost = finding.Recovered, from, 0
	} else if left, ok := c.pieces.CallsAt[id]; ok && (left.Name != "" || name != content.LostToolName) {
		known, block["name"], block["input"] = true, cmp.Or(left.Name, name), left.Input
		d.Fix, d.Source, d.Lost = finding.Recovered, evidence.PieceSource, 0
	}
	if known {
		d.Source += c.provedAmong("assistant", c.answerRecords(msg, beside.index), block)
	}
	m := format.Made{UUID: id, Parent: parent, When: when, Typ: "assistant", Message: evidence.AnswerOf([]any{block}, "tool_use")}
	m.Message["id"] = msg
	n := c.insert(d, m, beside, finding.Before)
	n.Msg = msg
	c.calls()[callID] = n
}

// validID is the id of the call that an output names. If the API would refuse it, the output gets a new one.
func (c *Checker) validID(d *draft, result *node) string {
	old := result.IDs(content.BlockResult)[0]
	if content.IsCallID(old) || !c.chosen(d) {
		return old
	}
	id := fresh(old, result.UUID)
	c.rename(d, result, old, id)
	return id
}

// sameAnswer is the id of the answer of which a record is a part, given that the record's parent is missing.
func (c *Checker) sameAnswer(n *node, id string) string {
	for i := n.index; i < len(c.nodes) && i < n.index+maxSiblings; i++ {
		if m := c.nodes[i]; m.Parent == id && m.Role == content.RoleAssistant {
			return m.Msg
		}
	}
	return ""
}

// forkedCalls puts back calls of parallel ones that a fork has left behind: the Agent SDK copies the way from the end up, and a call
// that nothing but its output hangs on is not on it. The session that was forked has the rest of the answer.
func (c *Checker) forkedCalls() {
	first := slices.IndexFunc(c.nodes, func(n *node) bool { return !n.Side && n.HasMessage() })
	if c.opts.Beside == nil || c.opts.SubAgent || first < 0 || c.nodes[first].Parent != "" || c.called.size() == 0 {
		return
	}
	var last map[string]*node // the last record of each answer that calls
	lines, source := c.opts.Beside.Kin(c.nodes[first].UUID, func(answer, call string) bool {
		if last == nil {
			last = map[string]*node{}
			for _, n := range c.nodes {
				if !n.Side && n.Calls() && n.dropped == nil {
					last[n.Msg] = n
				}
			}
		}
		left, _ := c.pieces.Call(call)
		return last[answer] != nil && answer != "" && c.calls()[call] == nil && len(c.results()[call]) == 0 && left.ID == ""
	})
	for _, line := range lines {
		n := nodeOf(line)
		beside := last[n.Msg]
		if output, _ := c.opts.Beside.Answer(n.Blocks[0].ID, n.UUID); output == nil || n.Side || n.UUID == "" || c.ids.get(n.UUID) != nil || c.ids.get(n.Parent) == nil {
			continue
		}
		d := usual(beside, faults.LostCall, "a call that was made together with this one, and its output, are only in another file of the conversation: a fork has left them behind")
		if c.add(d); c.chosen(d) {
			c.putBack(d, n, line, source, nil, beside, finding.After)
			last[n.Msg] = n
		}
	}
}
