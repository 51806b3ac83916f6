package mend

import (
	"cmp"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
)

// restored restores a lost record from a fork or a copy of the session, or from an unreadable line; false if none has it.
func (c *Checker) restored(d *draft, id string, parent, beside *node) bool {
	n, line, source := c.elsewhere(id)
	if n == nil {
		return false
	}
	c.putBack(d, n, line, source, parent, beside, finding.Before)
	return true
}

// elsewhere finds a lost record in an unreadable line, in a request that the session records, in a fork or a copy of the session, or, if it is a
// text of the model, in the file of a helper who suggests prompts. It returns the record's line, and words that say where it was. n is nil if there
// is none, or if it is empty there, too: then it would be removed again.
func (c *Checker) elsewhere(id string) (n *node, line []byte, source string) {
	if m, ok := c.pieces.Messages[id]; ok {
		line = m.JSON(c.beside)
		if n = nodeOf(line); n.UUID == id && !n.Empty {
			if source = evidence.PieceSource; c.pieces.Lines[id] == 0 {
				source = evidence.SentSource
			}
			return n, line, source
		}
	}
	if c.opts.Beside == nil {
		return nil, nil, ""
	}
	line, source = c.opts.Beside.Record(id, func(line []byte) bool {
		n = nodeOf(line)
		return n.UUID == id && !n.Empty
	})
	if line == nil && !c.opts.SubAgent {
		line, source = c.opts.Beside.InHelper(id, func(line []byte) bool {
			n = nodeOf(line)
			up := c.ids.get(n.Parent)
			return n.Role == content.RoleAssistant && !n.Empty && !n.Calls() && up != nil && !up.Side
		})
	}
	if line == nil || c.underAnotherID(n) {
		return nil, nil, ""
	}
	return n, line, source
}

// underAnotherID says whether a record of another file is in this one under another id, so that it is not lost.
func (c *Checker) underAnotherID(n *node) bool {
	if c.atTime == nil {
		c.atTime = map[int64][]*node{}
		for _, m := range c.nodes {
			c.atTime[m.When] = append(c.atTime[m.When], m)
		}
	}
	return n.HasMessage() && slices.ContainsFunc(c.atTime[n.When], func(m *node) bool {
		return m.Message == n.Message && m.UUID != "" && m.UUID != n.UUID
	})
}

// wholeAgain replaces records that were cut off, or that lack a part, by the whole ones, if a fork or a copy of the session has them. They are found
// by their id if it is left, by the missing id that fits, or as the recorded end of the session.
func (c *Checker) wholeAgain() {
	if len(c.cut) == 0 || c.opts.Beside == nil {
		return
	}
	missing := c.danglers()
	for i, n := range c.nodes {
		size, cut := c.cut[n]
		if !cut || n.Side {
			continue
		}
		m, line, source := c.elsewhere(cmp.Or(n.UUID, c.wanted(i, missing), c.leaf))
		switch {
		case m == nil || m.Side || len(m.Faults) > 0 || n.Parent != m.Parent || n.Msg != m.Msg:
			continue // it is a different record, or not whole there either
		case c.holed[n].nuls > 0 && !normalize.Fills(gjson.GetBytes(line, "message.content").Raw, string(c.holed[n].content), c.holed[n].nuls):
			continue // nothing stood in place of the NULs
		case n.Parent != "" && c.ids.get(n.Parent) == nil || c.ids.get(m.UUID) != nil && c.ids.get(m.UUID) != n:
			continue // its line would have to be changed, or the record is in this file already
		}
		delete(missing, m.UUID)
		m.Place, m.index, m.number, m.mended = n.Place, i, n.number, true
		c.ids.put(m)
		c.nodes[i] = m
		c.some.note(m)
		for i := range m.Blocks {
			c.noteID(&m.Blocks[i])
		}
		c.run.AmendFraming(n.Pos().Line, func(f *finding.Finding) {
			f.Fix, f.Source, f.Lost = finding.Recovered, source, 0
			f.Edits = []finding.Edit{{At: n.Pos(), Op: finding.Splice, Cuts: []finding.Cut{{End: size, New: line}}}}
		})
	}
}

