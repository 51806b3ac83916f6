package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
)

// rest is the end of a record whose beginning was damaged: everything from some member on, of the record's message or of its
// last block, is whole.
type rest struct {
	Type    string `json:"type"`
	UUID    string `json:"uuid"`
	When    string `json:"timestamp"`
	Source  string `json:"sourceToolAssistantUUID"`
	Message struct {
		Content json.RawMessage `json:"content"`
		Stop    any             `json:"stop_reason"`
		Usage   json.RawMessage `json:"usage"`
	} `json:"message"`
	Result  json.RawMessage `json:"toolUseResult"`
	Meta    bool            `json:"isMeta"`
	Summary bool            `json:"isCompactSummary"`
	Error   bool            `json:"isApiErrorMessage"`
}

// restStarts are the members at which a rest may begin, and what stands in front of them in a whole record.
var restStarts = []struct{ member, front string }{
	{`"content":[{"`, `{"message":{`},
	{`"content":"`, `{"message":{`},
	{`"tool_use_id":"`, inBlock},
	{`"id":"toolu_`, inBlock},
	{`"name":"`, inBlock},
	{`"input":{`, inBlock},
	{`"text":"`, inBlock},
	{`"thinking":"`, inBlock},
	{`"content":[{"`, inBlock},
	{`"content":"`, inBlock},
}

const inBlock = `{"message":{"content":[{`

// restOf is the rest of a record in an unreadable line; false if there is none that holds an id and content.
func restOf(raw []byte) (r rest, ok bool) {
	raw = bytes.TrimRight(raw, "\r\n\x00")
	tries := 0
	for _, s := range restStarts {
		for at := 0; tries < maxPieceTries; tries++ {
			next := bytes.Index(raw[at:], []byte(s.member))
			if next < 0 {
				break
			}
			at += next
			whole := append([]byte(s.front), raw[at:]...)
			at += len(s.member)
			r = rest{}
			if !sound(whole) || json.Unmarshal(whole, &r) != nil || r.UUID == "" || len(r.Message.Content) == 0 {
				continue
			}
			if r.Type == "" { // up to 1.0.17 the type stands in front of the message
				if r.Type = "user"; r.Message.Stop != nil || len(r.Message.Usage) > 0 {
					r.Type = "assistant"
				}
			}
			return r, r.Type == "user" || r.Type == "assistant"
		}
	}
	return r, false
}

// takeRest keeps what a rest holds: a message, or a call or an output without its id.
func (p *pieces) takeRest(r rest, line int64, size int) {
	content, ok := p.completed(r)
	if !ok {
		return
	}
	m := format.Made{UUID: r.UUID, Typ: r.Type, Source: r.Source, When: format.MillisOf([]byte(r.When)), Message: format.Object{"role": r.Type, "content": content}, More: format.Object{}}
	for flag, is := range map[string]bool{"isMeta": r.Meta, "isCompactSummary": r.Summary, "isApiErrorMessage": r.Error} {
		if is {
			m.More[flag] = true
		}
	}
	if len(r.Result) > 0 && r.Result[0] == '{' {
		m.More["toolUseResult"] = r.Result
	}
	if r.Type == "assistant" {
		m.Message = answerOf(content, r.Message.Stop)
		if len(r.Message.Usage) > 0 {
			m.Message["usage"] = r.Message.Usage
		}
	}
	p.keepOf(m, line, size)
}

// answerOf is a message of the model's. Its id is missing.
func answerOf(content, stop any) format.Object {
	return format.Object{
		"type": "message", "role": "assistant", "model": "claude", "content": content, "stop_reason": stop, "stop_sequence": nil,
		"usage": format.Object{"input_tokens": 0, "output_tokens": 0},
	}
}

// answerID is an id for an answer that has lost its own, by a record of it.
func answerID(uuid string) string { return "msg_" + format.NewID("message", uuid)[:8] + "hist" }

