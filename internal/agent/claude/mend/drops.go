package mend

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/content"
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
	hollow := !slices.ContainsFunc(c.nodes, func(n *node) bool { // then the client finds no conversation (2.1.332, measured)
		return !n.Side && !n.Hollow() && !n.TypeLost
	})
	for _, n := range c.nodes {
		if n.Side || n.Synthetic {
			continue
		}
		for i := range n.Faults {
			if hollow && n.Faults[i].Hollow {
				n.Faults[i].Impact = faults.OnAll(finding.Blocks)
			}
			c.content(n, &n.Faults[i])
		}
	}
}

// fault notes a fault in a record's content, to be reported by drops.
func (c *Checker) fault(n *node, rule *finding.Rule, at int, message string, cuts ...finding.Cut) *content.Fault {
	c.some.faults = true
	return n.Fault(rule, at, message, cuts...)
}

// content reports one fault of a record's content, with the edit that mends it.
func (c *Checker) content(n *node, f *content.Fault) {
	impact := c.impactOn(n, f)
	if f.Dropped && f.Blank && impact == finding.Notes {
		return // models write such texts by themselves, and no client that may read the session sends them
	}
	if c.madeUp(n, f) || impact == finding.Rejects && c.takenByAnother(n, f) {
		return
	}
	if f.Unsigned && c.neverSigned() {
		if c.unsignedTold {
			return
		}
		c.unsignedTold, impact = true, finding.Notes
	}
	d := c.add(&draft{about: n, always: f.Drop && n.sharesID, Finding: finding.Finding{ // its id will be its own once another record with it is renamed
		Rule: f.Rule, Impact: impact, Fix: f.Fix, Source: f.Source, Message: f.Message, Lost: f.Lost,
		Offset: n.Offset + int64(f.At), Pos: n.Pos(),
	}})
	if n.dropped != nil {
		return
	}
	switch {
	case f.Unsigned && d.Impact == finding.Notes:
		d.Fix = finding.NoFix
		d.Message += ", nor is another of the session signed: the API that took them does not ask for that, but Anthropic's would refuse them"
	case n.Empty && d.Impact != finding.Notes && c.filledBeside(n, d):
	case len(f.Cuts) > 0:
		d.Edits = append(d.Edits, finding.Edit{At: n.Pos(), Op: finding.Splice, Cuts: f.Cuts})
	case d.Impact == finding.Notes:
		d.Fix = finding.NoFix // no client minds it
	case n.Summary && (n.EmptySpan.End > 0 || n.ContentAt > 0):
		c.refillSummary(n, d)
	case n.IsPrompt() && (n.EmptySpan.End > 0 || n.ContentAt > 0):
		c.refill(n, d)
	case f.Drop:
		c.drop(n, d)
	}
}

// takenByAnother says whether what the model's API would refuse goes to the API of another maker, which takes it: a picture, a document or a block
// of its own kind with which that has gone on, or thinking of its own model, which need not be signed there. Thinking and blocks go to whoever
// said the newest answer.
func (c *Checker) takenByAnother(n *node, f *content.Fault) bool {
	switch f.Rule {
	case faults.BadPicture, faults.BadDocument, faults.BadBlock:
		behind := c.nodes[n.index+1 : min(len(c.nodes), n.index+maxSiblings)]
		i := slices.IndexFunc(behind, (*node).says)
		return i >= 0 && behind[i].Foreign && (f.Rule != faults.BadBlock || c.endsWithAnother())
	case faults.BadThinking:
		return n.Foreign && c.endsWithAnother()
	}
	return false
}

// says tells whether a model said a record, as a part of the conversation.
func (n *node) says() bool { return n.Role == content.RoleAssistant && !n.Side && !n.Synthetic }

// endsWithAnother says whether a model of another maker said the newest answer.
func (c *Checker) endsWithAnother() bool {
	if c.endsForeign == nil {
		c.endsForeign = new(false)
		for _, m := range slices.Backward(c.nodes) {
			if m.says() {
				c.endsForeign = new(m.Foreign)
				break
			}
		}
	}
	return *c.endsForeign
}

// neverSigned says whether no thinking of a session is signed, of at least two answers, and more was answered behind it: the API that took them
// in its later requests does not look at signatures. Anthropic's does: where it gave thinking, its signatures were taken out.
func (c *Checker) neverSigned() bool {
	if c.unsigned == nil && c.answering.byAnthropic {
		c.unsigned = new(false)
	}
	if c.unsigned == nil {
		unsigned, answers := map[string]bool{}, map[string]bool{}
		for _, n := range c.nodes {
			if n.Role != content.RoleAssistant || n.Side || n.Synthetic {
				continue
			}
			thoughts, bare := n.thoughts(), 0
			for i := range n.Faults {
				if n.Faults[i].Unsigned {
					bare++
				}
			}
			if bare < thoughts {
				c.unsigned = new(false)
				return false
			}
			if thoughts > 0 {
				unsigned[n.Msg] = true
			}
			if len(unsigned) > 1 && !unsigned[n.Msg] {
				answers[n.Msg] = true
			}
		}
		c.unsigned = new(len(unsigned) > 1 && len(answers) > 0 || len(unsigned) > 2)
	}
	return *c.unsigned
}

// thoughts is how many blocks of thinking a record has.
func (n *node) thoughts() int {
	total := 0
	for i := range n.Blocks {
		if n.Blocks[i].Kind == content.BlockThinking {
			total++
		}
	}
	return total
}