// putBack inserts a record of another file in front of or behind the record beside it. It keeps its parent; if that is not in
// this file, what lies between comes along from there (see bridge), or else it is hung on the given one.
func (c *Checker) putBack(d *draft, n *node, line []byte, source string, parent, beside *node, op finding.Op) {
	n.Place, n.index, n.change().new = beside.Place, beside.index, &format.Made{Parent: n.Parent}
	up := c.ids.get(n.Parent)
	if up == nil && parent != nil {
		for _, m := range slices.Backward(c.bridge(n, beside)) {
			c.putBack(d, m.node, m.line, m.source, nil, beside, op)
		}
		up = c.ids.get(n.Parent)
	}
	d.Fix, d.Source, d.Lost = finding.Recovered, source, 0
	if up == nil && parent != nil {
		line = withParent(line, n, parent.UUID)
		up, n.new.Parent = parent, parent.UUID
	}
	n.up, n.above = up, up
	c.grow(n, d, beside, op, line)
	for _, call := range n.IDs(content.BlockCall) {
		c.calls()[call] = cmp.Or(c.calls()[call], n)
	}
	for _, call := range n.IDs(content.BlockResult) {
		c.results()[call] = append(c.results()[call], n)
	}
}

// bridge is what lies between a record of another file and this file's conversation, and comes along with it: nothing that a compaction has summed
// up, none of a call that is here already, or is answered here, and no prompt of another session, or between a call and its output.
func (c *Checker) bridge(n, beside *node) []lostRecord {
	if c.keeperOf(n.UUID) != nil {
		return nil
	}
	way, end := c.wayElsewhere(n.Parent)
	at := c.ids.get(end)
	if len(way) == 0 || end == "" || at == nil || at.Side || at.index > beside.index {
		return nil
	}
	if c.some.marks && slices.ContainsFunc(c.nodes[at.index:min(beside.index, len(c.nodes))], func(m *node) bool { return m.Role == content.RoleBoundary && m != at && !m.Side }) {
		return nil
	}
	open := map[string]bool{} // outputs whose calls stand further up
	for id := range n.Each(content.BlockResult) {
		open[id] = true
	}
	for i, m := range way {
		up := at
		if i+1 < len(way) {
			up = way[i+1].node
		}
		if m.IsPrompt() && (m.Session != cmp.Or(c.opts.Session, beside.Session) || up.Calls() || len(open) > 0) || m.Role == content.RoleBoundary || m.Summary {
			return nil
		}
		for id := range m.Each(content.BlockCall) {
			if c.calls()[id] != nil {
				return nil
			}
			delete(open, id)
		}
		for id := range m.Each(content.BlockResult) {
			if len(c.results()[id]) > 0 {
				return nil
			}
			open[id] = true
		}
	}
	return way
}

// insert inserts a record that hist has written in front of or behind the record beside it.
func (c *Checker) insert(d *draft, m format.Made, beside *node, op finding.Op) *node {
	n := &node{
		Place: beside.Place, index: beside.index, up: c.ids.get(m.Parent), mending: &mending{new: &m},
		Facts: content.Facts{Kind: &format.Kind{Typ: m.Typ}, UUID: m.UUID, Parent: m.Parent, When: m.When, Source: m.Source, Rare: content.Nothing},
	}
	switch {
	case m.Typ == "system":
		n.Role = content.RoleBoundary
	case m.Typ == "assistant":
		n.Role = content.RoleAssistant
	default:
		n.Role = content.RoleUser
	}
	gjson.ParseBytes(m.Message.JSON()).Get("content").ForEach(func(_, b gjson.Result) bool {
		switch b.Get("type").String() {
		case "tool_use":
			n.Blocks = append(n.Blocks, content.Block{Kind: content.BlockCall, ID: b.Get("id").String(), Name: b.Get("name").String()})
		case "tool_result":
			n.Blocks = append(n.Blocks, content.Block{Kind: content.BlockResult, ID: b.Get("tool_use_id").String()})
			n.Role = content.RoleResult
		default:
			n.Blocks = append(n.Blocks, content.Block{Kind: content.BlockText})
		}
		return true
	})
	n.above = n.up
	c.grow(n, d, beside, op, m.JSON(c.beside))
	return n
}

