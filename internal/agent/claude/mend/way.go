package mend

import (
	"cmp"
	"iter"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/agent/claude/reader"
	"github.com/hist-cli/hist/internal/finding"
)

// nodeSet is a set of records that are sent.
type nodeSet struct {
	in    []bool // by the records' numbers
	list  []*node
	tip   *node   // where the client begins; nil: nothing is sent
	kept  []*node // the records that are sent only because a compaction has kept them
	round bool    // the way up from the tip led back to itself
	gaps  bool    // some record's parent is missing, or comes later
}

func (s *nodeSet) has(n *node) bool { return n != nil && int(n.number) < len(s.in) && s.in[n.number] }

func (s *nodeSet) add(n *node) {
	if !s.in[n.number] {
		s.in[n.number] = true
		s.list = append(s.list, n)
	}
}

// view is the records in the order in which a client reads them, as the reader wants them.
type view struct {
	list    []*node
	session reader.Session
	find    func(id string) int32 // a record's place in the list
	numbers int                   // how many records were ever numbered
	ordered bool                  // a record's place in the list is its number
	records int                   // those of the main conversation that hold content
	blocks  int64                 // the content blocks of all that a client may send
	changes int                   // how often the tree had been changed
	sent    map[string]*nodeSet   // by the end that a last-prompt record names
}

func newView(list []*node, numbers int, up func(i int) int32, find func(id string) int32) *view {
	v := &view{list: list, find: find, numbers: numbers, sent: map[string]*nodeSet{}}
	v.session.Records = make([]reader.Record, len(list))
	v.session.Answer = func(i int) string { return list[i].Msg }
	v.session.Calls = func(i int) iter.Seq[string] { return list[i].Each(content.BlockCall) }
	v.session.Outputs = func(i int) iter.Seq[string] { return list[i].Each(content.BlockResult) }
	for i, n := range list {
		r := &v.session.Records[i]
		*r = reader.Record{
			When: n.When, Up: up(i), Role: n.readAs(), Side: n.Side, Mute: !n.Sent() || n.Filler, Progress: n.Typ == "progress",
			Asks: n.Role == content.RoleAssistant && n.Calls(),
		}
		if !r.Mute {
			v.blocks += int64(len(n.Blocks))
			if !r.Side {
				v.records++
			}
		}
	}
	return v
}

// readAs is what a record is to the newest client. What a newer version than is known has written may be of a type that its client follows.
func (n *node) readAs() reader.Role {
	switch n.Role {
	case content.RoleUser:
		return reader.Prompt
	case content.RoleResult:
		return reader.Output
	case content.RoleAssistant:
		return reader.Answer
	case content.RoleBoundary:
		return reader.Mark
	case content.RoleLink:
		return reader.Link
	}
	if n.Typ == "progress" || format.NewerThanKnown(n.Version) {
		return reader.Link
	}
	return reader.Unread
}

// from is what the newest client sends if the last last-prompt record names an end; "" for none.
func (v *view) from(leaf string) *nodeSet {
	if v.sent[leaf] == nil {
		if v.session.Leaf = reader.None; leaf != "" {
			v.session.Leaf = v.find(leaf)
		}
		v.sent[leaf] = v.set(reader.Read(&v.session, reader.Of("")))
	}
	return v.sent[leaf]
}

func (v *view) set(way reader.Way) *nodeSet {
	sent := &nodeSet{round: way.Round, gaps: way.Gaps}
	if way.Tip >= 0 {
		sent.tip = v.list[way.Tip]
	}
	if v.ordered && len(way.Kept) == 0 {
		sent.in = way.On
	} else {
		v.enter(sent, way)
	}
	if sent.list = v.list; slices.Contains(way.On, false) {
		sent.list = slices.DeleteFunc(slices.Clone(v.list), func(n *node) bool { return !sent.has(n) })
	}
	return sent
}

// enter enters in a set what is sent.
func (v *view) enter(sent *nodeSet, way reader.Way) {
	sent.in = make([]bool, v.numbers)
	for _, i := range way.Up {
		sent.in[v.list[i].number] = true
	}
	for _, i := range way.Kept {
		if n := v.list[i]; !sent.has(n) {
			sent.kept = append(sent.kept, n)
		}
	}
	for i, on := range way.On {
		sent.in[v.list[i].number] = on
	}
}