// impactOn is the worst that a fault of a record's content does to the clients that may read the session.
func (c *Checker) impactOn(n *node, f *content.Fault) finding.Impact {
	if !f.Dropped {
		return c.worst(f.Impact)
	}
	worst := finding.Notes
	for _, version := range c.readers() {
		if c.sendsText(version, n, f.Blank) {
			worst = f.Impact.Old
		}
	}
	return worst
}

// sendsText says whether a version sends an empty text of an answer (measured). Up to 2.1.31 all do. Later versions don't send
// white space that is all of a record, as models say it before a call, but do send it from a record that holds more than
// thinking. Up to 2.1.100 the same goes for "". From then on "" is sent if the answer holds more, and from 2.1.300 on never.
func (c *Checker) sendsText(version string, n *node, blank bool) bool {
	newest := !format.Before(version, "2.1.300")
	switch {
	case !newest && format.Before(version, "2.1.32"):
		return true
	case blank || !newest && format.Before(version, "2.1.101"):
		return c.saysMore(n)
	}
	return !newest && c.answerSaysMore(n)
}

// saysMore says whether a record holds more than thinking and empty texts.
func (c *Checker) saysMore(n *node) bool {
	says, known := c.moreThanEmpty[n]
	if known {
		return says
	}
	empty := map[int]bool{} // where texts without words stand
	for i := range n.Faults {
		if n.Faults[i].Dropped {
			empty[n.Faults[i].At] = true
		}
	}
	says = slices.ContainsFunc(n.Blocks, func(b content.Block) bool {
		return b.Kind != content.BlockThinking && (b.Kind != content.BlockText || !empty[b.Span.From()])
	})
	if c.moreThanEmpty == nil {
		c.moreThanEmpty = map[*node]bool{}
	}
	c.moreThanEmpty[n] = says
	return says
}

// answerSaysMore says whether the answer that a record belongs to holds more than thinking and empty texts.
func (c *Checker) answerSaysMore(n *node) bool {
	near := c.nodes[max(0, n.index-maxSiblings):min(len(c.nodes), n.index+maxSiblings)]
	return slices.ContainsFunc(near, func(m *node) bool {
		return (m == n || m.Msg == n.Msg && n.Msg != "" && !m.Empty) && c.saysMore(m)
	})
}

// refill restores the words of an empty prompt, or writes a placeholder if they are gone.
func (c *Checker) refill(n *node, d *draft) {
	told, _ := c.promptBetween(c.before(n), n)
	d.Fix, d.Source, d.Lost = finding.Recovered, told.source, 0
	if told.source == "" {
		told.words, d.Fix, d.Lost = content.EmptyPrompt, finding.StandIn, 1
	}
	d.Edits = append(d.Edits, n.reworded(told.words))
}

// reworded is the edit that gives words to a message without any.
func (n *node) reworded(words string) finding.Edit {
	value := jsonl.AppendQuote(nil, words)
	cut := finding.Cut{Start: n.EmptySpan.Start, End: n.EmptySpan.End, New: value}
	if n.ContentAt > 0 {
		cut = finding.Cut{Start: n.ContentAt, End: n.ContentAt, New: append(append([]byte(`"content":`), value...), ',')}
	}
	return finding.Edit{At: n.Pos(), Op: finding.Splice, Cuts: []finding.Cut{cut}}
}

// madeUp says whether the model itself gave a call the name that a fault is about: the client has told it that there is no such tool, and
// the API has gone on behind that (seen in 2.1.49).
func (c *Checker) madeUp(n *node, f *content.Fault) bool {
	if f.Rule != faults.BadToolName {
		return false
	}
	i, found := slices.BinarySearchFunc(n.Blocks, f.At, func(b content.Block, at int) int { return cmp.Compare(b.Span.From(), at) })
	if !found || n.Blocks[i].Kind != content.BlockCall || n.Blocks[i].Name == "" {
		return false
	}
	return slices.ContainsFunc(c.results()[n.Blocks[i].ID], func(m *node) bool {
		return m.NoSuch != "" && strings.HasPrefix(m.NoSuch, n.Blocks[i].Name)
	})
}

// manyPictures reports images that are too wide for a request that holds so many.
func (c *Checker) manyPictures() {
	if !c.some.pictures {
		return
	}
	total := 0
	for _, n := range c.nodes {
		total += n.Pictures
	}
	if total <= content.Many {
		return
	}
	sent := c.sentNow()
	total = 0
	for _, n := range sent.list {
		total += n.Pictures
	}
	if total <= content.Many {
		return
	}
	for _, n := range c.nodes {
		if !sent.has(n) {
			continue
		}
		for _, p := range n.Wide {
			words := fmt.Sprintf("[hist: an image of %d by %d pixels stood here; the API refuses it among more than %d images]", p.Width, p.Height, content.Many)
			message := fmt.Sprintf("%d images are sent, and this one has %d by %d pixels: the API refuses over %d on a side among more than %d", total, p.Width, p.Height, content.ManyPixels, content.Many)
			c.fault(n, faults.ManyPictures, p.Span.Start, message, finding.Cut{Start: p.Span.Start, End: p.Span.End, New: format.Object{"type": "text", "text": words}.JSON()}).Lost = 1
		}
	}
}
