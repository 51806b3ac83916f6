package claude

import (
	"slices"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// drops reports what is wrong with the content of records.
func (c *Checker) drops() {
	if !c.some.faults {
		return
	}
	for _, n := range c.nodes {
		if n.side || n.synthetic {
			continue
		}
		for i := range n.faults {
			c.content(n, &n.faults[i])
		}
	}
}

// content reports one fault of a record's content with its mend.
func (c *Checker) content(n *node, f *fault) {
	d := c.add(&draft{about: n, Finding: finding.Finding{
		Rule: f.rule, Impact: c.impactOn(n, f), Fix: f.fix, Source: f.source, Message: f.message, Lost: f.lost,
		Offset: n.offset + int64(f.at), Pos: n.pos(),
	}})
	if n.dropped != nil {
		return
	}
	switch {
	case n.empty && d.Impact != finding.Notes && c.filledBeside(n, d):
	case len(f.cuts) > 0:
		d.Edits = append(d.Edits, finding.Edit{At: n.pos(), Op: finding.Splice, Cuts: f.cuts})
	case d.Impact == finding.Notes:
		d.Fix = finding.NoFix // no client is troubled by it
	case n.summary && (n.emptySpan.End > 0 || n.contentAt > 0):
		c.refillSummary(n, d)
	case n.isPrompt() && (n.emptySpan.End > 0 || n.contentAt > 0):
		c.refill(n, d)
	case f.drop:
		c.drop(n, d)
	}
}

// impactOn is what the clients that may read the session do with a fault of a record's content.
func (c *Checker) impactOn(n *node, f *fault) finding.Impact {
	if !f.dropped {
		return c.worst(f.impact)
	}
	worst := finding.Notes
	for _, version := range c.readers() {
		if c.sendsEmptyText(version, n) {
			worst = f.impact.old
		}
	}
	return worst
}

// sendsEmptyText says whether a version sends an empty text of an answer: up to 2.1.20 all do; from 2.1.50 to 2.1.100, and
// from 2.1.300 on, none does; those between send it if the answer holds more than that and thinking (measured).
func (c *Checker) sendsEmptyText(version string, n *node) bool {
	switch {
	case version == "" || !before(version, "2.1.300"):
		return false
	case before(version, "2.1.50"):
		return true
	case before(version, "2.1.101"):
		return false
	}
	for _, m := range c.nodes[max(0, n.index-maxSiblings):min(len(c.nodes), n.index+maxSiblings)] {
		if m != n && (m.msg != n.msg || n.msg == "" || m.empty) {
			continue
		}
		for i := range m.blocks {
			if m.blocks[i].kind != blockThinking && !m.emptyText(&m.blocks[i]) {
				return true
			}
		}
	}
	return false
}

// emptyText says whether a block is a text with no words in it.
func (n *node) emptyText(b *block) bool {
	return b.kind == blockText && slices.ContainsFunc(n.faults, func(f fault) bool { return f.dropped && f.at == b.span.from() })
}

// refill puts an empty prompt's words back, or says that they are gone.
func (c *Checker) refill(n *node, d *draft) {
	words, source := "", ""
	if p := c.promptBeforeRecord(n); p != n {
		words, source = c.promptBetween(p, n)
	}
	d.Fix, d.Source, d.Lost = finding.Recovered, source, 0
	if source == "" {
		words, d.Fix, d.Lost = emptyPrompt, finding.StandIn, 1
	}
	d.Edits = append(d.Edits, n.reworded(words))
}

// reworded is the edit that gives a message without words some.
func (n *node) reworded(words string) finding.Edit {
	value := jsonl.AppendQuote(nil, words)
	cut := finding.Cut{Start: n.emptySpan.Start, End: n.emptySpan.End, New: value}
	if n.contentAt > 0 {
		cut = finding.Cut{Start: n.contentAt, End: n.contentAt, New: append(append([]byte(`"content":`), value...), ',')}
	}
	return finding.Edit{At: n.pos(), Op: finding.Splice, Cuts: []finding.Cut{cut}}
}

// promptBeforeRecord is the last record with a message in front of one, nil if it is the first.
func (c *Checker) promptBeforeRecord(n *node) *node {
	m := n.front
	for m != nil && !m.hasMessage() {
		m = m.front
	}
	return m
}
