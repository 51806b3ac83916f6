package claude

import (
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// pairOf says whether m is an output that hangs on the record with its call, judged by their ids.
func pairOf(call, m *node) bool {
	return m.role == roleResult && (m.source == call.uuid || m.source == "" && m.up == call)
}

// wrongResultIDs reports outputs that hang on an open call but name another one, and makes them name that call.
func (c *Checker) wrongResultIDs() {
	answered := map[*node]int{} // how many blocks at the front of a record are known not to be open calls
	moved := map[*node]bool{}
	for _, m := range c.nodes {
		if m.side || m.again || m.role != roleResult || len(m.blocks) != 1 {
			continue
		}
		call := m.up
		if m.source != "" && (call == nil || call.uuid != m.source) {
			call = c.ids.get(m.source)
		}
		if call == nil || call.role != roleAssistant && (call.role != roleResult || m.source != "") || !c.astray(m, call) {
			continue
		}
		open := answered[call]
		for open < len(call.blocks) && !c.open(call, &call.blocks[open]) {
			open++
		}
		if answered[call] = open; open < len(call.blocks) {
			moved[m] = true
			c.matchIDs(m, call, &call.blocks[open])
		} else if call, b := c.flippedID(m, call); call != nil {
			moved[m] = true
			c.matchIDs(m, call, b)
		}
	}
	if len(moved) == 0 {
		return
	}
	for id, list := range c.results() {
		if len(list) > 1 {
			c.results()[id] = slices.DeleteFunc(list, func(m *node) bool { return moved[m] && m.blocks[0].id != id })
		}
	}
}

// flippedID is the open call whose id differs in one bit from the one that an output names, and its block. Up to 2.0.29 the
// outputs of parallel calls hang on each other, so the tree does not show which of them answers which. nil if there is no such
// call.
func (c *Checker) flippedID(m, on *node) (*node, *block) {
	if c.calls()[m.blocks[0].id] != nil {
		return nil, nil
	}
	for i := m.index - 1; i >= 0 && i > m.index-maxSiblings && !c.nodes[i].isPrompt(); i-- {
		call := c.nodes[i]
		if call.role != roleAssistant || call.side != m.side {
			continue
		}
		if on.role == roleAssistant && call.msg != on.msg {
			break
		}
		for k := range call.blocks {
			if b := &call.blocks[k]; c.open(call, b) && session.FlippedAt(b.id, m.blocks[0].id) >= 0 {
				return call, b
			}
		}
	}
	return nil, nil
}

// astray says whether the call that an output names is not in the file, or answered by another output that hangs on it.
func (c *Checker) astray(m, call *node) bool {
	id := m.blocks[0].id
	named := c.callNamed(m, id)
	return named == nil || m.linkedTwice() && named != call || named != call && c.results()[id][0] != m && pairOf(named, c.results()[id][0])
}

// linkedTwice says whether both links of an output lead to one record, with a single call of another id than it names: two links outweigh
// one id.
func (n *node) linkedTwice() bool {
	return n.role == roleResult && n.up != nil && n.source == n.up.uuid && n.up.callsOnce() && !n.up.says(blockCall, n.blocks[0].id)
}

// open says whether a block is a call that no output names, but for those whose links lead elsewhere, or one that has another call's id.
func (c *Checker) open(call *node, b *block) bool {
	return b.kind == blockCall && (c.calls()[b.id] != call || !slices.ContainsFunc(c.results()[b.id], func(m *node) bool { return m.says(blockResult, b.id) && !m.linkedTwice() }))
}

// matchIDs gives an output the id of the open call that it hangs on. The call is renamed instead if it bears the id of another
// call while the output names its own, or if the API can't have given the call's id.
func (c *Checker) matchIDs(m, call *node, b *block) {
	named := m.blocks[0].id
	d := &draft{about: m, Finding: finding.Finding{
		Rule: faults.WrongResultID, Impact: c.worst(faults.OldAndNewer(finding.Rejects, finding.Loses)), Fix: finding.Exact,
		Message: "the output's parent is one call, but it names another: the client drops both",
	}, also: []*node{call}}
	shared := c.calls()[b.id] != call
	if shared && c.calls()[named] != nil {
		return // three calls with two ids: there is no telling which is whose
	}
	if c.add(d); !c.chosen(d) {
		return
	}
	c.changes++ // a client finds outputs by their ids
	if shared || likelierID(named, b.id) && !call.foreign && c.calls()[named] == nil {
		d.about = call
		d.Edits = append(d.Edits, renamed(call, b, named))
		if !shared {
			delete(c.calls(), b.id)
		}
		call.name(b, named)
		c.calls()[named] = call
		return
	}
	d.Edits = append(d.Edits, renamed(m, &m.blocks[0], b.id))
	m.name(&m.blocks[0], b.id)
	c.results()[b.id] = append(c.results()[b.id], m)
}

// likelierID says whether, of two ids for a call and its output, the first is the one that the API gave: the other is not of a
// form that the API accepts, or does not begin as the API's ids do.
func likelierID(id, other string) bool {
	const own = "toolu_"
	return isCallID(id) && (!isCallID(other) || strings.HasPrefix(id, own) && !strings.HasPrefix(other, own))
}

// renamed is the edit that gives a block another call's id.
func renamed(n *node, b *block, id string) finding.Edit {
	cut := finding.Cut{Start: b.value.From(), End: b.value.To(), New: jsonl.AppendQuote(nil, id)}
	if b.value.To() == 0 {
		key := "id"
		if b.kind == blockResult {
			key = "tool_use_id"
		}
		cut = finding.Cut{Start: b.span.From() + 1, End: b.span.From() + 1, New: append(append([]byte(`"`+key+`":`), cut.New...), ',')}
	}
	return finding.Edit{At: n.Pos(), Op: finding.Splice, Cuts: []finding.Cut{cut}}
}

// sameCallID gives the later of two calls with one id a new id, and its output with it.
func (c *Checker) sameCallID() {
	if c.called.apart() {
		return
	}
	c.calls() // as they are before any is renamed
	c.markAnew()
	seen := map[string]*node{}
	shared := map[string]*outputs{}
	defer func() {
		for id, o := range shared {
			c.results()[id] = slices.DeleteFunc(c.results()[id], func(m *node) bool { return o.moved[m] })
		}
	}()
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
			case blockAgain(other, n) || writtenAnew(other, n):
				n.again = true
				list := c.results()[b.id]
				for _, m := range list {
					m.again = m.again || pairOf(n, m) || writtenAnew(list[0], m)
				}
			case other.message == n.message && n.dropped == nil && len(n.blocks) == 1:
				c.writtenTwice(n)
			case n.dropped == nil:
				if shared[b.id] == nil {
					shared[b.id] = c.outputsOf(b.id)
				}
				c.renamePair(n, b, shared[b.id])
			}
		}
	}
}

