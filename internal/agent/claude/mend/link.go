package mend

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/agent/claude/reader"
)

// link finds the parent of every record, and reports the records that name a wrong one or none.
func (c *Checker) link() {
	roots := c.tie()
	if c.parentsBehind { // else every way up has an end
		roots = c.untangle()
	}
	c.linked = true
	c.linkRoots(roots)
	if c.some.odd {
		c.unknownLinks()
	}
}

// linkRoots finds parents for those of the records without one with which the conversation can not begin.
func (c *Checker) linkRoots(roots []*node) {
	first := c.firstOfTree()
	sound := func(n *node) bool { return n.Side || n.Role == content.RoleBoundary || n == first && n.Parent == "" }
	if !slices.ContainsFunc(roots, func(n *node) bool { return !sound(n) }) {
		return
	}
	waiting := map[string][]*node{} // records by the missing parent that they name
	for _, n := range roots {
		if n.Parent != "" && !n.Side {
			waiting[n.Parent] = append(waiting[n.Parent], n)
		}
	}
	begins := c.rootByTime()
	var loose []*node // records that say nothing, and below which nothing is said: nothing is lost with them
	for _, n := range c.nodes {
		switch {
		case n.Side || n.up != nil || n.Role == content.RoleBoundary:
		case n != begins && c.saysNothingBelow(n):
			loose = append(loose, n)
		default:
			c.linkRoot(n, first, waiting)
		}
	}
	for _, n := range slices.Backward(loose) {
		if n.up == nil && !c.saysNothingBelow(n) { // it has got a child by now
			c.linkRoot(n, first, waiting)
		}
	}
}

// rootByTime is the top of what the client that shall resume the session sends, as the records hang now, if it begins at the one with the
// latest time; nil if it does not.
func (c *Checker) rootByTime() *node {
	is := reader.Of(c.opts.For)
	if c.opts.For == "" || !is.ByTime {
		return nil
	}
	tip := &node{}
	for _, n := range c.nodes {
		if !n.Side && n.When > tip.When && (is.EndsOnHooks || n.Typ != "progress") {
			tip = n
		}
	}
	return tip.root()
}

// saysNothingBelow says whether a record says nothing and no client begins below it: nothing hangs on it, or what does only shows how a
// tool or a hook gets on. Clients up to 2.1.78 hang such progress on records that they never write.
func (c *Checker) saysNothingBelow(n *node) bool {
	if n.HasMessage() || n.first != nil && n.Typ != "progress" {
		return false
	}
	nothing := true
	c.below(n, func(m *node) bool {
		nothing = nothing && (m == n || m.Typ == "progress")
		return nothing
	})
	return nothing
}

// linkRoot finds a parent for a record that has none, unless the conversation may begin with it. waiting are the records
// whose parent is missing, by its id. Those with the same parent are handled together, and then removed from waiting.
func (c *Checker) linkRoot(n, first *node, waiting map[string][]*node) {
	switch {
	case n.Parent == "":
		if n != first && !c.mayBeRoot(n) {
			c.parentless(n)
		}
	case waiting[n.Parent] != nil:
		children := waiting[n.Parent]
		delete(waiting, n.Parent)
		c.lostParent(n.Parent, children)
	}
}

// mayBeRoot says whether sound sessions, too, have records like this without a parent in their middle.
func (c *Checker) mayBeRoot(n *node) bool {
	switch {
	case c.rewound(n), c.clearedOnPurpose(n):
		return true
	case n.Role == content.RoleUser && n.first == nil && format.Before(n.Version, "1.0.128"): // a summary without children, as 1.0.17 leaves it
		return true
	case n.IsPrompt() && n.Continues, (n.IsPrompt() || n.retold) && c.cleared(n): // 1.0.17 compacts and clears a conversation so
		return true
	case n.IsPrompt() && !c.answeredBefore(n): // the prompt before it was taken back
		return true
	case n.Typ == "system" && c.nothingAskedBefore(n): // a hook stopped every prompt, also the first after a rewind
		return true
	}
	return c.replays(n) || c.begunAnew(n)
}

