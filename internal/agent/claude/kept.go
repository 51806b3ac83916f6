package claude

import (
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// keptRecord is one record that the mark of a compaction names as kept: it stands in front of the mark, and is sent behind the
// summary.
type keptRecord struct {
	uuid string
	span jsonl.Span // of the id in the mark, quotes included
}

// keptOf reads which records a mark names as kept. The client goes by this list alone: it ignores the two ends that the mark
// also names, and the records' parents (measured with 2.1.330).
func keptOf(rec *session.Record) (list []keptRecord) {
	ids := gjson.GetBytes(format.Field(rec, format.FieldCompact), "preservedMessages.uuids")
	gjson.Parse(ids.Raw).ForEach(func(_, id gjson.Result) bool {
		at := rec.Spans[format.FieldCompact].Start + ids.Index + id.Index
		list = append(list, keptRecord{id.String(), jsonl.Span{Start: at, End: at + len(id.Raw)}})
		return true
	})
	return list
}

// keptBy are the records that a mark names as kept, without those that are missing or removed; whole says whether none is.
func keptBy(mark *node, ids *recordIDs) (list []*node, whole bool) {
	whole = true
	for _, k := range mark.keeps {
		n := ids.get(k.uuid)
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
	for _, k := range slices.Backward(mark.keeps) {
		if n := c.ids.get(k.uuid); n != nil {
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
		if whole || n.side {
			continue
		}
		d := c.add(c.lacks(n, len(n.keeps)-len(list)))
		if c.keptNowhere(n, list) {
			d.Impact, d.Fix = finding.Notes, finding.NoFix
			d.Message = "the file begins with a compaction, and none of the records that it has kept is in any file"
			continue
		}
		if !c.chosen(d) {
			continue
		}
		var cuts []finding.Cut
		n.own().keeps = slices.DeleteFunc(n.keeps, func(k keptRecord) bool {
			if m := c.ids.get(k.uuid); m != nil && m.dropped == nil {
				return false
			}
			if m, line, source := c.elsewhere(k.uuid); m != nil && n.front != nil {
				c.putBack(d, m, line, source, n.front, n, finding.Before)
				return false
			}
			cuts = append(cuts, finding.Cut{Start: k.span.Start, End: k.span.End, Element: true})
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
	return len(list) == 0 && mark.index == c.firstIndex() && !slices.ContainsFunc(mark.keeps, func(k keptRecord) bool {
		m, _, _ := c.elsewhere(k.uuid)
		return m != nil
	})
}

// lacks is a finding about records that a mark names as kept and that are not in the file.
func (c *Checker) lacks(mark *node, missing int) *draft {
	return &draft{about: mark, Finding: finding.Finding{
		Rule: faults.LostKept, Impact: c.worst(faults.OldAndNewer(finding.Notes, finding.Loses)), Fix: finding.Exact,
		Message: fmt.Sprintf("the file lacks %d of the %d records that the compaction has kept: the client sends none of them", missing, len(mark.keeps)),
	}}
}

// keeperOf is the mark of the last compaction that has kept the record with an id; nil if none has.
func (c *Checker) keeperOf(id string) *node {
	if c.keepers == nil && c.some.keeps {
		c.keepers = map[string]*node{}
		for _, n := range c.nodes {
			for _, k := range n.keeps {
				c.keepers[k.uuid] = n
			}
		}
	}
	return c.keepers[id]
}