// blockAgain says whether a record repeats one block of another record, which holds the whole answer. 2.0.29 writes an answer
// that did not come as a stream in one record, and once more block by block when it resumes the session.
func blockAgain(whole, n *node) bool {
	return n.msg != "" && n.msg == whole.msg && len(whole.blocks) > 1 && len(n.blocks) == 1 && !under(n, whole)
}

// writtenAnew says whether a record repeats another one on another branch: behind an answer that did not come as a stream, a client that
// resumes the session writes all the rest once more, under new ids (1.0.128 to 2.1.19, measured).
func writtenAnew(other, n *node) bool {
	return n != other && !other.sharesID && samePart(other, n) && !under(n, other)
}

// samePart says whether two records were written for the same part of the conversation, judged by their times and ids: a part of an answer,
// an output, or a prompt that the same answer follows. What is written anew keeps its times, or gets one time in all (up to 2.0.29).
func samePart(a, b *node) bool {
	if a.role != b.role || (a.when != b.when || a.when == 0) && !b.anew {
		return false
	}
	switch a.role {
	case roleAssistant:
		return a.msg == b.msg && a.msg != ""
	case roleResult:
		return len(a.blocks) > 0 && len(b.blocks) > 0 && a.blocks[0].id == b.blocks[0].id
	}
	x, y := a.first, b.first
	return x != nil && y != nil && x.msg == y.msg && x.msg != ""
}

// markAnew marks the records that a client has written once more at one moment, one hanging on the other, from the first block of an answer
// on that the file holds in one piece beside it.
func (c *Checker) markAnew() {
	whole := map[string]*node{} // answers in one piece, by their ids
	for i, n := range c.nodes {
		if n.side || n.role != roleAssistant || n.msg == "" || n.anew {
			continue
		}
		switch first := whole[n.msg]; {
		case first == nil && len(n.blocks) > 1:
			whole[n.msg] = n
		case first != nil && len(n.blocks) == 1 && n.up == first.up && n.when != 0:
			for j := i; j < len(c.nodes) && c.nodes[j].when == n.when && (j == i || c.nodes[j].up == c.nodes[j-1]); j++ {
				c.nodes[j].anew = true
			}
		}
	}
}