// nothingAskedBefore says whether nobody has said anything in front of a record.
func (c *Checker) nothingAskedBefore(n *node) bool {
	return n.index < maxSiblings && !slices.ContainsFunc(c.nodes[:n.index], func(m *node) bool { return !m.Side && m.HasMessage() && !m.AsksNothing })
}

// parentOf is the record that the i-th one names as its parent, which mostly is the one before it in the file.
func (c *Checker) parentOf(i int) *node {
	n := c.nodes[i]
	if i > 0 && n.Parent == c.nodes[i-1].UUID && n.Parent != "" {
		return c.nodes[i-1]
	}
	p := c.ids.before(i, n.Parent)
	for p != nil && p.index >= i && c.saidBefore[p] != nil && !c.saidBefore[p].replaced {
		p = c.saidBefore[p]
	}
	return p
}

// untangle cuts off records that name a later one as their parent, and then has all join their parents' children anew.
func (c *Checker) untangle() (roots []*node) {
	for _, n := range c.nodes {
		n.siblings, n.many = siblings{}, 0
	}
	later := c.cutLater()
	c.cycles()
	c.laterParents(later)
	for _, n := range c.nodes {
		if n.join(); n.up == nil {
			roots = append(roots, n)
		}
	}
	c.aside = true
	return roots
}

// tie finds, for each record, the one that it names as its parent, and the one before it in the file that belongs to the same
// conversation. roots are those without a parent.
func (c *Checker) tie() (roots []*node) {
	var last [2]*node
	for i, n := range c.nodes {
		if n.Role != content.RoleBoundary { // what is sent begins there, whatever damage makes it name
			n.up = c.parentOf(i)
		}
		n.above = n.up
		c.parentsBehind = c.parentsBehind || n.up != nil && n.up.index >= n.index
		for i := range n.moves { // moves that were planned when the parent had another name
			n.moves[i].up = n.up
		}
		of := &last[0]
		if n.Side {
			of = &last[1]
		}
		n.front, n.beyond, *of = *of, *of, n
		if c.aside = c.aside || n.up != n.front; n.up == nil {
			roots = append(roots, n)
		}
		n.join()
	}
	return roots
}

// times are the records of the main conversation, sorted by their times.
func (c *Checker) times() []*node {
	if c.byTime == nil {
		c.byTime = slices.DeleteFunc(slices.Clone(c.nodes), func(n *node) bool { return n.Side })
		slices.SortStableFunc(c.byTime, func(a, b *node) int { return cmp.Compare(a.When, b.When) })
	}
	return c.byTime
}

// firstOfTree is the record with which the conversation begins: the first of the file if its parent is not there, else the
// oldest that names no parent. It is the older prompt behind an answer that comes first: the two have changed places.
func (c *Checker) firstOfTree() *node {
	var root *node
	for i, n := range c.nodes {
		if n.Side {
			continue
		}
		if root == nil && (n.Parent == "" || c.ids.get(n.Parent) == nil) && i == c.firstIndex() {
			return cmp.Or(c.askedBehind(n), n)
		}
		if n.Parent == "" && n.Role != content.RoleBoundary && (root == nil || n.When < root.When) {
			root = n
		}
	}
	return root
}

// askedBehind is the prompt behind an answer, or behind what the client adds to a prompt, that is the first record of the file, if it is
// older, hangs on nothing, and nobody has answered it. nil if there is none near.
func (c *Checker) askedBehind(n *node) *node {
	if n.Role != content.RoleAssistant && n.Attachment == "" || n.index != c.firstIndex() || !c.linked {
		return nil
	}
	for _, m := range c.nodes[n.index+1 : min(len(c.nodes), n.index+maxSiblings)] {
		if m.IsPrompt() && !m.Side && m.Parent == "" && m.When != 0 && m.When < n.When && m.first == nil {
			return m
		}
	}
	return nil
}

