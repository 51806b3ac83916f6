package claude

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
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

// content reports one fault of a record's content, with the edit that mends it.
func (c *Checker) content(n *node, f *fault) {
	impact := c.impactOn(n, f)
	if f.dropped && f.blank && impact == finding.Notes {
		return // models write such texts by themselves, and no client that may read the session sends them
	}
	if c.madeUp(n, f) || impact == finding.Rejects && c.takenByAnother(n, f) {
		return
	}
	d := c.add(&draft{about: n, always: f.drop && n.sharesID, Finding: finding.Finding{ // its id will be its own once another record with it is renamed
		Rule: f.rule, Impact: impact, Fix: f.fix, Source: f.source, Message: f.message, Lost: f.lost,
		Offset: n.Offset + int64(f.at), Pos: n.Pos(),
	}})
	if n.dropped != nil {
		return
	}
	switch {
	case n.empty && d.Impact != finding.Notes && c.filledBeside(n, d):
	case len(f.cuts) > 0:
		d.Edits = append(d.Edits, finding.Edit{At: n.Pos(), Op: finding.Splice, Cuts: f.cuts})
	case d.Impact == finding.Notes:
		d.Fix = finding.NoFix // no client minds it
	case n.summary && (n.emptySpan.End > 0 || n.contentAt > 0):
		c.refillSummary(n, d)
	case n.isPrompt() && (n.emptySpan.End > 0 || n.contentAt > 0):
		c.refill(n, d)
	case f.drop:
		c.drop(n, d)
	}
}

// takenByAnother says whether a picture or a document that the model's API would refuse was sent to the API of another maker, which has
// gone on behind it.
func (c *Checker) takenByAnother(n *node, f *fault) bool {
	if f.rule != faults.BadPicture && f.rule != faults.BadDocument {
		return false
	}
	for _, m := range c.nodes[n.index+1 : min(len(c.nodes), n.index+maxSiblings)] {
		if m.role == roleAssistant && !m.side && !m.synthetic {
			return m.foreign
		}
	}
	return false
}

// impactOn is the worst that a fault of a record's content does to the clients that may read the session.
func (c *Checker) impactOn(n *node, f *fault) finding.Impact {
	if !f.dropped {
		return c.worst(f.impact)
	}
	worst := finding.Notes
	for _, version := range c.readers() {
		if c.sendsText(version, n, f.blank) {
			worst = f.impact.Old
		}
	}
	return worst
}

// sendsText says whether a version sends an empty text of an answer (measured). Up to 2.1.31 all do. Later versions don't send
// white space that is all of a record, as models say it before a call, but do send it from a record that holds more than
// thinking. Up to 2.1.100 the same goes for "". From then on "" is sent if the answer holds more, and from 2.1.300 on never.
func (c *Checker) sendsText(version string, n *node, blank bool) bool {
	newest := version == "" || !format.Before(version, "2.1.300")
	switch {
	case !newest && format.Before(version, "2.1.32"):
		return true
	case blank || !newest && format.Before(version, "2.1.101"):
		return n.saysMore()
	}
	return !newest && c.answerSaysMore(n)
}

// saysMore says whether a record holds more than thinking and empty texts.
func (n *node) saysMore() bool {
	return slices.ContainsFunc(n.blocks, func(b block) bool { return b.kind != blockThinking && !n.emptyText(&b) })
}

// answerSaysMore says whether the answer that a record belongs to holds more than thinking and empty texts.
func (c *Checker) answerSaysMore(n *node) bool {
	near := c.nodes[max(0, n.index-maxSiblings):min(len(c.nodes), n.index+maxSiblings)]
	return slices.ContainsFunc(near, func(m *node) bool {
		return (m == n || m.msg == n.msg && n.msg != "" && !m.empty) && m.saysMore()
	})
}

// emptyText says whether a block is a text without words.
func (n *node) emptyText(b *block) bool {
	return b.kind == blockText && slices.ContainsFunc(n.faults, func(f fault) bool { return f.dropped && f.at == b.span.From() })
}

// refill restores the words of an empty prompt, or writes a placeholder if they are gone.
func (c *Checker) refill(n *node, d *draft) {
	told, _ := c.promptBetween(c.promptBeforeRecord(n), n)
	d.Fix, d.Source, d.Lost = finding.Recovered, told.source, 0
	if told.source == "" {
		told.words, d.Fix, d.Lost = emptyPrompt, finding.StandIn, 1
	}
	d.Edits = append(d.Edits, n.reworded(told.words))
}

// reworded is the edit that gives words to a message without any.
func (n *node) reworded(words string) finding.Edit {
	value := jsonl.AppendQuote(nil, words)
	cut := finding.Cut{Start: n.emptySpan.Start, End: n.emptySpan.End, New: value}
	if n.contentAt > 0 {
		cut = finding.Cut{Start: n.contentAt, End: n.contentAt, New: append(append([]byte(`"content":`), value...), ',')}
	}
	return finding.Edit{At: n.Pos(), Op: finding.Splice, Cuts: []finding.Cut{cut}}
}

// promptBeforeRecord is the last message in front of a record, nil if there is none.
func (c *Checker) promptBeforeRecord(n *node) *node {
	m := n.front
	for m != nil && !m.hasMessage() {
		m = m.front
	}
	return m
}
