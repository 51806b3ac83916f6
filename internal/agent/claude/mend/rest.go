package mend

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// unplaced restores messages that unreadable lines still hold and that no record names, because the records that did are lost,
// too. They go where the lines are, if the record in front of the line is the parent of the one behind it.
func (c *Checker) unplaced() {
	if len(c.pieces.Lines) == 0 || c.opts.Live {
		return
	}
	ids := slices.SortedFunc(maps.Keys(c.pieces.Lines), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.pieces.Lines[a], c.pieces.Lines[b]), cmp.Compare(a, b))
	})
	waits := map[string]bool{} // ids that records name as their parent and that are still missing
	for _, n := range c.nodes {
		waits[n.Parent] = waits[n.Parent] || n.up == nil
	}
	end := c.tipOf(c.leaf)
	var placed *node // the message that was restored last
	var told *draft
	at := int64(0)
	for _, id := range ids {
		line := c.pieces.Lines[id]
		front, behind := c.around(line, c.pieces.Messages[id].When)
		if front != nil && placed != nil && front.Pos().Line < at {
			front = placed
		}
		if c.ids.get(id) != nil || waits[id] || front == nil || front.dropped != nil {
			continue
		}
		if behind == nil && front != end {
			continue // the conversation does not end at front
		}
		n, d := c.place(id, front, behind)
		if n == nil {
			continue
		}
		if placed, at = n, line; behind == nil {
			end, told = n, d
		}
	}
	if told != nil {
		c.pointAt(told, end, false)
	}
}

// around are the records of the main conversation in front of a line and behind it, nil if there is none. What stands behind the line
// but is older than what the line was goes in front of it: lines have changed places.
func (c *Checker) around(line, when int64) (front, behind *node) {
	i, _ := slices.BinarySearchFunc(c.nodes, line, func(n *node, line int64) int { return cmp.Compare(n.Pos().Line, line) })
	front, behind = c.mainNear(i-1, -1), c.mainNear(i, 1)
	f, b := front, behind
	for steps := 0; f != nil && b != nil && f.When <= b.When && b.When != 0 && b.When < when; steps++ {
		if steps == maxSiblings {
			return front, behind
		}
		f, b = b, c.mainNear(b.index+1, 1)
	}
	return f, b
}

// mainNear is the nearest record of the main conversation from an index on, in steps; nil if there is none.
func (c *Checker) mainNear(i, step int) *node {
	for steps := 0; i >= 0 && i < len(c.nodes) && steps < maxSiblings; i, steps = i+step, steps+1 {
		if !c.nodes[i].Side {
			return c.nodes[i]
		}
	}
	return nil
}

// place inserts the message of an unreadable line between two records: it is hung on front, and behind is hung on it. nil if it
// does not belong there.
func (c *Checker) place(id string, front, behind *node) (*node, *draft) {
	next := behind
	for next != nil && next.up != front {
		if next = next.up; next != nil && next.new == nil {
			return nil, nil
		}
	}
	if next == nil && (behind != nil || front.first != nil) {
		return nil, nil
	}
	d := usual(front, faults.BrokenParent, "only a part of the record after this one can be read: the client drops it").anyway()
	d.Fix = finding.Recovered
	n, line, source := c.elsewhere(id)
	if n == nil || source != evidence.PieceSource || !c.chosen(d) || !c.unsaid(n) || c.putBackUnder(id) {
		return nil, nil
	}
	beside, op := front, finding.After
	if behind != nil {
		beside, op = behind, finding.Before
	}
	c.putBack(c.add(d), n, line, source, front, beside, op)
	if next != nil {
		c.hang(next, n, d)
	}
	return n, d
}

// putBackUnder says whether the words of a prompt in an unreadable line have been restored already, under the id that what follows names.
func (c *Checker) putBackUnder(id string) bool {
	words, isText := c.pieces.Messages[id].Message["content"].(string)
	return isText && c.pieces.Messages[id].Typ == "user" && c.putBackLately(words)
}

// unsaid says whether the file holds none of a message's calls and outputs, but all calls that it answers.
func (c *Checker) unsaid(n *node) bool {
	for id := range n.Each(content.BlockCall) {
		if c.calls()[id] != nil {
			return false
		}
	}
	for id := range n.Each(content.BlockResult) {
		if c.calls()[id] == nil || len(c.results()[id]) > 0 {
			return false
		}
	}
	return true
}

// nameAnswers gives message ids to parts of answers that have lost theirs: the id of the part that hangs on it, or else a new one.
func (c *Checker) nameAnswers() {
	if len(c.pieces.Lines) == 0 {
		return
	}
	below := map[string]string{}
	for _, n := range c.nodes {
		if n.Role == content.RoleAssistant && n.Msg != "" && !n.Synthetic && !n.Filler && n.Parent != "" && !n.Side {
			below[n.Parent] = n.Msg
		}
	}
	for id := range c.pieces.Lines {
		message := c.pieces.Messages[id].Message
		if message["role"] != "assistant" || message["id"] != nil {
			continue
		}
		message["id"] = cmp.Or(below[id], evidence.AnswerID(id))
	}
}

// An unreadable line may still hold, in the part that was not hit, a whole message with its id, or a block: a call, an output,
// the words of a prompt. What is lost is looked for there, too.

// salvage keeps the whole blocks and the prompt that an unreadable line still holds.
func (c *Checker) salvage(rec *session.Record) {
	raw := rec.Raw
	if len(raw) > evidence.MaxPieceLine || bytes.Contains(raw, []byte(`"isSidechain":true`)) {
		return
	}
	m, ok := evidence.MessageIn(raw)
	if !ok {
		m, ok = evidence.BeginningIn(raw)
	}
	if ok && c.pieces.Size < evidence.MaxPieces {
		c.pieces.KeepOf(m, rec.Pos.Line, len(raw))
	} else if r, ok := evidence.RestOf(raw); ok && c.pieces.Size < evidence.MaxPieces {
		c.pieces.TakeRest(r, rec.Pos.Line, len(raw))
	}
	if c.pieces.Size < evidence.MaxPieces {
		c.pieces.TakeTold(raw, rec.Pos.Line)
	}
	if words, ok := evidence.PromptIn(raw); ok {
		c.echoes = append(c.echoes, evidence.Echo{Told: words, Source: evidence.PieceSource, At: rec.Pos})
	}
	tries := 0
	for _, start := range []string{`{"type":"tool_use",`, `{"type":"tool_result",`, `{"tool_use_id":`} {
		for rest := raw; tries < evidence.MaxPieceTries && c.pieces.Size < evidence.MaxPieces; {
			at := bytes.Index(rest, []byte(start))
			if at < 0 {
				break
			}
			rest = rest[at:]
			if size := c.pieces.Take(rest); size > 0 {
				rest = rest[size:]
			} else {
				rest = rest[len(start):]
				tries++
			}
		}
	}
}