// grow adds a record that is not in the file to the tree, as a child of its parent, and its line in front of or behind the record beside it.
func (c *Checker) grow(n *node, d *draft, beside *node, op finding.Op, line []byte) {
	n.change().edit = placed{d, len(d.Edits)}
	d.Edits = append(d.Edits, finding.Edit{At: beside.Pos(), Op: op, New: finding.Content{Literal: line}})
	n.number = int32(c.numbers)
	c.numbers++
	c.changes++
	n.join()
	c.some.note(n)
	c.ids.put(n)
	c.added = append(c.added, n)
}

// lostBeside restores the missing parent of some records from another session of the folder, if nothing else shows what it was:
// words of an answer, or what the client adds to a prompt. It says whether one was found.
func (c *Checker) lostBeside(id string, children []*node) bool {
	n := children[0]
	p, beside, op := c.placeOfLost(id, n)
	d := usual(n, faults.BrokenParent, "the record's parent is not in the file: the client forgets everything above it")
	d.Fix = finding.Recovered
	keeper := c.keeperOf(id)
	if keeper != nil {
		d = c.lacks(keeper, 1)
	}
	if p == nil || !c.chosen(d) {
		return false
	}
	lost, line, source := c.elsewhere(id)
	if lost == nil || lost.Side || !lost.HasMessage() && lost.Role != content.RoleLink {
		return false
	}
	if keeper == nil && c.impactOf(n, p) == finding.Notes {
		d.Message = "the record's parent is not in the file: the client goes on without it"
	}
	c.putBack(c.add(d), lost, line, source, p, beside, op)
	return true
}

// headBeside puts back the beginning of a file that has only the end of a conversation: all that stands above its first record in another file
// that has that record, too. A new file that goes on with what another one holds has none of its records. It returns false if the beginning is
// not all there.
func (c *Checker) headBeside(id string, n, before *node) bool {
	if before != nil || c.opts.Beside == nil || c.opts.Beside.Lacks(n.UUID) {
		return false
	}
	way := c.allElsewhere(id)
	if len(way) == 0 {
		return false
	}
	d := usual(n, faults.BrokenParent, c.endOf(way[0].source)).anyway()
	d.Fix = finding.Recovered
	if !c.chosen(d) {
		return false
	}
	c.add(d)
	for _, m := range slices.Backward(way) {
		c.putBack(d, m.node, m.line, m.source, nil, n, finding.Before)
	}
	return true
}

// lostRecord is a record of another file.
type lostRecord struct {
	*node
	line   []byte
	source string
}

// maxWay is how many records are put back at most: a longer conversation is resumed where it stands.
const maxWay = 1 << 13

// wayElsewhere is the way up from a record that is not in the file to one that is, or to the beginning of its conversation, as other files
// have it. end is the id of the record in the file; the way is nil if they lack any of it, or if it is too long.
func (c *Checker) wayElsewhere(id string) (way []lostRecord, end string) {
	for seen := map[string]bool{}; id != "" && c.ids.get(id) == nil; id = way[len(way)-1].Parent {
		m, line, source := c.elsewhere(id)
		if m == nil || m.Side || seen[id] || len(way) == maxWay {
			return nil, ""
		}
		seen[id] = true
		way = append(way, lostRecord{m, line, source})
	}
	return way, id
}

