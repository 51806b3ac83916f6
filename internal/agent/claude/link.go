package claude

import (
	"cmp"
	"slices"

	"github.com/hist-cli/hist/internal/finding"
)

// healTime is how long before a record whose parent is missing another may have been written, in milliseconds, for clients
// from 2.1.100 on to take it for the parent (measured: 4.9 s yes, 5.1 s no).
const healTime = 5000

// link hangs every record on what it stands behind, and reports those whose own word for it is wrong.
func (c *Checker) link() {
	for i, n := range c.nodes {
		n.up = c.parentOf(i)
		for i := range n.moves { // it was given another name for its parent
			n.moves[i].up = n.up
		}
	}
	c.neighbours()
	c.cycles()
	for _, n := range c.nodes {
		n.join()
	}
	c.linked = true
	waiting := map[string][]*node{} // by the missing parent that they name
	for _, n := range c.nodes {
		if n.parent != "" && n.up == nil && !n.side {
			waiting[n.parent] = append(waiting[n.parent], n)
		}
	}
	first := c.firstOfTree()
	var loose []*node // nothing hangs on them, so that nothing is lost with them
	for _, n := range c.nodes {
		switch {
		case n.side || n.up != nil || n.role == roleBoundary:
		case !n.hasMessage() && n.first == nil:
			loose = append(loose, n)
		default:
			c.linkRoot(n, first, waiting)
		}
	}
	for _, n := range slices.Backward(loose) {
		if n.first != nil && n.up == nil { // another root was hung on it since
			c.linkRoot(n, first, waiting)
		}
	}
	c.unknownLinks()
}

// linkRoot hangs a record that hangs on nothing on what it followed, unless it may begin a conversation. waiting are the records
// whose parents are missing, by the ids of those; the first of each is removed with its kin once they are hung.
func (c *Checker) linkRoot(n, first *node, waiting map[string][]*node) {
	switch {
	case n.parent == "" && (n == first || c.rewound(n)):
	case n.parent == "" && n.role == roleUser && n.first == nil && n.version != "" && before(n.version, "1.0.128"): // a summary, as 1.0.17 leaves it: nothing hangs on it
	case n.parent == "" && n.isPrompt() && !c.answeredBefore(n): // the prompt before was taken back
	case n.parent == "" && (c.replays(n) || c.begunAnew(n)):
	case n.parent == "":
		c.parentless(n)
	case waiting[n.parent] != nil:
		children := waiting[n.parent]
		delete(waiting, n.parent)
		c.lostParent(n.parent, children)
	}
}

// parentOf is the record that one names as its parent: mostly the one before it in the file.
func (c *Checker) parentOf(i int) *node {
	n := c.nodes[i]
	if i > 0 && n.parent == c.nodes[i-1].uuid && n.parent != "" {
		return c.nodes[i-1]
	}
	return c.byUUID[n.parent]
}

// neighbours finds for each record the one before it in its conversation.
func (c *Checker) neighbours() {
	var last [2]*node
	for _, n := range c.nodes {
		of := &last[0]
		if n.side {
			of = &last[1]
		}
		n.front, n.beyond, *of = *of, *of, n
	}
}

// times are the records of the main conversation by their times.
func (c *Checker) times() []*node {
	if c.byTime == nil {
		c.byTime = byTime(c.nodes, func(n *node) bool { return !n.side })
	}
	return c.byTime
}

// byTime sorts records by their times, those that count.
func byTime(nodes []*node, counts func(*node) bool) []*node {
	list := make([]*node, 0, len(nodes))
	for _, n := range nodes {
		if counts(n) {
			list = append(list, n)
		}
	}
	slices.SortStableFunc(list, func(a, b *node) int { return cmp.Compare(a.when, b.when) })
	return list
}

// firstOfTree is the record that the conversation begins with: the first of the file if it has no parent, else the oldest
// that has none.
func (c *Checker) firstOfTree() *node {
	var root *node
	for i, n := range c.nodes {
		if n.side {
			continue
		}
		if root == nil && (n.parent == "" || c.byUUID[n.parent] == nil) && i == c.firstIndex() {
			return n
		}
		if n.parent == "" && n.role != roleBoundary && (root == nil || n.when < root.when) {
			root = n
		}
	}
	return root
}