// outputs are the outputs that name one id, by the records with calls of that id that they hang on.
type outputs struct {
	of     map[*node][]*node
	astray []*node        // those that hang on something else
	moved  map[*node]bool // those that have been given another id
}

func (c *Checker) outputsOf(id string) *outputs {
	c.calls() // as they are before any is renamed
	o := &outputs{of: map[*node][]*node{}, moved: map[*node]bool{}}
	for _, m := range c.results()[id] {
		call := m.up
		if m.source != "" {
			call = c.ids.get(m.source)
		}
		if m.role == roleResult && call != nil && call.says(blockCall, id) {
			o.of[call] = append(o.of[call], m)
		} else {
			o.astray = append(o.astray, m)
		}
	}
	return o
}

// writtenTwice removes a call that repeats an earlier one, word for word, in a record with another id.
func (c *Checker) writtenTwice(n *node) {
	d := c.add(&draft{about: n, Finding: finding.Finding{
		Rule: faults.DuplicateCallID, Impact: c.worst(faults.OldAndNewer(finding.Rejects, finding.Loses)), Fix: finding.SetAside,
		Message: "the same call was written before, word for word: the client drops this one with its output",
	}})
	c.drop(n, d)
}

// renamePair gives a call, and the first output that hangs on it, a new id.
func (c *Checker) renamePair(n *node, b *block, shared *outputs) {
	old := b.id
	id := fresh(old, n.uuid)
	d := c.add(&draft{about: n, Finding: finding.Finding{
		Rule: faults.DuplicateCallID, Impact: c.worst(faults.OldAndNewer(finding.Rejects, finding.Loses)), Fix: finding.Exact,
		Message: "an earlier call has the same id: the client drops this one with its output",
	}})
	if !c.chosen(d) {
		return
	}
	d.Edits = append(d.Edits, renamed(n, b, id))
	n.name(b, id)
	c.calls()[id] = n
	for i, m := range shared.of[n] {
		if shared.moved[m] {
			continue
		}
		shared.moved[m], shared.of[n] = true, shared.of[n][i+1:]
		c.rename(d, m, old, id)
		return
	}
}

// rename makes an output answer a call under that call's new id.
func (c *Checker) rename(d *draft, m *node, old, id string) {
	found, results := false, c.results()
	for b := range m.blocksOf(old) {
		if b.kind == blockResult {
			d.Edits = append(d.Edits, renamed(m, b, id))
			m.name(b, id)
			found = true
		}
	}
	if found {
		results[id] = append(results[id], m)
	}
}

// fresh makes a new id for a call from its old one and the id of its record.
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
	return id + "_" + format.NewID("call", old, uuid)[:8]
}

// badCallIDs replaces ids that the API does not accept, in the calls and in the outputs that hang on them; if only one call has
// the id, in all outputs that name it.
func (c *Checker) badCallIDs() {
	if !c.oddIDs {
		return
	}
	shared := map[string]*outputs{}
	for _, n := range c.nodes {
		if n.side || n.foreign {
			continue
		}
		for i := range n.blocks {
			b := &n.blocks[i]
			if b.kind != blockCall || isCallID(b.id) {
				continue
			}
			o := shared[b.id]
			if o == nil {
				o = c.outputsOf(b.id)
				shared[b.id] = o
			}
			c.validateID(n, b, o)
		}
	}
}

// validateID gives a call, and its outputs, an id that the API takes.
func (c *Checker) validateID(n *node, b *block, shared *outputs) {
	old, id := b.id, fresh(b.id, n.uuid)
	d := c.add(&draft{about: n, Finding: finding.Finding{
		Rule: faults.BadCallID, Impact: finding.Rejects, Fix: finding.Exact,
		Message: "the API does not accept the call's id",
	}})
	if !c.chosen(d) {
		return
	}
	d.Edits = append(d.Edits, renamed(n, b, id))
	n.name(b, id)
	c.calls()[id] = n
	for _, m := range shared.of[n] {
		c.rename(d, m, old, id)
	}
	for _, m := range shared.astray {
		if c.calls()[old] == n { // the first to have it
			c.rename(d, m, old, id)
		}
	}
}