func (c *Checker) firstIndex() int {
	return slices.IndexFunc(c.nodes, func(n *node) bool { return !n.Side })
}

// adopt counts a record as part of the conversation although it is marked as a sub-agent's, if it is an ancestor of one of
// the conversation's records.
func (c *Checker) adopt() {
	if !c.some.side {
		return
	}
	for _, n := range c.nodes {
		if n.Side {
			continue
		}
		for p := c.ids.before(n.index, n.Parent); p != nil && p.Side; p = c.ids.before(p.index, p.Parent) {
			p.Side = false
			c.changes++
		}
	}
}

// ending reports that the record is lost that the client has noted as the session's end.
func (c *Checker) ending() {
	if c.leaf == "" || c.ids.get(c.leaf) != nil || c.opts.Live || len(c.nodes) == 0 || c.lostEnd() || c.lostLastPrompt() {
		return
	}
	d := c.find(c.nodes[len(c.nodes)-1], faults.LostEnd, "the record with which the session should end is not in the file: the client starts from the last one that is")
	d.Pos, d.Offset, d.On = c.leafAt.Pos, c.leafAt.Offset, c.leafAt
}

// rewound says whether the client has noted a rewind between this prompt and the next. It does so behind all that it writes of what the
// user said first after the rewind, which may be several records: a command that is run by hand, and what that printed.
func (c *Checker) rewound(n *node) bool {
	if c.rewinders == nil {
		c.rewinders = map[*node]bool{}
		var said []*node // since the last rewind: the newest prompt, and those that it hangs on
		at := 0
		note := func() {
			for _, m := range said {
				c.rewinders[m] = true
			}
			said = said[:0]
		}
		for _, m := range c.nodes {
			for ; at < len(c.rewinds) && c.rewinds[at].Less(m.Pos()); at++ {
				note()
			}
			if !m.IsPrompt() || m.Side {
				continue
			}
			if len(said) > 0 && said[len(said)-1].UUID != m.Parent {
				said = said[:0]
			}
			said = append(said, m)
		}
		if at < len(c.rewinds) {
			note()
		}
	}
	return c.rewinders[n]
}

// hang makes p the parent of n, as a part of a finding's repair. The caller must have made sure that n is not above p.
func (c *Checker) hang(n, p *node, d *draft) {
	if c.wouldCircle(n, p) {
		return
	}
	if rooted(p, n) { // only by a shortcut from before a record between the two was moved: with it, the way to the root would be a circle
		p.renew()
	}
	if c.linked {
		n.leave()
	}
	c.changes++
	n.change().moves = append(n.moves, move{d, n.up, p})
	n.up, n.above = p, p
	if c.linked {
		n.join()
	}
	if d.about == n && p != nil && d.Why == "" {
		d.Why = c.tieTo(n, p)
	}
}

// tieTo says which parent a record gets, and what speaks for that one, the strongest reason first (see before).
func (c *Checker) tieTo(n, p *node) string {
	call := c.callOf(n)
	reason := "the nearest in front of it that can be above it"
	switch {
	case p.new != nil:
		return "hung on the record that is put back"
	case p == call:
		reason = "the call that it answers"
	case call != nil && p.Role == content.RoleResult:
		reason = "an output that its answer had before it"
	case n.Msg != "" && p.Msg == n.Msg:
		reason = "an earlier part of the same answer"
	case p == n.front:
		reason = "the record in front of it"
	case p.index > n.index:
		reason = "a record that stands behind it"
	}
	return fmt.Sprintf("hung on line %d, %s", p.Pos().Line, reason)
}

// maxClimb is how many steps for each record wouldCircle may take in all: the cost stays linear where very many are hung.
const maxClimb = 16

// wouldCircle says whether p hangs on n. What leads to that should be mended where it is: here it is only kept from going round for ever.
func (c *Checker) wouldCircle(n, p *node) bool {
	for m := p; m != nil && c.climbed < maxClimb*(len(c.nodes)+maxSiblings); m = m.up {
		if c.climbed++; m == n {
			return true
		}
	}
	return false
}