func (c *Checker) firstIndex() int {
	for i, n := range c.nodes {
		if !n.side {
			return i
		}
	}
	return -1
}

// adopt takes records for the conversation's own that say they are a sub-agent's, but that it hangs on.
func (c *Checker) adopt() {
	if !slices.ContainsFunc(c.nodes, func(n *node) bool { return n.side }) {
		return
	}
	for _, n := range c.nodes {
		if n.side {
			continue
		}
		for p := c.byUUID[n.parent]; p != nil && p.side; p = c.byUUID[p.parent] {
			p.side = false
			c.changes++
		}
	}
}

// ending notes that the record is lost with which the session is said to end.
func (c *Checker) ending() {
	if c.leaf == "" || c.byUUID[c.leaf] != nil || c.opts.Live || len(c.nodes) == 0 || c.lostEnd() {
		return
	}
	d := c.add(&draft{about: c.nodes[len(c.nodes)-1], always: true, Finding: finding.Finding{
		Rule: ruleLostEnd, Impact: finding.Notes,
		Message: "the record that the session is said to end with is not in the file: the client begins at the last one that is",
	}})
	d.Pos, d.Offset, d.On = c.leafAt.Pos, c.leafAt.Offset, c.leafAt
}

// cycles cuts every circle of parents at its first record in the file: its parent is the one that stands behind it.
func (c *Checker) cycles() {
	cut := firstOfCircles(c.nodes, c.numbers, func(n *node) *node { return n.up })
	for _, first := range cut {
		first.up = nil
	}
	for _, n := range c.nodes { // all circles are open: every way up has an end
		n.above = n.up
	}
	for _, first := range cut {
		message := "the record is its own ancestor"
		if first.parent == first.uuid {
			message = "the record is its own parent"
		}
		d := c.add(&draft{about: first, Finding: finding.Finding{Rule: ruleParentCycle, Impact: c.worst(oldAndNewer(finding.Blocks, finding.Loses)), Fix: finding.Exact, Message: message}})
		if c.healed(first) == c.before(first) && !slices.ContainsFunc(c.readers(), cutsElsewhere) {
			d.Impact = c.worst(oldAndNewer(finding.Blocks, finding.Notes))
		}
		c.hang(first, c.before(first), d)
		first.callParent("") // whatever it named, it is not asked again
	}
}

// firstOfCircles are the records, each the first of its circle, of which the way up leads back to themselves.
func firstOfCircles(nodes []*node, numbers int, up func(*node) *node) (firsts []*node) {
	done := make([]int32, numbers) // 0 not seen, else the walk that saw it
	for i, start := range nodes {
		walk := int32(i + 1)
		n := start
		for n != nil && done[n.number] == 0 {
			done[n.number] = walk
			n = up(n)
		}
		if n == nil || done[n.number] != walk {
			continue
		}
		first := n
		for m := up(n); m != n; m = up(m) {
			if m.number < first.number {
				first = m
			}
		}
		firsts = append(firsts, first)
	}
	return firsts
}

// cutsElsewhere says whether a version that heals by the time does not cut a circle where its newest record begins: what
// stands before it is lost (2.1.100 is such a one, 2.1.120 is none, measured).
func cutsElsewhere(version string) bool {
	return version != "" && !before(version, "2.1.100") && before(version, "2.1.120")
}

// rewound says whether the client has noted a rewind behind this record and in front of the next prompt.
func (c *Checker) rewound(n *node) bool {
	if c.rewinders == nil {
		c.rewinders = map[*node]bool{}
		var last *node
		at := 0
		for _, m := range c.nodes {
			for ; at < len(c.rewinds) && c.rewinds[at].Less(m.pos()); at++ {
				c.rewinders[last] = true
			}
			if m.isPrompt() && !m.side {
				last = m
			}
		}
		if at < len(c.rewinds) {
			c.rewinders[last] = true
		}
	}
	return c.rewinders[n]
}

// hang makes p the parent of n, for the sake of a finding. The caller sees to it that p does not hang on n.
func (c *Checker) hang(n, p *node, d *draft) {
	if c.linked {
		n.leave()
	}
	c.changes++
	n.own().moves = append(n.moves, move{d, n.up, p})
	n.up, n.above = p, p
	if c.linked {
		n.join()
	}
}