// asItIs is the file as the newest client reads it. nodes are all records, as they were before any was removed. whole says whether it can
// read each of them, and each has an id of its own.
func (c *Checker) asItIs(nodes []*node) (v *view, whole bool) {
	broken := c.brokenFor()
	unread := func(n *node) bool {
		return n.TypeLost || n.mended && broken[n.Pos().Line] && !c.leads(n) || c.unread(n)
	}
	ids := &c.ids
	maybe := c.some.mended || c.some.mistyped || c.some.odd
	if whole = len(c.nodes) == len(nodes) && len(c.found) == 0 && !c.some.nameless && !(maybe && slices.ContainsFunc(nodes, unread)); !whole {
		ids = mapped(slices.DeleteFunc(slices.Clone(nodes), unread)) // of several with one id the client reads the last
	}
	at := func(n *node) int32 {
		if n == nil {
			return reader.Missing
		}
		return n.number
	}
	up := func(i int) int32 {
		switch id := nodes[i].Parent; {
		case id == "":
			return reader.None
		case whole && i > 0 && nodes[i-1].UUID == id:
			return int32(i - 1)
		default:
			return at(ids.before(nodes[i].index, id))
		}
	}
	find := func(id string) int32 { return at(ids.get(id)) }
	v = newView(nodes, c.numbers, up, find)
	v.ordered = true // none has been removed when they were numbered
	v.session.Anchor = func(i int) int32 { return find(nodes[i].Anchor) }
	v.session.Keeps = func(i int) (list []int32) {
		for _, k := range nodes[i].Keeps {
			if list = append(list, find(k.UUID)); list[len(list)-1] < 0 {
				return nil // all of them, or none
			}
		}
		return list
	}
	if !whole {
		var nameless *reader.Record // the last that has no id
		for i, n := range nodes {
			r := &v.session.Records[i]
			switch {
			case unread(n):
				r.Role = reader.Unread
			case n.UUID != "":
				r.Old = r.Role != reader.Unread && ids.get(n.UUID) != n
			case r.Role != reader.Unread:
				if nameless != nil {
					nameless.Old = true
				}
				nameless = r
			}
		}
	}
	return v, whole
}

// placesOf are where the client takes records to stand. What hangs below a mark but stands in front of it is moved behind it (inFrontOfMark),
// unless it is a copy: the first one stays where it is.
func (c *Checker) placesOf(list []*node) func(i int) int64 {
	marks := make([]int64, c.numbers) // the place of the mark below which a record hangs, by number: none is -1, and 0 is not known yet
	place := func(n *node) int64 { return cmp.Or(n.firstLine, n.Pos().Line) }
	var way []*node
	for _, n := range list {
		at := int64(0)
		for way = way[:0]; n != nil && at == 0; n = n.up {
			if at = marks[n.number]; at == 0 && n.BeginsAnew() {
				at = place(n)
			}
			marks[n.number] = -1 // also where the way leads back to itself
			way = append(way, n)
		}
		for _, n := range way {
			marks[n.number] = cmp.Or(at, -1)
		}
	}
	return func(i int) int64 {
		if n := list[i]; n.firstLine == 0 {
			return max(place(n), marks[n.number])
		}
		return list[i].firstLine
	}
}

// forgets says whether the client begins with what a compaction keeps.
func (c *Checker) forgets() bool { return c.some.keeps && !reader.Of(c.opts.For).WholeFront }

// seen counts the blocks that the newest client sends of the file as it is. nodes are all records, as they were before any was
// removed.
func (c *Checker) seen(nodes []*node) int64 {
	v, whole := c.asItIs(nodes)
	switch {
	case c.forgets() && whole:
		v.session.Place = func(i int) int64 { return int64(i) }
	case c.forgets():
		v.session.Place = reader.FirstPlaces(len(nodes), func(i int) string { return nodes[i].UUID })
	}
	sent := v.from(c.leaf)
	if whole && !sent.gaps && !c.some.keeps {
		c.mended = v // there is nothing to mend in what hangs on what
	}
	if sent.round {
		c.circled = sent
	}
	c.counted, c.Summary.Reached, c.Summary.Holding = sent, v.records, v.records
	blocks := v.blocks
	if len(sent.list) < len(nodes) {
		c.Summary.Reached, blocks = count(sent.list)
	}
	if len(c.nodes) < len(nodes) { // without copies
		c.Summary.Holding, _ = count(c.nodes)
	}
	return blocks
}

