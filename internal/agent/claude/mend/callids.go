package mend

import (
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// pairOf says whether m is an output that hangs on the record with its call, judged by their ids.
func pairOf(call, m *node) bool {
	return m.Role == content.RoleResult && (m.Source == call.UUID || m.Source == "" && m.up == call)
}

// wrongResultIDs reports outputs that hang on an open call but name another one, and makes them name that call.
func (c *Checker) wrongResultIDs() {
	answered := map[*node]int{} // how many blocks at the front of a record are known not to be open calls
	moved := map[*node]bool{}
	for _, m := range c.nodes {
		if m.Side || m.again || m.Role != content.RoleResult || len(m.Blocks) != 1 {
			continue
		}
		call := m.up
		if m.Source != "" && (call == nil || call.UUID != m.Source) {
			call = c.ids.get(m.Source)
		}
		if call == nil || call.Role != content.RoleAssistant && (call.Role != content.RoleResult || m.Source != "") || !c.astray(m, call) {
			continue
		}
		open := answered[call]
		for open < len(call.Blocks) && !c.open(call, &call.Blocks[open]) {
			open++
		}
		if answered[call] = open; open < len(call.Blocks) {
			moved[m] = true
			c.matchIDs(m, call, &call.Blocks[open])
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
			c.results()[id] = slices.DeleteFunc(list, func(m *node) bool { return moved[m] && m.Blocks[0].ID != id })
		}
	}
}

// flippedID is the open call whose id differs in one bit from the one that an output names, and its block. Up to 2.0.29 the
// outputs of parallel calls hang on each other, so the tree does not show which of them answers which. nil if there is no such
// call.
func (c *Checker) flippedID(m, on *node) (*node, *content.Block) {
	if c.calls()[m.Blocks[0].ID] != nil {
		return nil, nil
	}
	for i := m.index - 1; i >= 0 && i > m.index-maxSiblings && !c.nodes[i].IsPrompt(); i-- {
		call := c.nodes[i]
		if call.Role != content.RoleAssistant || call.Side != m.Side {
			continue
		}
		if on.Role == content.RoleAssistant && call.Msg != on.Msg {
			break
		}
		for k := range call.Blocks {
			if b := &call.Blocks[k]; c.open(call, b) && session.FlippedAt(b.ID, m.Blocks[0].ID) >= 0 {
				return call, b
			}
		}
	}
	return nil, nil
}

// astray says whether the call that an output names is not in the file, or answered by another output that hangs on it.
func (c *Checker) astray(m, call *node) bool {
	id := m.Blocks[0].ID
	named := c.callNamed(m, id)
	return named == nil || (m.linkedTwice() || c.crossed(m)) && named != call || named != call && c.results()[id][0] != m && pairOf(named, c.results()[id][0])
}

// linkedTwice says whether both links of an output lead to one record, with a single call of another id than it names: two links outweigh
// one id.
func (n *node) linkedTwice() bool {
	return n.Role == content.RoleResult && n.up != nil && n.Source == n.up.UUID && n.up.CallsOnce() && !n.up.Says(content.BlockCall, n.Blocks[0].ID)
}

// crossed says whether an output of a version that wrote one link hangs on a single call of another id than it names, and can't belong to the
// call that it names: that is made behind it, or what names the one that it hangs on hangs there in its place.
func (c *Checker) crossed(m *node) bool {
	if m.Role != content.RoleResult || m.Source != "" || m.up == nil || !m.up.CallsOnce() || m.up.Says(content.BlockCall, m.Blocks[0].ID) {
		return false
	}
	named := c.calls()[m.Blocks[0].ID]
	if named == nil {
		return false
	}
	if named.index > m.index {
		return true
	}
	outputs := c.results()[m.up.IDs(content.BlockCall)[0]]
	return slices.ContainsFunc(outputs[:min(len(outputs), maxSiblings)], func(o *node) bool { return o.up == named })
}

// open says whether a block is a call that no output names, but for those whose links lead elsewhere, or one that has another call's id.
func (c *Checker) open(call *node, b *content.Block) bool {
	return b.Kind == content.BlockCall && (c.calls()[b.ID] != call || !slices.ContainsFunc(c.results()[b.ID], func(m *node) bool { return m.Says(content.BlockResult, b.ID) && !m.linkedTwice() && !c.crossed(m) }))
}

// matchIDs gives an output the id of the open call that it hangs on. The call is renamed instead if it bears the id of another
// call while the output names its own, or if the API can't have given the call's id.
func (c *Checker) matchIDs(m, call *node, b *content.Block) {
	named := m.Blocks[0].ID
	d := usual(m, faults.WrongResultID, "the output's parent is one call, but it names another: the client drops both")
	d.also, d.Impact = []*node{call}, c.worst(faults.OldAndNewer(finding.Rejects, finding.Loses))
	shared := c.calls()[b.ID] != call
	if shared && c.calls()[named] != nil {
		return // three calls with two ids: there is no telling which is whose
	}
	if c.add(d); !c.chosen(d) {
		return
	}
	c.changes++ // a client finds outputs by their ids
	if shared || likelierID(named, b.ID) && !call.Foreign && c.calls()[named] == nil {
		d.about = call
		d.Edits = append(d.Edits, renamed(call, b, named))
		if !shared {
			delete(c.calls(), b.ID)
		}
		call.Name(b, named)
		c.calls()[named] = call
		return
	}
	d.Edits = append(d.Edits, renamed(m, &m.Blocks[0], b.ID))
	m.Name(&m.Blocks[0], b.ID)
	c.results()[b.ID] = append(c.results()[b.ID], m)
}

// likelierID says whether, of two ids for a call and its output, the first is the one that the API gave: the other is not of a
// form that the API accepts, or does not begin as the API's ids do.
func likelierID(id, other string) bool {
	const own = "toolu_"
	return content.IsCallID(id) && (!content.IsCallID(other) || strings.HasPrefix(id, own) && !strings.HasPrefix(other, own))
}

// renamed is the edit that gives a block another call's id.
func renamed(n *node, b *content.Block, id string) finding.Edit {
	cut := finding.Cut{Start: b.Value.From(), End: b.Value.To(), New: jsonl.AppendQuote(nil, id)}
	if b.Value.To() == 0 {
		key := "id"
		if b.Kind == content.BlockResult {
			key = "tool_use_id"
		}
		cut = finding.Cut{Start: b.Span.From() + 1, End: b.Span.From() + 1, New: append(append([]byte(`"`+key+`":`), cut.New...), ',')}
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
		if n.Side || n.Role != content.RoleAssistant || n.again {
			continue
		}
		for i := range n.Blocks {
			b := &n.Blocks[i]
			if b.Kind != content.BlockCall || b.ID == "" {
				continue
			}
			switch other := seen[b.ID]; {
			case other == nil || other == n:
				seen[b.ID] = n
			case blockAgain(other, n) || writtenAnew(other, n):
				n.change().again = true
				list := c.results()[b.ID]
				for _, m := range list {
					if pairOf(n, m) || writtenAnew(list[0], m) {
						m.change().again = true
					}
				}
			case other.Message == n.Message && n.dropped == nil && len(n.Blocks) == 1:
				c.writtenTwice(n)
			case n.dropped == nil:
				if shared[b.ID] == nil {
					shared[b.ID] = c.outputsOf(b.ID)
				}
				c.renamePair(n, b, shared[b.ID])
			}
		}
	}
}

// blockAgain says whether a record repeats one block of another record, which holds the whole answer. 2.0.29 writes an answer
// that did not come as a stream in one record, and once more block by block when it resumes the session.
func blockAgain(whole, n *node) bool {
	return n.Msg != "" && n.Msg == whole.Msg && len(whole.Blocks) > 1 && len(n.Blocks) == 1 && !under(n, whole)
}

// writtenAnew says whether a record repeats another one on another branch: behind an answer that did not come as a stream, a client that
// resumes the session writes all the rest once more, under new ids (1.0.128 to 2.1.19, measured).
func writtenAnew(other, n *node) bool {
	return n != other && !other.sharesID && samePart(other, n) && !under(n, other)
}

// samePart says whether two records were written for the same part of the conversation, judged by their times and ids: a part of an answer
// (or a call of one, where an API gives answers no ids), an output, or a prompt that the same answer follows. What is written anew keeps its
// times, or gets one time in all (up to 2.0.29).
func samePart(a, b *node) bool {
	if a.Role != b.Role || (a.When != b.When || a.When == 0) && !b.anew {
		return false
	}
	switch a.Role {
	case content.RoleAssistant:
		return a.Msg == b.Msg && (a.Msg != "" || slices.ContainsFunc(a.IDs(content.BlockCall), func(id string) bool { return b.Says(content.BlockCall, id) }))
	case content.RoleResult:
		return len(a.Blocks) > 0 && len(b.Blocks) > 0 && a.Blocks[0].ID == b.Blocks[0].ID
	}
	x, y := a.first, b.first
	return x != nil && y != nil && x.Msg == y.Msg && x.Msg != ""
}

// markAnew marks the records that a client has written once more at one moment, one hanging on the other, from the first block of an answer
// on that the file holds in one piece beside it. The last may be a millisecond later, where a repair has made it the latest (wrongTime).
func (c *Checker) markAnew() {
	type key struct {
		msg string
		up  *node
	}
	whole := map[key]bool{} // answers in one piece
	for i, n := range c.nodes {
		if n.Side || n.Role != content.RoleAssistant || n.anew {
			continue
		}
		switch k := (key{n.Msg, n.up}); {
		case len(n.Blocks) > 1:
			whole[k] = true
		case whole[k] && len(n.Blocks) == 1 && n.When != 0:
			for j := i; j < len(c.nodes) && c.nodes[j].When-n.When <= 1 && c.nodes[j].When >= n.When && (j == i || c.nodes[j].up == c.nodes[j-1]); j++ {
				c.nodes[j].change().anew = true
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
		if m.Source != "" {
			call = c.ids.get(m.Source)
		}
		if m.Role == content.RoleResult && call != nil && call.Says(content.BlockCall, id) {
			o.of[call] = append(o.of[call], m)
		} else {
			o.astray = append(o.astray, m)
		}
	}
	return o
}

// writtenTwice removes a call that repeats an earlier one, word for word, in a record with another id.
func (c *Checker) writtenTwice(n *node) {
	d := c.find(n, faults.DuplicateCallID, "the same call was written before, word for word: the client drops this one with its output")
	d.Impact, d.Fix = c.worst(faults.OldAndNewer(finding.Rejects, finding.Loses)), finding.SetAside
	c.drop(n, d)
}

// renamePair gives a call, and the first output that hangs on it, a new id.
func (c *Checker) renamePair(n *node, b *content.Block, shared *outputs) {
	old := b.ID
	id := fresh(old, n.UUID)
	d := c.find(n, faults.DuplicateCallID, "an earlier call has the same id: the client drops this one with its output")
	d.Impact = c.worst(faults.OldAndNewer(finding.Rejects, finding.Loses))
	if !c.chosen(d) {
		return
	}
	d.Edits = append(d.Edits, renamed(n, b, id))
	n.Name(b, id)
	c.calls()[id] = n
	if list := shared.of[n]; len(list) > 0 {
		shared.moved[list[0]], shared.of[n] = true, list[1:]
		c.rename(d, list[0], old, id)
	}
}

// rename makes an output answer a call under that call's new id.
func (c *Checker) rename(d *draft, m *node, old, id string) {
	found, results := false, c.results()
	for b := range m.BlocksOf(old) {
		if b.Kind == content.BlockResult {
			d.Edits = append(d.Edits, renamed(m, b, id))
			m.Name(b, id)
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
		if n.Side || n.Foreign {
			continue
		}
		for i := range n.Blocks {
			b := &n.Blocks[i]
			if b.Kind != content.BlockCall || content.IsCallID(b.ID) {
				continue
			}
			o := shared[b.ID]
			if o == nil {
				o = c.outputsOf(b.ID)
				shared[b.ID] = o
			}
			c.validateID(n, b, o)
		}
	}
}

// validateID gives a call, and its outputs, an id that the API takes.
func (c *Checker) validateID(n *node, b *content.Block, shared *outputs) {
	old, id := b.ID, fresh(b.ID, n.UUID)
	d := c.find(n, faults.BadCallID, "the API does not accept the call's id")
	if !c.chosen(d) {
		return
	}
	d.Edits = append(d.Edits, renamed(n, b, id))
	n.Name(b, id)
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
