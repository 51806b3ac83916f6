package mend

import (
	"cmp"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
)

// summaryFrom is a compaction's summary: the record itself, or one that follows it with only records in between that the client
// adds by itself. nil if there is none.
func (c *Checker) summaryFrom(n *node) *node {
	for _, m := range c.nodes[n.index+1 : min(len(c.nodes), n.index+maxSiblings)] {
		if n.Role != content.RoleLink || m.Parent != n.UUID {
			break
		}
		n = m
	}
	if !n.Summary {
		return nil
	}
	return n
}

// addBoundary restores the lost mark of a compaction, above and in front of the first record that named it as its parent.
func (c *Checker) addBoundary(first *node, id string, d *draft) {
	if d == nil {
		d = c.find(first, faults.LostBoundary, "")
	}
	d.Rule, d.Message = faults.LostBoundary, "the mark in front of this summary is not in the file: the client sends the whole history before the compaction again"
	p, summary := c.before(first), c.summaryFrom(first)
	about := unknownMetadata()
	more := format.Object{"subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": false, "compactMetadata": about}
	if p != nil {
		more["logicalParentUuid"] = p.UUID
	}
	var keeps []content.KeptRecord
	last := p
	for last != nil && (last.Role == content.RoleLink || last.IsPrompt() && last.AsksNothing) {
		last = last.up
	}
	if last != nil && keepsLast(summary.Version) && last.Sent() && last.new == nil {
		keeps = keep(about, c.resentBehind(summary, last), summary)
	}
	n := c.insert(d, format.Made{UUID: id, When: first.When, Typ: "system", More: more}, first, finding.Before)
	n.Own().Keeps = keeps
	if p != nil {
		n.Own().Ref2 = p.UUID // the session may be found to begin in front of it
	}
	c.hang(first, n, d)
}

// keepsLast says whether a version, after a compaction, sends at least the last answer from before it again, behind the
// summary.
func keepsLast(version string) bool { return version != "" && !format.Before(version, "2.1.215") }

// keep adds to a compaction's metadata that messages were kept, and returns them as the mark then lists them.
func keep(about format.Object, kept []*node, summary *node) (list []content.KeptRecord) {
	ids := make([]string, len(kept))
	for i, n := range kept {
		ids[i] = n.UUID
		list = append(list, content.KeptRecord{UUID: n.UUID})
	}
	about["preservedSegment"] = format.Object{"headUuid": ids[0], "anchorUuid": summary.UUID, "tailUuid": ids[len(ids)-1]}
	about["preservedMessages"] = format.Object{"anchorUuid": summary.UUID, "uuids": ids, "allUuids": ids}
	return list
}

// lostSummaryBefore mends a record whose missing parent must have been a compaction's summary; false if it was not.
func (c *Checker) lostSummaryBefore(id string, n, p *node) bool {
	boundary := markAbove(p)
	if boundary == nil || boundary.Kept && n.Attachment != "" && p == boundary && n.Role == content.RoleLink && c.summarized(boundary) {
		return false
	}
	d := c.find(n, faults.LostSummary, "the summary of the compaction is not in the file: the model is sent nothing of what was compacted")
	if c.restored(d, id, p, n) {
		return true
	}
	if words, source := c.summaryOf(boundary); source != "" {
		d.Fix, d.Source = finding.Recovered, source
		m := format.Made{UUID: id, Parent: p.UUID, When: n.When, Typ: "user", Message: format.Object{"role": "user", "content": words}, More: format.Object{"isCompactSummary": true, "isVisibleInTranscriptOnly": true}}
		c.insert(d, m, n, finding.Before).Summary = true
		return true
	}
	last := c.beforeCompaction(boundary)
	if last == nil || rooted(last, n) || under(last, boundary) {
		d.Fix, last = finding.NoFix, p
	} else if len(boundary.Keeps) > 0 {
		c.dropMark(boundary, last, d)
	}
	c.hang(n, last, d)
	return true
}