// before is what a root most likely hung on: the record of its answer or of its call that stands before it, else the last
// record of the tree before it in the file; nil if all of them hang on it.
func (c *Checker) before(n *node) *node {
	if p := c.callOf(n); p != nil && !rooted(p, n) {
		if end, whole := c.chainEnd(p, n.index); n.chains() && n.source == "" && whole && !rooted(end, n) {
			return end
		}
		return p
	}
	last := n.ahead()
	if n.msg == "" {
		return last
	}
	for m, steps := last, 0; m != nil && steps < maxSiblings; m, steps = m.front, steps+1 {
		switch {
		case rooted(m, n):
		case m.msg == n.msg:
			return m
		case m.sent():
			return last
		}
	}
	return last
}

// callOf is the record whose call a record answers, nil if it answers none.
func (c *Checker) callOf(n *node) *node {
	if n.role != roleResult {
		return nil
	}
	ids := n.ids(blockResult)
	for i := n.index - 1; i >= 0 && i > n.index-maxSiblings; i-- {
		m := c.nodes[i]
		if m.role == roleAssistant && !m.side && slices.ContainsFunc(m.ids(blockCall), func(id string) bool { return slices.Contains(ids, id) }) {
			return m
		}
	}
	return nil
}

// healed is the parent that clients from 2.1.100 on choose for a record whose own is missing: the newest that was written
// in the time before it. It is nil if there is none, or if two were written in the same millisecond.
func (c *Checker) healed(n *node) *node {
	if n.when == 0 {
		return nil
	}
	var best *node
	times := c.times()
	until, _ := slices.BinarySearchFunc(times, n.when+1, func(m *node, when int64) int { return cmp.Compare(m.when, when) })
	for i := until - 1; i >= max(0, until-maxSiblings) && times[i].when >= n.when-healTime; i-- {
		m := times[i]
		switch {
		case rooted(m, n):
		case best == nil:
			best = m
		case m.when == best.when:
			return nil
		default:
			return best
		}
	}
	return best
}

// impactOf is what the clients do with a record whose parent is missing and should be p. Those that keep the conversation's
// end begin there: a record in front of the gap is sent alone, whatever the time says (2.1.120 to 2.1.330, measured).
func (c *Checker) impactOf(n, p *node) finding.Impact {
	if c.healed(n) != p || c.behindEnd(n) {
		return finding.Loses
	}
	return c.worst(oldAndNewer(finding.Loses, finding.Notes))
}

// behindEnd says whether a record stands behind the end of the conversation that the client has noted.
func (c *Checker) behindEnd(n *node) bool {
	end := c.byUUID[c.leaf]
	return end != nil && end.index < n.index
}

// parentless mends a record in the middle that names no parent.
func (c *Checker) parentless(n *node) {
	if len(n.moves) > 0 {
		return
	}
	p := c.before(n)
	for p != nil && c.unread(p) { // what hangs on one that no client reads is hung on what stands before that
		p = p.up
	}
	if !n.summary && !saysAnything(p, hung) {
		return // nothing that stands before it is of the conversation, or all hangs on it: it is the first after all
	}
	d := c.add(&draft{about: n, Finding: finding.Finding{
		Rule: ruleNullParent, Impact: finding.Loses, Fix: finding.Exact,
		Message: "a record in the middle of the session has no parent: the client forgets everything above it",
	}})
	if c.summaryFrom(n) != nil && markAbove(p) == nil { // the mark that stood in front of it is gone, and its id with it
		c.addBoundary(n, newID("boundary", n.uuid), d)
		return
	}
	c.hang(n, p, d)
}

// lostParent mends the records that name a parent which is not in the file: what was lost is written again where it is
// known what it was, else they are hung on what stands before them.
func (c *Checker) lostParent(id string, children []*node) {
	if c.before(children[0]) == nil && (c.inOtherPart(id) || c.warmedUp()) {
		return
	}
	found := len(c.found)
	if !c.lostBefore(id, children) && !c.lostBeside(id, children) {
		c.broken(children)
		return
	}
	for _, d := range c.found[found:] {
		d.also = children
	}
	p := c.byUUID[id]
	for _, m := range children {
		switch {
		case m.up != nil:
		case rooted(p, m): // it hangs on this one itself
			c.broken([]*node{m})
		default:
			m.up, m.above = p, p
			m.join()
		}
	}
}