// brokenFor are the lines whose record the newest client can't read.
func (c *Checker) brokenFor() map[int64]bool {
	lines := map[int64]bool{}
	for _, f := range c.run.Findings() {
		if f.Framing && !(faults.HealsItself(&f) && faults.ImpactIn("", f.Rule) == finding.Notes) {
			lines[f.Pos.Line] = true
		}
	}
	return lines
}

// asMended is the session with all that is mended so far. What a mark names as kept and is not there is taken for put back.
func (c *Checker) asMended() *view {
	if c.mended != nil && c.mended.changes == c.changes {
		return c.mended
	}
	c.mended = c.viewOf(c.inOrder())
	return c.mended
}

// viewOf is the session with all that is mended so far, its records in a given order.
func (c *Checker) viewOf(list []*node) *view {
	places := make([]int32, c.numbers)
	for i, n := range list {
		places[n.number] = int32(i)
	}
	up := func(i int) int32 {
		if n := list[i]; n.up != nil {
			return places[n.up.number]
		}
		return reader.None
	}
	find := func(id string) int32 {
		if n := c.ids.get(id); n != nil && n.dropped == nil {
			return places[n.number]
		}
		return reader.Missing
	}
	v := newView(list, c.numbers, up, find)
	v.changes = c.changes
	v.session.Keeps = func(i int) (kept []int32) {
		there, _ := keptBy(list[i], &c.ids)
		for _, n := range there {
			kept = append(kept, places[n.number])
		}
		return kept
	}
	v.session.Anchor = func(i int) int32 { return find(list[i].Anchor) }
	for i, n := range list {
		if n.dropped != nil || c.unread(n) {
			v.session.Records[i].Role = reader.Unread
		}
	}
	if c.forgets() {
		v.session.Place = c.placesOf(list)
	}
	return v
}

// inOrder are all records, those that hist adds at their places.
func (c *Checker) inOrder() []*node {
	if len(c.added) == 0 {
		return c.nodes
	}
	rank := func(n *node) int {
		switch {
		case n.new == nil:
			return 0
		case n.edit.in != nil && n.edit.at < len(n.edit.in.Edits) && n.edit.in.Edits[n.edit.at].Op == finding.Before:
			return -1
		}
		return 1
	}
	list := c.all()
	slices.SortStableFunc(list, func(a, b *node) int { return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(rank(a), rank(b))) })
	return list
}

// sentNow are the records that are sent with the tree as it is now.
func (c *Checker) sentNow() *nodeSet { return c.asMended().from(c.leaf) }

// tipOf is the record at which the newest client begins with the tree as it is now, if the last last-prompt record names an end; "" for none.
func (c *Checker) tipOf(leaf string) *node { return c.asMended().from(leaf).tip }

// reach are the records that are sent with the tree as it is now if the client begins at a tip.
func (c *Checker) reach(tip *node) *nodeSet {
	v := c.asMended()
	return v.set(reader.From(&v.session, reader.Of(""), slices.Index(v.list, tip)))
}

// sentAfter are the records that are sent once all is mended.
func (c *Checker) sentAfter() *nodeSet {
	now := c.sentNow()
	if len(now.list) == len(c.nodes)+len(c.added) {
		return now
	}
	sent := &nodeSet{in: slices.Clone(now.in), list: slices.Clone(now.list), tip: now.tip, kept: now.kept}
	for _, n := range c.nodes {
		if n.dropped != nil || !n.Sent() && sent.has(n.up) {
			sent.add(n)
		}
	}
	return sent
}

// count is how many of some records are of the main conversation and hold content, and how many content blocks all of them hold.
func count(list []*node) (records int, blocks int64) {
	for _, n := range list {
		if n.Sent() && !n.Filler && n.dropped == nil {
			blocks += int64(len(n.Blocks))
			if !n.Side {
				records++
			}
		}
	}
	return records, blocks
}
