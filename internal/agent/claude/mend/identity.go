package mend

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// duplicates removes later copies of a record from c.nodes, and marks records that share an id with another but differ, to be
// given ids of their own.
func (c *Checker) duplicates() {
	if !c.some.nameless && c.ids.apart(c.nodes) {
		return
	}
	kept := make([]*node, 0, len(c.nodes))
	c.ids.byID = make(map[string]*node, len(c.nodes))
	reversed := reversedInFront(c.nodes)
	for _, n := range c.nodes {
		other := c.ids.get(n.UUID)
		switch {
		case n.UUID == "" || other == nil:
			c.ids.put(n)
			kept = append(kept, n)
		case other.Sum == n.Sum:
			if reversed {
				other.change().replaced = true
				c.ids.put(n)
				kept, n, other = append(kept, n), other, n
			}
			if c.repeated == nil {
				c.repeated = c.find(n, faults.DuplicateRecord, "this record is in the file already, byte for byte").anyway()
				if reversed && c.some.keeps {
					c.repeated.Message = "old records stand here once more, the last one first: the client takes what follows the compaction for what is in front of it, and sends nothing of that"
					c.repeated.Impact = c.worst(faults.ByVersion{Old: finding.Notes, Middle: finding.Notes, Newest: finding.Loses})
				}
			}
			c.repeated.Count++
			c.repeated.Edits = append(c.repeated.Edits, finding.Edit{At: n.Pos(), Op: finding.Remove})
			c.copies[other.Pos()] = append(c.copies[other.Pos()], n.Pos())
			if n.HasMessage() && !n.Side {
				c.lastCopied = other
			}
		case c.unread(n) && c.unread(other): // no client reads either, so neither stands in for the other: what names them means the nearer one
			c.saidBefore[n] = other
			c.ids.put(n)
			kept = append(kept, n)
		case other.Message == n.Message && n.HasMessage() || !n.HasMessage() && !other.HasMessage() || n.laterCopyOf(other):
			// A replay: the client uses the last copy, in the earlier one's place in the tree.
			if n.retold = n.Meta && other.Meta && n.When == other.When && n.When != 0; !n.retold {
				c.find(n, faults.DuplicateRecord, "the same message was written before, with other details: the client uses this copy").Fix = finding.NoFix
			}
			other.change().replaced = true
			n.change().firstLine = cmp.Or(other.firstLine, other.Pos().Line)
			if other.Parent != n.Parent {
				c.saidBefore[n] = other
			}
			c.ids.put(n)
			kept = append(kept, n)
		default:
			other.change().sharesID = true
			c.reused(n)
			kept = append(kept, n)
		}
	}
	delete(c.ids.byID, "")
	c.nodes = slices.DeleteFunc(kept, func(n *node) bool { return n.replaced })
	for i, n := range c.nodes {
		n.index = i
	}
}

// laterCopyOf says whether a record is a later copy of another one, but for some detail of its message: its place in the tree and its
// time are the same, and it holds the same blocks. If the client can't read it, it uses the other one.
func (n *node) laterCopyOf(other *node) bool {
	return n.HasMessage() && !n.mended && n.Role == other.Role && n.Parent == other.Parent && n.When == other.When && n.When != 0 && len(n.Faults) == 0 &&
		len(n.Blocks) == len(other.Blocks) && n.beginsLike(other)
}

// reversedInFront says whether the first copies of records come before their parents, but not the last ones: a program has put the
// session's lines, the last one first, in front of the session.
func reversedInFront(nodes []*node) bool {
	first, last := make(map[string]int, len(nodes)), make(map[string]int, len(nodes))
	for i, n := range nodes {
		if _, ok := first[n.UUID]; !ok {
			first[n.UUID] = i
		}
		last[n.UUID] = i
	}
	early, late, all := 0, 0, 0
	for id, i := range first {
		n := nodes[i]
		if of, ok := first[n.Parent]; ok && last[id] > i && id != "" {
			all++
			if of > i {
				early++
			}
			if last[n.Parent] > last[id] {
				late++
			}
		}
	}
	return early > all/2 && late < early/2
}

// alone also removes the copies of a record that an edit changes or removes: they would become other records with its id.
func (c *Checker) alone(d *draft) {
	for _, e := range d.Edits {
		if e.Op != finding.Splice && e.Op != finding.Remove {
			continue
		}
		for _, at := range c.copies[e.At] {
			d.Edits = append(d.Edits, finding.Edit{At: at, Op: finding.Remove})
		}
	}
}

// reused reports a record whose id is another's.
func (c *Checker) reused(n *node) {
	n.change().wrongID, c.some.nameless = true, true
	n.change().named = c.find(n, faults.ReusedUUID, "another record has the same id: the client reads this one in its place, and what follows it loses its history").anyway()
}

// nameless says whether a record has no id of its own.
func (n *node) nameless() bool { return n.UUID == "" || n.wrongID }

// identify gives an id to records that have none of their own: a missing one that the records after it name, or else a new one.
func (c *Checker) identify() {
	if !c.some.nameless && !c.some.mistyped {
		return
	}
	var missing map[string]int // only needed if a record lacks an id
	if c.some.nameless {
		missing = c.danglers()
	}
	followed := map[string]bool{} // all that follow the first record with a wrong id hang on that one
	for i, n := range c.nodes {
		if (n.TypeLost || n.TypeWrong) && !n.Side {
			c.missingType(n)
		}
		if !n.nameless() {
			continue
		}
		d := n.named
		if d == nil {
			d = c.find(n, faults.MissingUUID, "the record has no id: the client skips it, and everything above it is lost")
		}
		n.change().named = d
		old := n.UUID
		if n.UUID = c.idFor(i, missing); n.UUID == "" {
			n.UUID = format.NewID("record", old, n.Parent, n.Pos().String())
		}
		delete(missing, n.UUID)
		c.ids.put(n)
		d.Edits = append(d.Edits, finding.Edit{At: n.Pos(), Op: finding.Splice, Cuts: []finding.Cut{member(n.UUIDSpan.In(), int(n.Start), "uuid", n.UUID)}})
		if n.wrongID && !followed[old] { // what follows it in the file hangs on it
			followed[old] = true
			for _, later := range c.naming(old) {
				if later.index > i {
					later.rename(old, n.UUID, d)
				}
			}
		}
	}
}

