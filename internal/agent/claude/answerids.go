package claude

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// answering is the answer whose parts are being read. All of them came with one request, which the client notes in each.
type answering struct {
	first, last *node // its parts so far
	request     []byte
	index       int64 // of the last part; -1: the client does not note it
}

// answerPart is what a part of an answer needs to get the id of the others.
type answerPart struct {
	of  *node // the first part
	cut finding.Cut
}

// take reads the next record. Where a request is made again, its parts are counted anew: what comes then is another answer. Where they are
// not counted, one hangs on the other, which does not end the turn; that the requests have one name is no proof by itself, because some programs write over them.
func (a *answering) take(n *node, rec *session.Record) {
	id, ref := text(rec, fieldRequestID), text(rec, fieldRequestRef)
	if n.role != roleAssistant || n.side || n.synthetic || len(id)+len(ref) == 0 {
		return
	}
	index := int64(-1)
	if raw := field(rec, fieldBlockIndex); len(raw) > 0 {
		index = gjson.ParseBytes(raw).Int()
	}
	goesOn := a.first != nil && len(a.request) == len(id)+len(ref) && bytes.HasPrefix(a.request, id) && bytes.HasSuffix(a.request, ref) &&
		(index > a.index || index < 0 && n.parent == a.last.uuid && a.last.goesOnWith(n.stop))
	a.last, a.index = n, index
	switch {
	case !goesOn:
		a.first, a.request = n, append(append(a.request[:0], id...), ref...)
	case n.msg != a.first.msg && a.first.msg != "":
		n.own().apart = &answerPart{a.first, member(rec.Spans[fieldMessageID], rec.Spans[fieldMessage].Start, "id", a.first.msg)}
	}
}

// oneAnswer gives all parts of an answer the id of the first again: the client puts an answer together by it.
func (c *Checker) oneAnswer() {
	if !c.some.apart {
		return
	}
	for _, n := range c.nodes {
		if n.apart == nil {
			continue
		}
		first := n.apart.of
		for _, id := range []string{first.msg, n.msg} {
			if a := c.proof.answers[id]; a != nil {
				a.odd = true // it was hashed as what the two ids make of it
			}
		}
		d := c.add(&draft{about: n, also: []*node{first}, Finding: finding.Finding{
			Rule: ruleWrongMessageID, Impact: c.worst(oldAndNewer(finding.Notes, finding.Loses)), Fix: finding.Exact,
			Message: "this part of an answer has another message id than the rest of it, which came with the same request: the client tears the answer apart, and drops thinking or an output",
			Edits:   []finding.Edit{{At: n.pos(), Op: finding.Splice, Cuts: []finding.Cut{n.apart.cut}}},
		}})
		if c.chosen(d) {
			n.msg = first.msg
		}
	}
}
