package claude

import "github.com/hist-cli/hist/internal/finding"

// addBoundary writes the mark of a compaction again, in front of its summary.
func (c *Checker) addBoundary(summary *node, id string, d *draft) {
	if d == nil {
		d = c.add(&draft{about: summary, Finding: finding.Finding{Impact: finding.Loses, Fix: finding.Exact}})
	}
	d.Rule = ruleLostBoundary
	d.Message = "the mark in front of this summary is not in the file: the client sends the whole history before the compaction again"
	p := c.before(summary)
	more := object{
		"subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": false,
		"compactMetadata": object{"trigger": "auto", "preTokens": 0},
	}
	if p != nil {
		more["logicalParentUuid"] = p.uuid
	}
	n := c.insert(d, made{uuid: id, when: summary.when, typ: "system", more: more}, summary, finding.Before)
	c.hang(summary, n, d)
}

// lostSummaryBefore mends what hangs on a compaction's lost summary.
func (c *Checker) lostSummaryBefore(id string, n, p *node) bool {
	boundary := p
	for boundary != nil && boundary.role == roleLink {
		boundary = boundary.up
	}
	if boundary == nil || boundary.role != roleBoundary || boundary.kept && n.attachment != "" && p == boundary && n.role == roleLink {
		return false
	}
	d := c.add(&draft{about: n, Finding: finding.Finding{
		Rule: ruleLostSummary, Impact: finding.Loses, Fix: finding.Exact,
		Message: "the summary of the compaction is not in the file: the model is sent nothing of what was compacted",
	}})
	if c.restored(d, id, p, n) {
		return true
	}
	if words, source := c.summaryOf(boundary); source != "" {
		d.Fix, d.Source = finding.Recovered, source
		c.insert(d, made{uuid: id, parent: p.uuid, when: n.when, typ: "user", message: object{"role": "user", "content": words}}, n, finding.Before)
		return true
	}
	last := c.byUUID[boundary.ref2] // before the compaction
	if last == nil {
		last = boundary.front
	}
	if last == nil || rooted(last, n) {
		d.Fix, last = finding.NoFix, p
	}
	c.hang(n, last, d)
	return true
}

// summaryOf is the summary as the client kept it of its next request.
func (c *Checker) summaryOf(boundary *node) (words, source string) {
	for _, t := range c.echoes {
		if t.late && !t.last && boundary.ref.Pos.Less(t.at) {
			return t.text, t.source
		}
	}
	return "", ""
}

// lostKept writes again which messages a compaction has kept, where its mark says nothing about it any more: from 2.1.215
// on the last answer, at least, is sent behind the summary.
func (c *Checker) lostKept() {
	for _, n := range c.nodes {
		kept := c.byUUID[n.ref2]
		if n.role != roleBoundary || n.side || !n.bare || n.version == "" || before(n.version, "2.1.215") || kept == nil || !kept.sent() {
			continue
		}
		var summary *node
		for m := n.first; m != nil; m = m.latter {
			if m.summary && m.new == nil {
				summary = m
			}
		}
		if summary == nil {
			continue
		}
		d := c.add(&draft{about: n, Finding: finding.Finding{
			Rule: ruleLostKept, Impact: c.worst(finding.Notes, finding.Loses, finding.Loses), Fix: finding.Recovered, Source: "the record that the mark names as the last before it",
			Message: "the mark of the compaction does not say which messages were kept: the client sends the summary only",
		}})
		ids := []string{kept.uuid}
		value := object{
			"trigger": "auto", "preTokens": 0,
			"preservedSegment":  object{"headUuid": kept.uuid, "anchorUuid": summary.uuid, "tailUuid": kept.uuid},
			"preservedMessages": object{"anchorUuid": summary.uuid, "uuids": ids, "allUuids": ids},
		}
		at := n.start + 1
		add := append(append([]byte(`"compactMetadata":`), value.json()...), ',')
		d.Edits = append(d.Edits, finding.Edit{At: n.ref.Pos, Op: finding.Splice, Cuts: []finding.Cut{{Start: at, End: at, New: add}}})
	}
}