// naming are the records that name another as their parent, or as the record with their call.
func (c *Checker) naming(id string) []*node {
	if c.namers == nil {
		c.namers = map[string][]*node{}
		for _, n := range c.nodes {
			c.namers[n.Parent] = append(c.namers[n.Parent], n)
			if n.Source != "" && n.Source != n.Parent {
				c.namers[n.Source] = append(c.namers[n.Source], n)
			}
		}
	}
	return c.namers[id]
}

// rename makes a record name another by its new id.
func (n *node) rename(old, id string, d *draft) {
	if n.Parent == old {
		n.callParent(id)
		n.change().moves = append(n.moves, move{by: d})
	}
	if n.Source == old {
		n.Source = id
	}
}

// member is the cut that sets a member at the top of a record to a text; start is where the record's object begins.
func member(span jsonl.Span, start int, key, value string) finding.Cut {
	quoted := jsonl.AppendQuote(nil, value)
	if span.End > span.Start {
		return finding.Cut{Start: span.Start, End: span.End, New: quoted}
	}
	return finding.Cut{Start: start + 1, End: start + 1, New: append(append([]byte(`"`+key+`":`), quoted...), ',')}
}

// missingType gives a message without a valid type the one that its role implies.
func (c *Checker) missingType(n *node) {
	typ := "user"
	if n.Role == content.RoleAssistant {
		typ = "assistant"
	}
	d := c.find(n, faults.MissingType, "the record holds a message, but the client does not read its type")
	d.Edits = []finding.Edit{{At: n.Pos(), Op: finding.Splice, Cuts: []finding.Cut{member(n.TypeSpan.In(), int(n.Start), "type", typ)}}}
	if n.TypeWrong {
		d.Message = fmt.Sprintf("the record's type is %q, but its message is of the type %q: the client mistakes one speaker for the other", n.Typ, typ)
		if len(n.IDs(content.BlockCall)) > 0 {
			d.Impact = finding.Rejects
		}
	}
}

// sideTexts reports records that say with the text "false" that they are no sub-agent's: a client takes any text for yes. It matters
// where the client would begin: from 2.1.215 on, it does not resume the session, and older versions leave the record out (measured).
func (c *Checker) sideTexts() {
	if !c.some.sideTexts || c.opts.SubAgent {
		return
	}
	tip, all := c.tipOf(c.leaf), true
	for _, n := range c.nodes {
		all = all && n.SideAt.End > 0
	}
	for _, n := range c.nodes {
		if n.SideAt.End == 0 {
			continue
		}
		d := c.find(n, faults.MissingType, "isSidechain is the text \"false\": the client takes the record for a sub-agent's")
		d.Impact = finding.Notes
		d.Edits = []finding.Edit{{At: n.Pos(), Op: finding.Splice, Cuts: []finding.Cut{{Start: n.SideAt.Start, End: n.SideAt.End, New: []byte("false")}}}}
		switch {
		case all:
			d.Impact = c.worst(faults.ByVersion{Old: finding.Loses, Middle: finding.Blocks, Newest: finding.Blocks})
		case tip != nil && (n == tip || n.index >= tip.index):
			d.Impact = c.worst(faults.ByVersion{Old: finding.Loses, Middle: finding.Loses, Newest: finding.Blocks})
		}
	}
}

// danglers are the ids that are named as parents but that no record has, each with the index of the first record that names it.
func (c *Checker) danglers() map[string]int {
	missing := map[string]int{}
	for i, n := range c.nodes {
		if n.Parent != "" && c.parentOf(i) == nil {
			if _, ok := missing[n.Parent]; !ok {
				missing[n.Parent] = i
			}
		}
	}
	return missing
}

// wanted is the missing id that fits the record at index i: the first record that names it as its parent follows at once, or is
// the output of its call; or it stands between this record and the one that this one hangs on, so that the two have changed places.
func (c *Checker) wanted(i int, missing map[string]int) string {
	n := c.nodes[i]
	if n.Role == content.RoleOther && n.Typ == "" {
		return "" // so little is left of it that what follows does better without
	}
	if i > 1 && n.Parent != "" && c.nodes[i-2].UUID == n.Parent {
		if first, ok := missing[c.nodes[i-1].Parent]; ok && first == i-1 {
			return c.nodes[i-1].Parent
		}
	}
	calls := n.IDs(content.BlockCall)
	for j := i + 1; j < len(c.nodes) && j < i+maxSiblings; j++ {
		m := c.nodes[j]
		first, ok := missing[m.Parent]
		if !ok || first != j {
			if m.IsPrompt() && len(calls) == 0 {
				return "" // a new turn has begun
			}
			continue
		}
		if j == i+1 || len(calls) > 0 && slices.ContainsFunc(m.IDs(content.BlockResult), func(id string) bool { return slices.Contains(calls, id) }) || n.Role == content.RoleResult {
			return m.Parent
		}
	}
	return ""
}

// maxSiblings is how far apart, in records, related records are looked for, such as a call and its output.
const maxSiblings = 256
