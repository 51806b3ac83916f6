package mend

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
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
		if d.Gap = len(cuts) > 0; d.Gap {
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
	d := usual(mark, faults.LostKept, fmt.Sprintf("the file lacks %d of the %d records that the compaction has kept: the client sends none of them", missing, len(mark.Keeps)))
	d.Impact, d.Fix = c.worst(faults.OldAndNewer(finding.Notes, finding.Loses)), finding.Exact
	return d
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

// spoken is a block of the first request after a compaction. Thinking and the client's own reminders are left out.
type spoken struct {
	message int // the number of its message in the request
	byModel bool
	kind    content.BlockKind
	id      string // of the call
	text    string
}

// say takes the next message of the request.
func (r *resent) say(message []byte) {
	m := gjson.ParseBytes(message)
	byModel := m.Get("role").String() == "assistant"
	if r.messages++; !byModel && m.Get("role").String() != "user" {
		return
	}
	for _, b := range evidence.ContentBlocks(m.Get("content")) {
		s := spoken{message: r.messages, byModel: byModel}
		switch b.Get("type").String() {
		case "tool_use":
			s.kind, s.id = content.BlockCall, b.Get("id").String()
		case "tool_result":
			s.kind, s.id = content.BlockResult, b.Get("tool_use_id").String()
		case "text":
			text := b.Get("text").String()
			if !byModel && strings.HasPrefix(strings.TrimSpace(text), "<system-reminder>") {
				continue
			}
			if s.kind = content.BlockText; r.size < evidence.MaxPieces {
				s.text = strings.Clone(text)
				r.size += len(text)
			}
		case "thinking", "redacted_thinking":
			continue
		default:
			s.kind = content.BlockOther
		}
		r.said = append(r.said, s)
	}
}

// is says whether a block of a record may be this one.
func (s *spoken) is(n *node, b *content.Block) bool {
	return s.kind == b.Kind && s.id == b.ID && s.byModel == (n.Role == content.RoleAssistant)
}

// keptTexts finds the texts that compactions have kept and that are lost: the first request after a compaction, which some clients
// record in full, holds them again.
func (c *Checker) keptTexts() {
	if !c.some.keeps {
		return
	}
	var mark *node
	for _, n := range c.nodes {
		switch {
		case n.Side:
		case n.Role == content.RoleBoundary:
			mark = n
		case n.Summary && mark != nil:
			if r := c.proof.resent[n]; r != nil && len(r.said) > 0 {
				c.textsOf(mark.Keeps, r.said[1:]) // the first is the summary
			}
			mark = nil
		}
	}
}

// textsOf finds the texts of the lost ones among the records that a mark names.
func (c *Checker) textsOf(keeps []content.KeptRecord, said []spoken) {
	lost, of := c.lostAmong(keeps, said)
	answers, calls := map[int]string{}, map[int]bool{} // by the message: the id of the answer that it is, and whether it holds calls
	for i, s := range said {
		calls[s.message] = calls[s.message] || s.kind == content.BlockCall
		if of[i] != nil {
			answers[s.message] = of[i].Msg
		}
	}
	for i, m := range lost {
		s := &said[i]
		if _, left := c.pieces.Messages[m.UUID]; m.UUID == "" || s.text == "" || left {
			continue
		}
		m.Typ, m.Message = "user", format.Object{"role": "user", "content": s.text}
		if s.byModel {
			stop := "end_turn"
			if calls[s.message] {
				stop = "tool_use"
			}
			m.Typ, m.Message = "assistant", evidence.AnswerOf([]format.Object{{"type": "text", "text": s.text}}, stop)
			m.Message["id"] = cmp.Or(answers[s.message], evidence.AnswerID(m.UUID))
		}
		c.pieces.Keep(m, len(s.text))
	}
}

// lostAmong compares the records that a mark names with a request, block by block. It returns the record of each block: with no more
// than its id and its time if it is lost, or else as it is in the file. lost is nil if they do not agree: if a record holds something
// else than the request has there, or more than prompts comes behind them all.
func (c *Checker) lostAmong(keeps []content.KeptRecord, said []spoken) (lost []format.Made, of []*node) {
	lost, of = make([]format.Made, len(said)), make([]*node, len(said))
	at, when := 0, int64(0)
	for _, k := range keeps {
		n := c.ids.get(k.UUID)
		if n == nil {
			if at == len(said) {
				return nil, of
			}
			if when != 0 {
				when++
			}
			lost[at] = format.Made{UUID: k.UUID, When: when}
			at++
			continue
		}
		when = n.When
		for i := range n.Blocks {
			switch {
			case n.Blocks[i].Kind == content.BlockThinking:
				continue
			case at == len(said) || !said[at].is(n, &n.Blocks[i]):
				return nil, of
			}
			of[at] = n
			at++
		}
	}
	if slices.ContainsFunc(said[at:], func(s spoken) bool { return s.byModel || s.kind == content.BlockResult }) {
		return nil, of
	}
	return lost, of
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
