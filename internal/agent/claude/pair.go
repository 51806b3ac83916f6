package claude

import (
	"slices"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// noteCalls keeps from a tool's structured result what its call may have to be made of again.
func (c *Checker) noteCalls(rec *session.Record, n *node) {
	bad := slices.ContainsFunc(n.faults, func(f fault) bool { return f.rule == ruleBadInput || f.rule == ruleBadToolName })
	for i := range n.blocks {
		b := &n.blocks[i]
		switch b.kind {
		case blockCall:
			c.heard[b.id] = bad
		case blockResult:
			if wanted, ok := c.heard[b.id]; (!ok || wanted) && n.rebuilt.name == "" && n.toolResult {
				n.rebuilt = rebuild(field(rec, fieldToolResult))
			}
		}
	}
}

// pair looks at calls and their outputs.
func (c *Checker) pair() {
	c.wrongResultIDs()
	c.sameCallID()
	c.badCallIDs()
	c.betterInputs()
	c.orphans()
	c.unanswered()
	c.twiceAnswered()
	c.late()
}

// pairOf is the output that hangs on a call, by the ids of their records.
func pairOf(call, m *node) bool {
	return m.role == roleResult && (m.source == call.uuid || m.source == "" && m.up == call)
}

// wrongResultIDs makes an output that hangs on a call but names another answer that call.
func (c *Checker) wrongResultIDs() {
	for _, m := range c.nodes {
		if m.side || m.role != roleResult || len(m.blocks) != 1 || c.calls()[m.blocks[0].id] != nil {
			continue
		}
		call := c.byUUID[m.source]
		if m.source == "" {
			call = m.up
		}
		if call == nil || call.role != roleAssistant {
			continue
		}
		for i := range call.blocks {
			b := &call.blocks[i]
			if b.kind != blockCall || len(c.results()[b.id]) > 0 && c.calls()[b.id] == call {
				continue
			}
			d := c.add(&draft{about: m, Finding: finding.Finding{
				Rule: ruleWrongResultID, Impact: c.worst(finding.Rejects, finding.Loses, finding.Loses), Fix: finding.Exact,
				Message: "the output hangs on a call, but names another: the client drops both",
			}})
			old, id := m.blocks[0].id, b.id
			if c.calls()[b.id] != call { // the call has another one's id, and its own is the one that the output names
				d.about, id = call, old
				d.Edits = append(d.Edits, renamed(call, b, old))
				b.id = old
				c.calls()[old] = call
				break
			}
			d.Edits = append(d.Edits, renamed(m, &m.blocks[0], id))
			m.blocks[0].id = id
			c.results()[id] = append(c.results()[id], m)
			break
		}
	}
}

// renamed is the edit that gives a block another call's id.
func renamed(n *node, b *block, id string) finding.Edit {
	cut := finding.Cut{Start: b.value.Start, End: b.value.End, New: jsonl.AppendQuote(nil, id)}
	if b.value.End == 0 {
		key := "id"
		if b.kind == blockResult {
			key = "tool_use_id"
		}
		cut = finding.Cut{Start: b.span.Start + 1, End: b.span.Start + 1, New: append(append([]byte(`"`+key+`":`), cut.New...), ',')}
	}
	return finding.Edit{At: n.ref.Pos, Op: finding.Splice, Cuts: []finding.Cut{cut}}
}

// sameCallID gives the later of two calls with one id its own, and its output with it.
func (c *Checker) sameCallID() {
	seen := map[string]*node{}
	for _, n := range c.nodes {
		if n.side || n.role != roleAssistant || n.again {
			continue
		}
		for i := range n.blocks {
			b := &n.blocks[i]
			if b.kind != blockCall || b.id == "" {
				continue
			}
			switch other := seen[b.id]; {
			case other == nil || other == n:
				seen[b.id] = n
			case other.message == n.message && n.dropped == nil && len(n.blocks) == 1:
				c.writtenTwice(n)
			case n.dropped == nil:
				c.renamePair(n, b)
			}
		}
	}
}

// writtenTwice takes a call out that was written before, word for word, under another id of the record.
func (c *Checker) writtenTwice(n *node) {
	d := c.add(&draft{about: n, Finding: finding.Finding{
		Rule: ruleDuplicateCallID, Impact: c.worst(finding.Rejects, finding.Loses, finding.Loses), Fix: finding.SetAside,
		Message: "the same call was written before, word for word: the client drops this one with its output",
	}})
	c.drop(n, d)
}

// renamePair gives a call, and what answers it, a new id.
func (c *Checker) renamePair(n *node, b *block) {
	old := b.id
	id := fresh(old, n.uuid)
	d := c.add(&draft{about: n, Finding: finding.Finding{
		Rule: ruleDuplicateCallID, Impact: c.worst(finding.Rejects, finding.Loses, finding.Loses), Fix: finding.Exact,
		Message: "an earlier call has the same id: the client drops this one with its output",
	}})
	d.Edits = append(d.Edits, renamed(n, b, id))
	b.id = id
	c.calls()[id] = n
	kept := c.results()[old][:0:0]
	moved := false
	for _, m := range c.results()[old] {
		if moved || !pairOf(n, m) {
			kept = append(kept, m)
			continue
		}
		moved = true
		for j := range m.blocks {
			if m.blocks[j].kind == blockResult && m.blocks[j].id == old {
				d.Edits = append(d.Edits, renamed(m, &m.blocks[j], id))
				m.blocks[j].id = id
			}
		}
		c.results()[id] = append(c.results()[id], m)
	}
	c.results()[old] = kept
}

// fresh is a call's id that is made of another and of the record that it stands in.
func fresh(old, uuid string) string {
	id := ""
	for _, r := range old {
		if len(id) < 40 && (r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			id += string(r)
		}
	}
	if id == "" {
		id = "toolu"
	}
	return id + "_" + newID("call", old, uuid)[:8]
}

// badCallIDs writes ids anew that the API does not take.
func (c *Checker) badCallIDs() {
	for _, n := range c.nodes {
		if n.side {
			continue
		}
		for i := range n.blocks {
			b := &n.blocks[i]
			if b.kind != blockCall || n.foreign || callID.MatchString(b.id) {
				continue
			}
			old, id := b.id, fresh(b.id, n.uuid)
			d := c.add(&draft{about: n, Finding: finding.Finding{
				Rule: ruleBadCallID, Impact: finding.Rejects, Fix: finding.Exact,
				Message: "the API does not take the call's id",
			}})
			d.Edits = append(d.Edits, renamed(n, b, id))
			b.id = id
			c.calls()[id] = n
			for _, m := range c.results()[old] {
				if !pairOf(n, m) {
					continue
				}
				for j := range m.blocks {
					if m.blocks[j].kind == blockResult && m.blocks[j].id == old {
						d.Edits = append(d.Edits, renamed(m, &m.blocks[j], id))
						m.blocks[j].id = id
						c.results()[id] = append(c.results()[id], m)
					}
				}
			}
		}
	}
}

// betterInputs takes a bad input or name from the structured result of the output, where that tells it.
func (c *Checker) betterInputs() {
	for _, n := range c.nodes {
		for i := range n.faults {
			f := &n.faults[i]
			if f.rule != ruleBadInput && f.rule != ruleBadToolName || f.fix == finding.Exact {
				continue
			}
			for _, b := range n.blocks {
				if b.kind != blockCall || f.at != b.span.Start {
					continue
				}
				for _, m := range c.results()[b.id] {
					name, input, known := c.callFrom(m)
					switch {
					case f.rule == ruleBadToolName && name != lostToolName:
						f.cuts[0].New = replaceValue(f.cuts[0].New, "name", jsonl.AppendQuote(nil, name))
						f.fix, f.source = finding.Recovered, "the structured result of the output"
					case f.rule == ruleBadInput && known:
						f.cuts[0].New = replaceValue(f.cuts[0].New, "input", input.json())
						f.fix, f.source, f.lost = finding.Recovered, "the structured result of the output", 0
					}
				}
			}
		}
	}
}

// replaceValue is what a cut writes, a value or a whole member, with another value.
func replaceValue(old []byte, key string, value []byte) []byte {
	prefix := `"` + key + `":`
	if len(old) > len(prefix) && string(old[:len(prefix)]) == prefix {
		out := append([]byte(prefix), value...)
		if old[len(old)-1] == ',' {
			out = append(out, ',')
		}
		return out
	}
	return value
}

// orphans writes the calls of outputs again that hang on something else than a lost call.
func (c *Checker) orphans() {
	for _, m := range c.nodes {
		if m.side || m.role != roleResult || m.dropped != nil || len(m.blocks) == 0 || m.blocks[0].kind != blockResult || c.calls()[m.blocks[0].id] != nil {
			continue
		}
		p := m.up
		d := c.add(&draft{about: m, Finding: finding.Finding{
			Rule: ruleLostCall, Impact: c.worst(finding.Rejects, finding.Loses, finding.Loses), Fix: finding.StandIn, Lost: 1,
			Message: "the call that this output answers is not in the file: the client drops the output, too",
		}})
		id := m.source
		if id == "" || c.byUUID[id] != nil {
			id = newID("call", m.uuid)
		}
		if !c.restored(d, id, p, m) {
			c.rebuildCall(d, m, id, p, m)
		}
		c.hang(m, c.byUUID[id], d)
	}
}

// unanswered writes outputs for calls that have none.
func (c *Checker) unanswered() {
	sent := c.reach(c.tipOf(c.leaf), hung, c.all())
	for _, n := range c.nodes {
		if n.side || n.role != roleAssistant || n.dropped != nil {
			continue
		}
		for _, id := range n.ids(blockCall) {
			if len(c.results()[id]) > 0 {
				continue
			}
			next := c.nextSent(n)
			if next == nil && sent[n] && c.middleTarget() && !c.opts.Live && !c.opts.SubAgent && c.endsWith(n) {
				c.closeCall(n, id)
				continue
			}
			if next == nil || !sent[n] {
				c.unfinished(n)
				continue
			}
			d := c.add(&draft{about: n, Finding: finding.Finding{
				Rule: ruleLostResult, Impact: finding.Loses, Fix: finding.StandIn, Lost: 1,
				Message: "the output of this call is not in the file: the client drops the call, too",
			}})
			c.answer(d, n, id, next)
		}
	}
}

// answer writes an output for a call, behind the other outputs of the same answer.
func (c *Checker) answer(d *draft, call *node, callID string, next *node) {
	id := newID("result", call.uuid, callID)
	last := call
	for _, m := range c.nodes[call.index+1:] {
		if m.index >= next.index && next.index > call.index {
			break
		}
		if m.role == roleResult && !m.side || m.msg == call.msg && m.msg != "" && m.role == roleAssistant {
			last = m
		}
	}
	n := c.insertResult(d, call, callID, id, last, finding.After)
	if next.up == call || next.up != nil && next.up.msg == call.msg && call.msg != "" && next.up.role == roleAssistant && next.role != roleResult && next.msg != call.msg {
		c.hang(next, n, d) // nothing else stands between the answer and what follows
	}
}

// nextSent is the record behind an answer on the way to a tip: the one that hangs on it or on an output of it.
func (c *Checker) nextSent(n *node) *node {
	var best *node
	c.below(n, func(m *node) bool {
		if m.side || m == n || !m.hasMessage() || m.synthetic || m.role == roleResult || m.msg == n.msg && n.msg != "" {
			return true
		}
		if best == nil || m.index < best.index {
			best = m
		}
		return false
	})
	return best
}

// below shows what hangs on a record, itself first. Where visit is false, what hangs on that one is left out.
func (c *Checker) below(n *node, visit func(m *node) bool) {
	todo := []*node{n}
	for steps := 0; len(todo) > 0 && steps <= len(c.nodes)+len(c.added); steps++ {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if visit(m) {
			todo = append(todo, c.kids[m]...)
		}
	}
}

// all are the records of the file and hist's own.
func (c *Checker) all() []*node { return append(c.nodes[:len(c.nodes):len(c.nodes)], c.added...) }

// twiceAnswered takes the later of two outputs for one call out.
func (c *Checker) twiceAnswered() {
	for _, n := range c.nodes {
		for _, id := range n.ids(blockCall) {
			list := c.results()[id]
			if n.side || len(list) < 2 || c.calls()[id] != n {
				continue
			}
			for _, m := range list[1:] {
				if m.new != nil || m.dropped != nil || m.again || len(m.blocks) != 1 {
					continue
				}
				d := c.add(&draft{about: m, Finding: finding.Finding{
					Rule: ruleDuplicateResult, Impact: c.worst(finding.Rejects, finding.Notes, finding.Notes), Fix: finding.SetAside,
					Message: "the call has an output already",
				}})
				if d.Impact != finding.Notes {
					c.drop(m, d)
				}
			}
		}
	}
}

// late hangs outputs right behind their calls that stand further down.
func (c *Checker) late() {
	for _, m := range c.nodes {
		if m.side || m.role != roleResult || m.dropped != nil || len(m.blocks) == 0 {
			continue
		}
		call := c.calls()[m.blocks[0].id]
		if call == nil || m.up == nil || call.side || c.rightPlace(m, call) {
			continue
		}
		d := c.add(&draft{about: m, Finding: finding.Finding{
			Rule: ruleLateResult, Impact: c.worst(finding.Rejects, finding.Loses, finding.Loses), Fix: finding.Exact,
			Message: "the output stands behind what followed its call: the client makes up an error for the call",
		}})
		end := c.answerEnd(call, m)
		for _, k := range c.children(m) {
			c.hang(k, m.up, d)
		}
		next := c.children(end)
		c.hang(m, end, d) // first: until then it hangs on what is to follow it
		for _, k := range next {
			if k != m && !(k.role == roleAssistant && k.msg == call.msg) {
				c.hang(k, m, d)
			}
		}
	}
}

// rightPlace says whether nothing but the same answer and its outputs stands between an output and its call.
func (c *Checker) rightPlace(m, call *node) bool {
	for p := m.up; p != nil; p = p.up {
		switch {
		case p == call || p.role == roleAssistant && p.msg == call.msg && p.msg != "":
			return true
		case p.role == roleResult || p.role == roleLink || p.role == roleOther || p.synthetic || p.filler && !p.sent():
		default:
			return !under(m, call) // it hangs elsewhere: the client finds it by the call's record
		}
	}
	return true
}

// answerEnd is the last record of the answer that a call belongs to, or of its outputs, on the way to a record.
func (c *Checker) answerEnd(call, to *node) *node {
	var way []*node
	for p := to.up; p != nil && p != call; p = p.up {
		way = append(way, p)
	}
	end := call
	for i := len(way) - 1; i >= 0; i-- {
		p := way[i]
		if p.role == roleAssistant && p.msg == call.msg && p.msg != "" || p.role == roleResult {
			end = p
			continue
		}
		break
	}
	return end
}

// children are the records that hang on one, as they were added.
func (c *Checker) children(n *node) []*node { return slices.Clone(c.kids[n]) }

// drop takes a record out of the tree; what hangs on it hangs on its parent then.
func (c *Checker) drop(n *node, d *draft) {
	n.dropped = d
	d.Edits = append(d.Edits, finding.Edit{At: n.ref.Pos, Op: finding.Remove})
	for _, m := range c.children(n) {
		c.hang(m, n.up, d)
	}
}