// completed is the content of a message, with the beginning of its first block restored. A call or an output without its id is
// kept apart, to be placed by the ids of other records.
func (p *pieces) completed(r rest) (content json.RawMessage, ok bool) {
	if r.Message.Content[0] == '"' {
		return r.Message.Content, r.Type == "user"
	}
	var blocks []json.RawMessage
	var first piece
	members := map[string]json.RawMessage{}
	if json.Unmarshal(r.Message.Content, &blocks) != nil || len(blocks) == 0 || json.Unmarshal(blocks[0], &members) != nil || json.Unmarshal(blocks[0], &first) != nil {
		return nil, false
	}
	typ := ""
	switch {
	case first.Type != "":
		return r.Message.Content, true
	case len(members["text"]) > 0:
		typ = "text"
	case len(members["thinking"]) > 0 && len(members["signature"]) > 0:
		typ = "thinking"
	case len(first.Input) > 0 && r.Type == "assistant":
		if first.ID == "" || first.Name == "" {
			p.callsAt = kept(p.callsAt, r.UUID, first)
			return nil, false
		}
		typ = "tool_use"
	case len(first.Content) > 0 && r.Type == "user":
		if first.Call == "" {
			if r.Source != "" && len(blocks) == 1 {
				p.outputsFrom = kept(p.outputsFrom, r.Source, first)
			}
			return nil, false
		}
		typ = "tool_result"
	default:
		return nil, false
	}
	whole := slices.Concat([]byte(`[{"type":"`+typ+`",`), blocks[0][1:])
	for _, b := range blocks[1:] {
		whole = append(append(whole, ','), b...)
	}
	return append(whole, ']'), true
}

func kept(in map[string]piece, id string, b piece) map[string]piece {
	if in == nil {
		in = map[string]piece{}
	}
	in[id] = b
	return in
}

// unplaced restores messages that unreadable lines still hold and that no record names, because the records that did are lost,
// too. They go where the lines are, if the record in front of the line is the parent of the one behind it.
func (c *Checker) unplaced() {
	if len(c.pieces.lines) == 0 || c.opts.Live {
		return
	}
	ids := slices.SortedFunc(maps.Keys(c.pieces.lines), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.pieces.lines[a], c.pieces.lines[b]), cmp.Compare(a, b))
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
		line := c.pieces.lines[id]
		front, behind := c.around(line, c.pieces.messages[id].When)
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
	d := &draft{about: front, always: true, Finding: finding.Finding{
		Rule: faults.BrokenParent, Impact: finding.Loses, Fix: finding.Recovered,
		Message: "only a part of the record after this one can be read: the client drops it",
	}}
	n, line, source := c.elsewhere(id)
	if n == nil || source != pieceSource || !c.chosen(d) || !c.unsaid(n) || c.putBackUnder(id) {
		return nil, nil
	}
	beside, op := front, finding.After
	if behind != nil {
		beside, op = behind, finding.Before
	}
	c.putBack(c.add(d), n, line, source, front, beside, op)
	if n.up != front {
		c.hang(n, front, d)
	}
	if next != nil {
		c.hang(next, n, d)
	}
	return n, d
}

// putBackUnder says whether the words of a prompt in an unreadable line have been restored already, under the id that what follows names.
func (c *Checker) putBackUnder(id string) bool {
	words, isText := c.pieces.messages[id].Message["content"].(string)
	return isText && c.pieces.messages[id].Typ == "user" && c.putBackLately(words)
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

// goesOnWith says whether a later part of an answer, which has a given stop reason, may be of the same answer as this record.
func (n *node) goesOnWith(stop any) bool {
	return n.Role == content.RoleAssistant && !n.Synthetic && !n.Filler && n.Stop != "end_turn" && (n.Stop == "" || stop == nil || stop == n.Stop)
}

// nameAnswers gives message ids to parts of answers that have lost theirs: the id of the part that hangs on it, or of the part
// in front, or else a new one.
func (c *Checker) nameAnswers() {
	if len(c.pieces.lines) == 0 {
		return
	}
	below := map[string]string{}
	for _, n := range c.nodes {
		if n.Role == content.RoleAssistant && n.Msg != "" && !n.Synthetic && !n.Filler && n.Parent != "" && !n.Side {
			below[n.Parent] = n.Msg
		}
	}
	for id, line := range c.pieces.lines {
		message := c.pieces.messages[id].Message
		if message["role"] != "assistant" || message["id"] != nil {
			continue
		}
		msg := below[id]
		if msg == "" {
			i, _ := slices.BinarySearchFunc(c.nodes, line, func(n *node, line int64) int { return cmp.Compare(n.Pos().Line, line) })
			if front := c.contentBefore(i); front != nil && front.goesOnWith(message["stop_reason"]) {
				msg = front.Msg
			}
		}
		message["id"] = cmp.Or(msg, answerID(id))
	}
}

// contentBefore is the nearest record in front of an index that has content of the conversation; nil if there is none near.
func (c *Checker) contentBefore(i int) *node {
	for steps := 0; i > 0 && steps < maxSiblings; i, steps = i-1, steps+1 {
		if n := c.nodes[i-1]; !n.Side && n.Role != content.RoleLink {
			return n
		}
	}
	return nil
}
