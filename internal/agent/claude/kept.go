package claude

import (
	"fmt"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
)

// keptBy are the records that a mark names as kept, without those that are missing or removed; whole says whether none is.
func keptBy(mark *node, ids *recordIDs) (list []*node, whole bool) {
	whole = true
	for _, k := range mark.Keeps {
		n := ids.get(k.UUID)
		if n == nil || n.dropped != nil {
			whole = false
			continue
		}
		list = append(list, n)
	}
	return list, whole
}

// lastKept is the last record in the file that a mark names as kept, nil if there is none.
func (c *Checker) lastKept(mark *node) *node {
	for _, k := range slices.Backward(mark.Keeps) {
		if n := c.ids.get(k.UUID); n != nil {
			return n
		}
	}
	return nil
}

// brokenKept mends marks of compactions that name a record which is not in the file: the client then sends none of the kept
// ones. A missing record is restored from another session of the folder, or else removed from the list.
func (c *Checker) brokenKept() {
	if !c.some.keeps {
		return
	}
	for _, n := range c.nodes {
		list, whole := keptBy(n, &c.ids)
		if whole || n.Side {
			continue
		}
		d := c.add(c.lacks(n, len(n.Keeps)-len(list)))
		if c.keptNowhere(n, list) {
			d.Impact, d.Fix = finding.Notes, finding.NoFix
			d.Message = "the file begins with a compaction, and none of the records that it has kept is in any file"
			continue
		}
		if !c.chosen(d) {
			continue
		}
		var cuts []finding.Cut
		n.Own().Keeps = slices.DeleteFunc(n.Keeps, func(k content.KeptRecord) bool {
			if m := c.ids.get(k.UUID); m != nil && m.dropped == nil {
				return false
			}
			if m, line, source := c.elsewhere(k.UUID); m != nil && n.front != nil {
				c.putBack(d, m, line, source, n.front, n, finding.Before)
				return false
			}
			cuts = append(cuts, finding.Cut{Start: k.Span.Start, End: k.Span.End, Element: true})
			return true
		})
		c.changes++
		if len(cuts) > 0 {
			d.Edits = append(d.Edits, finding.Edit{At: n.Pos(), Op: finding.Splice, Cuts: cuts})
		}
	}
}

// keptNowhere says whether a file begins with a compaction that has kept records of another file, and that file is not here: a client that
// goes on with a session in a new file writes no more of it than what is behind the mark. list are the kept records that are in the file.
func (c *Checker) keptNowhere(mark *node, list []*node) bool {
	return len(list) == 0 && mark.index == c.firstIndex() && !slices.ContainsFunc(mark.Keeps, func(k content.KeptRecord) bool {
		m, _, _ := c.elsewhere(k.UUID)
		return m != nil
	})
}

// lacks is a finding about records that a mark names as kept and that are not in the file.
func (c *Checker) lacks(mark *node, missing int) *draft {
	return &draft{about: mark, Finding: finding.Finding{
		Rule: faults.LostKept, Impact: c.worst(faults.OldAndNewer(finding.Notes, finding.Loses)), Fix: finding.Exact,
		Message: fmt.Sprintf("the file lacks %d of the %d records that the compaction has kept: the client sends none of them", missing, len(mark.Keeps)),
	}}
}

// keeperOf is the mark of the last compaction that has kept the record with an id; nil if none has.
func (c *Checker) keeperOf(id string) *node {
	if c.keepers == nil && c.some.keeps {
		c.keepers = map[string]*node{}
		for _, n := range c.nodes {
			for _, k := range n.Keeps {
				c.keepers[k.UUID] = n
			}
		}
	}
	return c.keepers[id]
}