// allElsewhere is wayElsewhere if it leads to the beginning.
func (c *Checker) allElsewhere(id string) []lostRecord {
	if way, end := c.wayElsewhere(id); end == "" {
		return way
	}
	return nil
}

// placeOfLost is where a lost record goes on which another hangs: behind what stands in front of that, or of its own line if that comes
// later, so that the other was moved. p is the parent that it gets if its own is missing, too; nil if there is none.
func (c *Checker) placeOfLost(id string, n *node) (p, beside *node, op finding.Op) {
	if line := c.pieces.Lines[id]; line > n.Pos().Line {
		if p, _ = c.around(line, c.pieces.Messages[id].When); p != nil && !rooted(p, n) {
			return p, p, finding.After
		}
	}
	return c.before(n), n, finding.Before
}

// filledBeside replaces an empty message by what a fork or a copy of the session has under its id; false if none has it.
func (c *Checker) filledBeside(n *node, d *draft) bool {
	if !c.chosen(d) || n.UUID == "" {
		return false
	}
	m, line, source := c.elsewhere(n.UUID)
	if m == nil || m.Side || len(m.Faults) > 0 || m.Parent != n.Parent || m.Msg != n.Msg || m.Role != n.Role {
		return false
	}
	d.Fix, d.Source, d.Lost = finding.Recovered, source, 0
	d.Edits = append(d.Edits,
		finding.Edit{At: n.Pos(), Op: finding.Before, New: finding.Content{Literal: line}},
		finding.Edit{At: n.Pos(), Op: finding.Remove})
	n.Blocks, n.NoMessage, n.Empty = m.Blocks, false, false
	c.changes++
	return true
}

// lostEnd restores the record that is recorded as the session's end, if another session of the folder or an unreadable line has
// it, with what lies between it and this file's conversation. That must end there: nothing hangs on the record in this file.
func (c *Checker) lostEnd() bool {
	last := c.nodes[len(c.nodes)-1]
	d := usual(last, faults.LostEnd, "the record with which the session should end is not in the file: the client starts from the one before it").anyway()
	d.Impact, d.Fix = finding.Loses, finding.Recovered
	if !c.chosen(d) {
		return false
	}
	n, line, source := c.elsewhere(c.leaf)
	if n == nil || n.Side || !n.HasMessage() {
		return false
	}
	up, way := c.ids.get(n.Parent), []lostRecord(nil)
	if up == nil {
		if way = c.bridge(n, last); len(way) > 0 {
			up = c.ids.get(way[len(way)-1].Parent)
		}
	}
	if up == nil || up.first != nil || up.Side {
		return false
	}
	d.Pos, d.Offset = c.leafAt.Pos, c.leafAt.Offset
	d, end := c.add(d), &node{Place: format.PlaceOf(c.leafAt), index: last.index}
	for _, m := range slices.Backward(way) {
		c.putBack(d, m.node, m.line, m.source, nil, end, finding.Before)
	}
	c.putBack(d, n, line, source, nil, end, finding.Before)
	return true
}

// answeredBeside restores the output of a call from another session of the folder, in front of the answer's first newer output,
// or else behind last. No record names it: it is found by its call.
func (c *Checker) answeredBeside(d *draft, call *node, callID string, last *node) *node {
	if c.opts.Beside == nil {
		return nil
	}
	line, source := c.opts.Beside.Answer(callID, call.UUID)
	if line == nil {
		return nil
	}
	n := nodeOf(line)
	if n.Side || n.Role != content.RoleResult || n.UUID == "" || c.ids.get(n.UUID) != nil {
		return nil
	}
	beside, op := last, finding.After
	for i := call.index + 1; i <= last.index && i < call.index+maxSiblings; i++ {
		if m := c.nodes[i]; m.Role == content.RoleResult && !m.Side && m.When > n.When {
			beside, op = m, finding.Before
			break
		}
	}
	c.putBack(d, n, line, source, call, beside, op)
	return n
}
