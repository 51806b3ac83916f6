package claude

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// add keeps a finding about a record, to be settled at the end.
func (c *Checker) add(d *draft) *draft {
	if d.Pos.Line == 0 {
		d.Pos, d.Offset = d.about.Pos(), d.about.Offset
	}
	d.On, d.Record, d.IDs = d.about.Ref(), d.about.Typ, d.about.UUID
	c.found = append(c.found, d)
	return d
}

// chosen says whether a finding is to be mended.
func (c *Checker) chosen(d *draft) bool {
	return d != nil && !d.left && (c.opts.Mend == nil || c.opts.Mend(&d.Finding))
}

// counts says whether something at a place is sent, or may be.
func (c *Checker) counts(at session.Pos) bool {
	if c.sentLines == nil {
		c.sentLines = map[int64]bool{}
		for _, n := range c.sentSet.list {
			if n.new == nil {
				c.sentLines[n.Pos().Line] = true
			}
		}
		for _, d := range c.found {
			if (d.Rule == faults.ReusedUUID || d.Rule == faults.LostPrompt || d.about.sharesID || len(d.also) > 0) && d.Impact != finding.Notes {
				c.sentLines[d.Pos.Line] = true // the client reads it instead of another record that is sent, or loses such a record because of it; or it tells of a lost one
			}
		}
		c.leftLines = map[int64]bool{}
		for _, n := range c.nodes {
			if !c.sentLines[n.Pos().Line] {
				c.leftLines[n.Pos().Line] = true
			}
		}
	}
	return c.sentLines[at.Line] || c.half[at.Line] || !c.leftLines[at.Line] && !c.other[at.Line] || at.Line == c.leafAt.Pos.Line && c.endUnread()
}

// endUnread says whether the newest client begins elsewhere because it can't read the record that names the session's end.
func (c *Checker) endUnread() bool {
	if c.pointed || len(c.ends) == 0 || !c.other[c.leafAt.Pos.Line] || !c.newTarget() {
		return false
	}
	earlier := ""
	if named := c.ends[:len(c.ends)-1]; len(named) > 0 {
		earlier = named[len(named)-1].leaf
	}
	return c.tipOf(earlier) != c.tipOf(c.leaf)
}

// settle reports what was found. A loss in something that is no longer sent becomes a note.
func (c *Checker) settle() {
	c.sentSet = c.sentAfter()
	c.Summary.Items = count(c.sentSet)
	slices.SortStableFunc(c.found, func(a, b *draft) int { return a.Pos.Compare(b.Pos) })
	kept := map[*node]bool{} // records that are sent only because a compaction kept them
	for _, n := range c.sentSet.kept {
		kept[n] = true
	}
	for _, d := range c.found {
		left := !c.sentSet.has(d.about) && !slices.ContainsFunc(d.also, c.sentSet.has) || kept[d.about] && d.noMatterIfKept()
		if d.Impact != finding.Notes && !d.always && left && !c.partOfCut(d) {
			d.Impact, d.Fix, d.Edits, d.Lost, d.Source, d.left = finding.Notes, finding.NoFix, nil, 0, "", true
			if kept[d.about] {
				d.Message += " (which does not matter for what a compaction has kept)"
			} else {
				d.Message += " (in a part of the history that is no longer sent)"
			}
		}
	}
	c.relink()
	c.cutHead()
	for _, d := range c.found {
		if d.Impact != finding.Notes && len(c.copies) > 0 {
			c.alone(d)
		}
		if c.partOfCut(d) {
			c.Amend(d.about.Pos().Line, func(f *finding.Finding) { f.Edits = append(f.Edits, d.Edits...) })
			continue
		}
		c.report(d.Finding)
	}
}

// cutHead marks the findings that put a record in front of all others, if it is not known that the session began with it.
func (c *Checker) cutHead() {
	for _, n := range c.added {
		wrote, in := n.new.UUID != "", n.edit.in // else the record is as another file has it
		if in == nil || n.up != nil || n.Role == content.RoleBoundary || !wrote && n.Parent == "" {
			continue
		}
		in.Headless = !wrote || !c.beganWith(n)
	}
}

// beganWith says whether the file shows that nothing stood in front of a prompt that was put back as the first record: the client wrote
// about it in front of it, or its request holds nothing else.
func (c *Checker) beganWith(n *node) bool {
	if n.Role != content.RoleUser {
		return false
	}
	announced := len(c.queued) > 0 && c.queued[0].Pos.Less(n.Pos()) || c.snapshots[n.UUID]
	request := c.askedBefore(n)
	return announced || request != nil && request.first
}

// partOfCut says whether a finding only follows from a line's being cut off: then its edits are added to the finding about that
// line.
func (c *Checker) partOfCut(d *draft) bool { return d.about.torn && c.Amend != nil && d.follows() }