// inOtherPart says whether a sub-agent has written what an id names in the folder of another session.
func (c *Checker) inOtherPart(id string) bool {
	return c.opts.SubAgent && c.opts.Beside != nil && c.opts.Beside.Part(id)
}

// warmedUp says whether the file holds no more than what a sub-agent said when a client from 2.0 to 2.1.2 began: those ask some
// of theirs for a word before anybody has asked them anything, and may leave the question in the folder of a session that
// was never begun (measured with 2.1.2; 2.1.20 asks none).
func (c *Checker) warmedUp() bool {
	return c.opts.SubAgent && before(c.written, "2.1.20") && !before(c.written, "2.0.0") && !slices.ContainsFunc(c.nodes, func(n *node) bool {
		return n.role != roleAssistant || n.has(blockCall)
	})
}

// lostBefore writes again what is missing in front of its children; false if nothing tells what it was.
func (c *Checker) lostBefore(id string, children []*node) bool {
	n := children[0]
	p := c.before(n)
	switch {
	case c.summaryFrom(n) != nil && markAbove(p) != nil: // the client adds something between the two
		return false
	case c.summaryFrom(n) != nil:
		c.addBoundary(n, id, nil)
		return true
	case c.lostCallBefore(id, children):
		return true
	case n.role == roleResult && n.source == "" && c.lostResultBefore(id, children, p): // versions up to 2.0 chained outputs
		return true
	case n.role == roleResult && c.callOf(n) != nil:
		return false
	}
	return c.lostResultBefore(id, children, p) || c.lostSummaryBefore(id, n, p) || c.lostPromptBefore(id, children, p)
}

// broken hangs records whose parent is missing on what stands before each.
func (c *Checker) broken(children []*node) {
	for _, n := range children {
		to := c.before(n)
		d := c.add(&draft{about: n, Finding: finding.Finding{
			Rule: ruleBrokenParent, Impact: c.impactOf(n, to), Fix: finding.Exact,
			Message: "the record's parent is not in the file",
		}})
		switch {
		case to == nil:
			d.Impact, d.Fix, d.Message = finding.Notes, finding.NoFix, d.Message+"; nothing comes before it"
			continue
		case d.Impact == finding.Notes:
			d.Message += "; the client takes the record before it in time"
		case c.behindEnd(n):
			d.Message += ": the client sends one side of the gap, and forgets the other"
		default:
			d.Message += ": the client forgets everything above it"
		}
		c.hang(n, to, d)
	}
}

// unknownLinks hangs what follows a record that no client reads on what stands before that.
func (c *Checker) unknownLinks() {
	above := map[*node]*node{} // what is read above a record that is not
	for _, n := range c.nodes {
		if n.side || n.up == nil || !c.unread(n.up) {
			continue
		}
		bad := n.up
		var skipped []*node
		p := bad
		for p != nil && c.unread(p) {
			skipped = append(skipped, p)
			if over, ok := above[p]; ok {
				p = over
				continue
			}
			p = p.up
		}
		for _, m := range skipped {
			above[m] = p
		}
		d := c.add(&draft{about: bad, Finding: finding.Finding{
			Rule: ruleUnknownLink, Impact: finding.Loses, Fix: finding.Exact,
			Message: "the chain leads through a record of the type " + quoteType(bad.typ) + ", which the client does not read: it forgets everything above",
		}})
		c.hang(n, p, d)
	}
}

func quoteType(t string) string { return `"` + clip(t) + `"` }

// firstProgress is a version that writes progress records; none up to 2.1.2 does, nor goes on behind one.
const firstProgress = "2.1.3"

// unread says whether a record is a link that the clients do not follow: progress records all but the old ones do, which
// matters where one of those is named (they are in sound sessions, too).
func (c *Checker) unread(n *node) bool {
	if n.typ == "progress" && (c.opts.For != "" && before(c.opts.For, "2.1.100") || c.opts.For == "" && before(n.version, firstProgress)) {
		return true
	}
	return n.role == roleOther && n.typ != "progress" && !newerThanKnown(n.version)
}