// summarized says whether a summary follows the mark of a compaction, before the next mark.
func (c *Checker) summarized(mark *node) bool {
	for _, n := range c.nodes[mark.index+1:] {
		if !n.Side && (n.Summary || n.Role == content.RoleBoundary) {
			return n.Summary
		}
	}
	return false
}

// markAbove is a compaction's mark: the record itself, or one above it with only records in between that the client adds by
// itself. nil if there is none.
func markAbove(n *node) *node {
	if n = overLinks(n); n != nil && n.Role == content.RoleBoundary {
		return n
	}
	return nil
}

// beforeCompaction is the last record of what was compacted, nil if nothing of it is in the file.
func (c *Checker) beforeCompaction(mark *node) *node {
	return cmp.Or(c.ids.get(mark.Ref2), mark.front)
}

// cutCompaction removes the marks of compactions that nothing follows, not even the summary: the client was ended there. The
// next client would begin at the last mark and send nothing of what stands in front of it.
func (c *Checker) cutCompaction() {
	if c.opts.Live {
		return
	}
	for _, mark := range slices.Backward(c.nodes) { // the last of the file, whatever the last-prompt record names
		if mark.Side || mark.dropped != nil || mark.Role == content.RoleLink {
			continue
		}
		if mark.Role != content.RoleBoundary || mark.new != nil {
			return
		}
		if c.reopen(mark, "nothing follows this mark of a compaction, not even the summary: the model is sent nothing of what was compacted") == nil {
			return
		}
	}
}

// dropMark removes the mark of a compaction, so that what followed it follows the last record before the compaction. A mark
// that names kept messages must also move to where nothing hangs on it any more: 2.1.330 sends nothing of what stands in front
// of the kept messages, wherever their mark hangs (measured).
func (c *Checker) dropMark(mark, last *node, d *draft) {
	followed := mark.children()
	c.drop(mark, d)
	for _, k := range followed {
		c.hang(k, last, d)
	}
}

// noSummary removes marks of compactions that a prompt or an answer follows directly. Clients send nothing from before such a
// mark, and there is no summary of it (2.1.2, 2.1.330, measured). Once it is gone, they send everything back to the mark before
// it, which may lack its summary, too.
func (c *Checker) noSummary() {
	if !c.some.marks {
		return
	}
	for _, mark := range c.nodes {
		if unsummarized(mark) && c.sentNow().has(mark) {
			for mark != nil && unsummarized(mark) {
				mark = c.reopen(mark, "no summary follows this mark of a compaction: the model is sent nothing of what was compacted")
			}
		}
	}
}

// reopen removes the mark of a compaction that has no summary, and returns the record with which what is sent then begins; nil
// if the mark must stay.
func (c *Checker) reopen(mark *node, message string) *node {
	last := c.beforeCompaction(mark)
	if last == nil || under(last, mark) || !saysAnything(last) {
		return nil
	}
	c.dropMark(mark, last, c.find(mark, faults.LostSummary, message).anyway())
	for last.up != nil && last.Role != content.RoleBoundary {
		last = last.up
	}
	return last
}

// unsummarized says whether a record is the mark of a compaction, in the file, and the conversation goes on directly behind it.
func unsummarized(mark *node) bool {
	return mark.Role == content.RoleBoundary && !mark.Side && mark.dropped == nil && mark.new == nil && !mark.Kept && saidAtOnce(mark)
}

// saidAtOnce says whether a mark is followed by a prompt or an answer instead of a summary, with only records in between that
// the client adds by itself, such as an error of the API's.
func saidAtOnce(mark *node) bool {
	said := false
	todo := []*node{mark}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for k := n.first; k != nil; k = k.latter {
			switch {
			case k.Summary:
				return false
			case k.Role == content.RoleLink, k.Role == content.RoleAssistant && !k.Sent():
				todo = append(todo, k)
			case k.IsPrompt() || k.Role == content.RoleAssistant:
				said = true
			case k.HasMessage():
				return false
			}
		}
	}
	return said
}

