package claude

import (
	"cmp"
	"slices"

	"github.com/hist-cli/hist/internal/finding"
)

// seen counts the blocks that the newest client sends of the file as it is. nodes are all records, as they were before any was
// removed.
func (c *Checker) seen(nodes []*node) int64 {
	r := c.reading(nodes)
	sent := c.sentOf(r)
	if sent.round {
		r.openCircles()
		sent = c.sentOf(r)
		c.circled = sent
	}
	holds := func(n *node) bool { return !n.side && n.sent() && !n.filler }
	for _, n := range sent.list {
		if holds(n) {
			c.Summary.Reached++
		}
	}
	c.Summary.Holding = c.Summary.Reached
	if !r.whole || len(sent.list) < len(c.nodes) {
		c.Summary.Holding = 0
		for _, n := range c.nodes { // without copies
			if holds(n) {
				c.Summary.Holding++
			}
		}
	}
	if r.whole && r.chosen == nil && len(sent.list) > 0 {
		c.asItWas = sent
	}
	return count(sent)
}

// sentOf are the records that the newest client sends of the file as it reads it.
func (c *Checker) sentOf(r *reading) *nodeSet {
	tip := r.ids.get(c.leaf)
	if tip == nil || !saysAnything(tip, r.up) {
		if last := r.last(); c.leaf != "" && last != nil && saysAnything(last, r.up) {
			return c.reach(last, r.up, r.keeps, r.nodes)
		}
		tip = lastOf(r.nodes, func(n *node) bool { return !n.side })
		if tip != nil && !slices.ContainsFunc(r.nodes, func(n *node) bool { return n.parent == tip.uuid }) {
			return c.reach(r.goesOn(tip, tip), r.up, r.keeps, r.nodes)
		}
		if c.repeated != nil { // tip may be a copy, and its children may stand in front of it
			tip = r.newestBelow(tip)
		}
	}
	return c.reach(r.goesOn(tip, answerHead(tip, r.up)), r.up, r.keeps, r.nodes)
}

// reading is the file as the newest client reads it: the records that it can read, by their ids, and the parents that it
// chooses for records whose own is missing.
type reading struct {
	nodes  []*node
	ids    *recordIDs
	chosen map[*node]*node
	cut    map[*node]bool // the records at which circles of parents are cut, as if their parents were missing
	whole  bool           // the client can read every record

	numbers int // are given to records
}

func (c *Checker) reading(nodes []*node) *reading {
	broken := c.brokenFor()
	unread := func(n *node) bool {
		return n.mended && broken[n.pos().Line] && !c.leads(n) || n.uuid == "" || n.typeLost || c.unread(n)
	}
	maybe := c.some.mended || c.some.nameless || c.some.mistyped || c.some.odd
	if len(c.nodes) == len(nodes) && len(c.found) == 0 && !(maybe && slices.ContainsFunc(nodes, unread)) {
		return &reading{nodes: nodes, ids: &c.ids, whole: true, numbers: c.numbers} // each has an id of its own
	}
	r := &reading{nodes: slices.DeleteFunc(slices.Clone(nodes), unread), numbers: c.numbers}
	r.ids = mapped(r.nodes)
	r.nodes = slices.DeleteFunc(r.nodes, func(n *node) bool { return r.ids.get(n.uuid) != n }) // of several with one id it reads the last
	return r
}

// brokenFor are the lines whose record the newest client can't read.
func (c *Checker) brokenFor() map[int64]bool {
	if c.Reported == nil {
		return nil
	}
	lines := map[int64]bool{}
	for _, f := range c.Reported() {
		if f.Framing && !(isHealed(&f) && impactIn("", f.Rule) == finding.Notes) {
			lines[f.Pos.Line] = true
		}
	}
	return lines
}

// up is the record that the client takes as a record's parent, nil if it takes none.
func (r *reading) up(n *node) *node {
	if n.parent == "" {
		return nil
	}
	if r.whole && n.index > 0 && r.nodes[n.index-1].uuid == n.parent { // the usual case
		return r.nodes[n.index-1]
	}
	p := r.ids.before(n.index, n.parent)
	if p != nil && !r.cut[n] {
		return p
	}
	if r.chosen == nil {
		r.heal()
	}
	return cmp.Or(r.chosen[n], p) // if no record is near in time, the client follows the circle once (2.1.330, measured)
}

// keeps are the records that the client sends because a compaction's mark names them: all of them, or none if one is missing.
func (r *reading) keeps(mark *node) []*node {
	if list, whole := keptBy(mark, r.ids); whole {
		return list
	}
	return nil
}

// goesOn is where the client begins, given the recorded end of the session and the first record of that answer: at the last
// record of the file if it is below that first record, or else at the recorded end.
func (r *reading) goesOn(start, head *node) *node {
	last := r.last()
	if seen := map[*node]bool{}; head != nil {
		for n := last; n != nil && !seen[n]; n = r.up(n) {
			if n == head {
				return last
			}
			seen[n] = true
		}
	}
	return start
}

// last is the last record of the file that the client may begin at.
func (r *reading) last() *node {
	for _, n := range slices.Backward(r.nodes) {
		if mayBeLast(n) {
			return n
		}
	}
	return nil
}

func mayBeLast(n *node) bool { return !n.side && n.role != roleResult && n.typ != "progress" }

// newestBelow is the last record in the file that is below another one, or that one itself if there is none.
func (r *reading) newestBelow(top *node) *node {
	seen := map[*node]bool{}
	for _, last := range slices.Backward(r.nodes) {
		if last == top || !mayBeLast(last) {
			continue
		}
		for n := last; n != nil && !seen[n]; n = r.up(n) {
			if n == top {
				return last
			}
			seen[n] = true
		}
	}
	return top
}

// openCircles cuts each circle of parents at its first record in the file.
func (r *reading) openCircles() {
	r.cut, r.chosen = map[*node]bool{}, nil
	for _, n := range firstOfCircles(r.nodes, r.numbers, func(n *node) *node { return r.ids.get(n.parent) }) {
		r.cut[n] = true
	}
}

// heal chooses parents for records whose own are missing: the newest record within healTime before each that is not below it.
func (r *reading) heal() {
	r.chosen = map[*node]*node{}
	above := make(map[*node]*node, len(r.nodes)) // on the way to the root: a union-find
	root := func(n *node) *node {
		top := n
		for above[top] != nil {
			top = above[top]
		}
		for n != top {
			n, above[n] = above[n], top
		}
		return top
	}
	times := byTime(r.nodes, func(n *node) bool { return !n.side && n.when != 0 })
	for _, n := range r.nodes {
		if p := r.ids.get(n.parent); p != nil && !r.cut[n] && root(p) != n {
			above[n] = p
		}
	}
	for _, n := range r.nodes {
		if n.parent == "" || n.when == 0 || r.ids.get(n.parent) != nil && !r.cut[n] {
			continue
		}
		until, _ := slices.BinarySearchFunc(times, n.when+1, func(m *node, when int64) int { return cmp.Compare(m.when, when) })
		for i := until - 1; i >= max(0, until-maxSiblings) && times[i].when >= n.when-healTime; i-- {
			if root(times[i]) != n {
				r.chosen[n], above[n] = times[i], times[i]
				break
			}
		}
	}
}
