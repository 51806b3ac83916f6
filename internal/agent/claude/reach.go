package claude

import (
	"slices"
)

// hung is the parent of a record once all is mended.
func hung(n *node) *node { return n.up }

// nodeSet is a set of records.
type nodeSet struct {
	in   []bool // by the records' numbers
	list []*node
	kept []*node // the records that are sent only because a compaction has kept them
	// the way up from the tip led back to itself
	round bool
}

func (s *nodeSet) has(n *node) bool { return n != nil && n.number < len(s.in) && s.in[n.number] }

func (s *nodeSet) add(n *node) {
	if !s.in[n.number] {
		s.in[n.number] = true
		s.list = append(s.list, n)
	}
}

// reach are the records that the newest client sends if it begins at a tip: the way up, everything that belongs to the answers
// on it, and what compactions on it have kept.
func (c *Checker) reach(tip *node, up func(*node) *node, keeps func(*node) []*node, all []*node) *nodeSet {
	sent := &nodeSet{in: make([]bool, c.numbers), list: make([]*node, 0, len(all))}
	var kept []*node
	for p := tip; p != nil; p = up(p) {
		if sent.round = sent.has(p); sent.round {
			break
		}
		sent.add(p)
		if len(p.keeps) > 0 {
			kept = append(kept, keeps(p)...)
		}
	}
	if len(sent.list) < len(all) {
		addAnswers(sent, all)
		c.addOutputs(sent, all)
	}
	for _, n := range kept {
		if !sent.has(n) {
			sent.add(n)
			sent.kept = append(sent.kept, n)
		}
	}
	return sent
}

// addAnswers adds the other records of the answers that are sent, wherever they hang.
func addAnswers(sent *nodeSet, all []*node) {
	off := func(n *node) bool {
		return n.role == roleAssistant && n.msg != "" && n.dropped == nil && !n.side && !sent.has(n)
	}
	if !slices.ContainsFunc(all, off) {
		return
	}
	answers := make(map[string]bool, len(sent.list)/4)
	known := "" // the answer that was added last
	for _, n := range sent.list {
		if n.role == roleAssistant && n.msg != "" && n.msg != known && !n.filler && !n.synthetic {
			known = n.msg
			answers[known] = true
		}
	}
	for _, n := range all {
		if off(n) && answers[n.msg] {
			sent.add(n)
		}
	}
}

// addOutputs adds the outputs of calls that are sent, wherever they hang.
func (c *Checker) addOutputs(sent *nodeSet, all []*node) {
	off := func(n *node) bool { return n.role == roleResult && n.dropped == nil && !n.side && !sent.has(n) }
	if !slices.ContainsFunc(all, off) {
		return
	}
	calls := make(map[string]bool, c.called.size())
	for _, n := range sent.list {
		for id := range n.each(blockCall) {
			calls[id] = true
		}
	}
	for _, n := range all {
		for id := range n.each(blockResult) {
			if off(n) && calls[id] {
				sent.add(n)
			}
		}
	}
}

// hungKept are the records that a compaction's mark keeps once all is mended.
func (c *Checker) hungKept(mark *node) []*node {
	list, _ := keptBy(mark, &c.ids)
	return list
}

// sentNow are the records that are sent with the tree as it is now. It is computed anew only if something has changed.
func (c *Checker) sentNow() *nodeSet {
	now := state{c.leaf, len(c.found), c.changes}
	if c.current != nil && c.currentAt == now {
		return c.current
	}
	tip := c.tipOf(c.leaf)
	if c.asItWas == nil || tip != c.asItWas.list[0] || len(c.added) > 0 || c.changes > 0 {
		c.asItWas = c.reach(tip, hung, c.hungKept, c.all())
	}
	c.current, c.currentAt = c.asItWas, now
	return c.current
}

// state identifies a version of the tree: each change is counted.
type state struct {
	leaf           string
	found, changes int
}

// sentAfter are the records that are sent once all is mended.
func (c *Checker) sentAfter() *nodeSet {
	now := c.sentNow()
	if len(now.list) == len(c.nodes)+len(c.added) {
		return now
	}
	sent := &nodeSet{in: slices.Clone(now.in), list: slices.Clone(now.list), kept: now.kept}
	for _, n := range c.nodes {
		if n.dropped != nil || !n.sent() && sent.has(n.up) {
			sent.add(n)
		}
	}
	return sent
}

// count is how many content blocks are sent.
func count(sent *nodeSet) (blocks int64) {
	for _, n := range sent.list {
		if n.sent() && !n.filler && n.dropped == nil {
			blocks += int64(len(n.blocks))
		}
	}
	return blocks
}