// refillSummary restores the words of an empty summary. If they are gone, it makes the client send what was compacted instead.
func (c *Checker) refillSummary(n *node, d *draft) {
	mark := markAbove(n.up)
	if mark == nil {
		c.drop(n, d)
		return
	}
	if words, source := c.summaryOf(mark); source != "" {
		d.Fix, d.Source, d.Lost = finding.Recovered, source, 0
		d.Edits = append(d.Edits, n.reworded(words))
		return
	}
	followed, last := n.children(), c.beforeCompaction(mark)
	c.drop(n, d)
	if len(mark.Keeps) > 0 && last != nil && !under(last, mark) {
		c.dropMark(mark, last, d)
	}
	for _, k := range followed {
		if last != nil && !under(last, k) {
			c.hang(k, last, d)
		}
	}
	d.Lost = 0
}

// summaryOf is the text of a compaction's summary, from the client's own record of its next request.
func (c *Checker) summaryOf(boundary *node) (words, source string) {
	for _, t := range c.echoes {
		if t.Late && !t.Last && boundary.Pos().Less(t.At) {
			return t.Words(), t.Source
		}
	}
	return "", ""
}

// lostKept restores which messages a compaction has kept, if its mark no longer says so. From 2.1.215 on, at least the last
// answer is sent behind the summary; the hashes of the next request show what else is.
func (c *Checker) lostKept() {
	if !c.some.bareMarks {
		return
	}
	summaries := map[*node]*node{} // by the mark above each
	for _, n := range c.nodes {
		if n.Summary && !n.Side && n.dropped == nil {
			summaries[markAbove(n.up)] = n
		}
	}
	for _, n := range c.nodes {
		if n.Role != content.RoleBoundary || n.Side || !n.Bare || n.dropped != nil {
			continue
		}
		kept, summary := overLinks(c.ids.get(n.Ref2)), summaries[n]
		if !keepsLast(n.Version) || kept == nil || !kept.Sent() || summary == nil {
			c.saysNothing(n)
			continue
		}
		d := c.find(n, faults.LostKept, "the mark of the compaction does not say which messages were kept: the client sends the summary only")
		d.Impact, d.Source = c.worst(faults.OldAndNewer(finding.Notes, finding.Loses)), "the record that the mark names as the last before it"
		value := unknownMetadata()
		list := c.resentBehind(summary, kept)
		if len(list) > 1 {
			d.Source = "the records whose hashes are in the request after the compaction"
		}
		keep(value, list, summary)
		d.Edits = append(d.Edits, withMetadata(n, value))
	}
}

// saysNothing stands in for the metadata of a mark that kept no messages, or none that can be told. From 2.1.330 on, the client does that
// itself (measured).
func (c *Checker) saysNothing(mark *node) {
	if !format.Before(mark.Version, "2.1.330") {
		return
	}
	d := c.find(mark, faults.LostKept, "the mark of the compaction says nothing about it: 2.1.215 fails when it compacts the session again")
	d.Impact, d.Fix = finding.Notes, finding.StandIn
	d.Edits = append(d.Edits, withMetadata(mark, unknownMetadata()))
}

// unknownMetadata stands in for lost metadata of a compaction.
func unknownMetadata() format.Object { return format.Object{"trigger": "auto", "preTokens": 0} }

// withMetadata is the edit that adds metadata about a compaction to its mark.
func withMetadata(mark *node, about format.Object) finding.Edit {
	at := int(mark.Start) + 1
	add := append(append([]byte(`"compactMetadata":`), about.JSON()...), ',')
	return finding.Edit{At: mark.Pos(), Op: finding.Splice, Cuts: []finding.Cut{{Start: at, End: at, New: add}}}
}
