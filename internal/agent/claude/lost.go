package claude

import (
	"slices"
	"sort"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/finding"
)

// insert puts a record of hist's own into the tree, in front of or behind the record beside it in the file.
func (c *Checker) insert(d *draft, m made, beside *node, op finding.Op) *node {
	n := &node{
		place: beside.place, words: &words{typ: m.typ}, uuid: m.uuid, parent: m.parent, when: m.when, source: m.source,
		rare: &rare{new: &m}, index: beside.index, up: c.byUUID[m.parent],
	}
	switch {
	case m.typ == "system":
		n.role = roleBoundary
	case m.typ == "assistant":
		n.role = roleAssistant
	default:
		n.role = roleUser
	}
	gjson.ParseBytes(m.message.json()).Get("content").ForEach(func(_, b gjson.Result) bool {
		switch b.Get("type").String() {
		case "tool_use":
			n.blocks = append(n.blocks, block{kind: blockCall, id: b.Get("id").String(), name: b.Get("name").String()})
		case "tool_result":
			n.blocks = append(n.blocks, block{kind: blockResult, id: b.Get("tool_use_id").String()})
			n.role = roleResult
		default:
			n.blocks = append(n.blocks, block{kind: blockText})
		}
		return true
	})
	n.above = n.up
	c.grow(n)
	n.own().edit = placed{d, len(d.Edits)}
	d.Edits = append(d.Edits, finding.Edit{At: beside.pos(), Op: op, New: finding.Content{Literal: m.json(c.beside)}})
	return n
}

// lostCallBefore mends an output that hangs on a call which is not in the file.
func (c *Checker) lostCallBefore(id string, children []*node) bool {
	n := children[0]
	orphan := c.orphanFrom(n, id)
	if orphan == nil {
		return false
	}
	p := c.before(n)
	if last := c.lastOfAnswer(p); last != nil && c.leftBehind(orphan) {
		p = last
	}
	d := c.add(&draft{about: orphan, Finding: finding.Finding{
		Rule: ruleLostCall, Impact: finding.Loses, Fix: finding.StandIn, Lost: 1,
		Message: "the call that this output answers is not in the file: the client drops the output, too",
	}})
	if c.oldTarget() {
		d.Impact = finding.Rejects
	}
	if !c.restored(d, id, p, n) {
		c.rebuildCall(d, orphan, id, p, n)
	}
	return true
}

// leftBehind says whether the conversation goes on beside an output: it is one of several calls that were made at once.
func (c *Checker) leftBehind(output *node) bool {
	last := c.lastSpoken()
	return output.first == nil && last != nil && last.index > output.index
}

// lastOfAnswer is the last record of the answer to whose call an output is, as it stands in front of the output; nil if p is
// no output.
func (c *Checker) lastOfAnswer(p *node) *node {
	if p == nil {
		return nil
	}
	call := c.callOf(p)
	if call == nil {
		return nil
	}
	last := call
	for _, m := range c.nodes[call.index:p.index] {
		if m.role == roleAssistant && m.msg == call.msg && !m.side {
			last = m
		}
	}
	return last
}

// orphanFrom is the output, among a record and what follows it of the same answer, whose call is not in the file; only one
// that names the missing record or hangs on it counts.
func (c *Checker) orphanFrom(n *node, id string) *node {
	for i := n.index; i < len(c.nodes) && i < n.index+maxSiblings; i++ {
		m := c.nodes[i]
		if m.side {
			continue
		}
		if m.role == roleResult {
			named := m.source == id || m.source == "" && (m.parent == id || c.byUUID[m.parent] != nil)
			if named && !c.anyCall(m) {
				return m
			}
			continue
		}
		if m.role == roleAssistant && m.msg != n.msg || m.isPrompt() {
			return nil
		}
	}
	return nil
}

// anyCall says whether a call that a record answers is in the file.
func (c *Checker) anyCall(m *node) bool {
	return slices.ContainsFunc(m.ids(blockResult), func(id string) bool { return c.calls()[id] != nil })
}

// calls are the records with calls, by the calls' ids.
func (c *Checker) calls() map[string]*node {
	if c.callMap == nil {
		c.callMap, c.callsApart = make(map[string]*node, len(c.heard)), true
		for _, n := range c.nodes {
			for id := range n.each(blockCall) {
				switch {
				case n.side:
				case c.callMap[id] == nil:
					c.callMap[id] = n
				default:
					c.callsApart = false
				}
			}
		}
	}
	return c.callMap
}

// callNamed is the record with the call of an id, the first if several have that; nil if none does. Mostly it is the one that
// the output hangs on.
func (c *Checker) callNamed(output *node, id string) *node {
	if c.calls(); c.callsApart && output.up != nil && !output.up.side && output.up.says(blockCall, id) {
		return output.up
	}
	return c.callMap[id]
}

// answered says whether a call has an output. Mostly that is the first record that hangs on it.
func (c *Checker) answered(call *node, id string) bool {
	if m := call.first; m != nil && !m.side && m.says(blockResult, id) {
		return true
	}
	return len(c.results()[id]) > 0
}

// results are the records with outputs, by the ids of the calls that they answer.
func (c *Checker) results() map[string][]*node {
	if c.resultMap == nil {
		c.resultMap = make(map[string][]*node, len(c.heard))
		alone := make([]*node, len(c.nodes)) // mostly a call has one output: the lists are cut from one
		for i, n := range c.nodes {
			for id := range n.each(blockResult) {
				switch list := c.resultMap[id]; {
				case n.side:
				case list == nil && alone[i] == nil:
					alone[i] = n
					c.resultMap[id] = alone[i : i+1 : i+1]
				default:
					c.resultMap[id] = append(list, n)
				}
			}
		}
	}
	return c.resultMap
}

// rebuildCall writes a lost call again as far as its output tells it.
func (c *Checker) rebuildCall(d *draft, result *node, id string, p, beside *node) {
	name, input, known := c.callFrom(result)
	msg := "msg_" + newID("message", id)[:8] + "hist"
	if next := c.sameAnswer(beside, id); next != "" {
		msg = next
	} else if p != nil && p.role == roleAssistant && p.msg != "" && p.stop != "end_turn" && !p.synthetic && !p.filler {
		msg = p.msg // a part of the same answer
	}
	when := result.when
	parent := ""
	if p != nil {
		parent = p.uuid
		if p.when != 0 {
			when = p.when + 1
		}
	}
	if known {
		d.Fix, d.Source, d.Lost = finding.Recovered, "the structured result beside the output", 0
	}
	callID := c.validID(d, result)
	block := object{"type": "tool_use", "id": callID, "name": name, "input": input}
	if known {
		d.Source += c.provedAmong("assistant", c.answerRecords(msg, beside.index), block)
	}
	m := made{uuid: id, parent: parent, when: when, typ: "assistant", message: object{
		"id": msg, "type": "message", "role": "assistant", "model": "claude", "stop_reason": "tool_use", "stop_sequence": nil,
		"usage":   object{"input_tokens": 0, "output_tokens": 0},
		"content": []any{block},
	}}
	n := c.insert(d, m, beside, finding.Before)
	n.msg = msg
	c.calls()[callID] = n
}

// validID is the id of the call that an output names; one that the API would not take gets a new one in the output.
func (c *Checker) validID(d *draft, result *node) string {
	old := result.ids(blockResult)[0]
	if isCallID(old) || !c.chosen(d) {
		return old
	}
	id := fresh(old, result.uuid)
	c.rename(d, result, old, id)
	return id
}

// sameAnswer is the id of the answer that a record which hangs on the missing one is a part of.
func (c *Checker) sameAnswer(n *node, id string) string {
	for i := n.index; i < len(c.nodes) && i < n.index+maxSiblings; i++ {
		if m := c.nodes[i]; m.parent == id && m.role == roleAssistant {
			return m.msg
		}
	}
	return ""
}

// lostResultBefore mends records that hang on a lost output of a call before them.
func (c *Checker) lostResultBefore(id string, children []*node, p *node) bool {
	n := children[0]
	if n.filler || p != nil && p.filler {
		return false // the client has gone on without the output
	}
	call, callID := c.openCall(p, n)
	if call == nil || n.msg != "" && n.msg == call.msg || p != nil && p.role == roleUser && !c.toldByTool(p, call) {
		return false
	}
	d := c.add(&draft{about: call, Finding: finding.Finding{
		Rule: ruleLostResult, Impact: finding.Loses, Fix: finding.StandIn, Lost: 1,
		Message: "the output of this call is not in the file, and what follows depends on it: the client forgets everything above",
	}})
	if !c.restored(d, id, call, n) {
		c.insertResult(d, call, callID, id, n, finding.Before)
	}
	return true
}

// toldByTool says whether a record is what the tool of another call of an answer said beside its output.
func (c *Checker) toldByTool(p, call *node) bool {
	if p.up == nil {
		return false
	}
	other := c.callOf(p.up)
	return other != nil && other.msg == call.msg
}

// openCall is the last call without an output in the answer that p belongs to or follows. Calls of an answer before that were
// never run, if they have no output: the model has gone on without it.
func (c *Checker) openCall(p, until *node) (*node, string) {
	last := "" // the answer with the calls that stand last
	for i := until.index - 1; i >= 0 && i > until.index-maxSiblings; i-- {
		m := c.nodes[i]
		if m.side || m.synthetic {
			continue
		}
		if m.isPrompt() {
			return nil, ""
		}
		if m.role != roleAssistant {
			continue
		}
		ids := m.ids(blockCall)
		if last != "" && m.answer() != last {
			return nil, ""
		}
		if len(ids) > 0 {
			last = m.answer()
		}
		for j := len(ids) - 1; j >= 0; j-- {
			if len(c.results()[ids[j]]) == 0 && !c.claimed(ids[j]) {
				return m, ids[j]
			}
		}
		if p == nil || m.msg != c.nodes[until.index-1].msg && len(ids) == 0 {
			return nil, ""
		}
	}
	return nil, ""
}

// claimed says whether an output with another id hangs on the call: it is the same pair.
func (c *Checker) claimed(callID string) bool {
	call := c.calls()[callID]
	if call == nil {
		return false
	}
	for i := call.index + 1; i < len(c.nodes) && i < call.index+maxSiblings; i++ {
		m := c.nodes[i]
		if m.role == roleResult && (m.source == call.uuid || m.source == "" && m.parent == call.uuid) && !c.anyCall(m) {
			return true
		}
	}
	return false
}

// insertResult writes a call's output again as far as it is known.
func (c *Checker) insertResult(d *draft, call *node, callID, id string, beside *node, op finding.Op) *node {
	words, source := c.outputOf(callID)
	if source == "" {
		words, source = c.fileOutput(call, callID)
	}
	block := object{"type": "tool_result", "tool_use_id": callID, "content": words}
	if source == "" {
		block["content"], block["is_error"] = lostResult, true
	} else {
		d.Fix, d.Source, d.Lost = finding.Recovered, source+c.provedOutput(call, block), 0
	}
	when, until := call.when, beside.index
	if when != 0 {
		when++
	}
	if op == finding.After {
		until++
	}
	parent := call
	if end, _ := c.chainEnd(call, until); call.chains() && end.uuid != "" && !between(nil, end, call) {
		parent = end
	}
	m := made{
		uuid: id, parent: parent.uuid, when: when, typ: "user", source: call.uuid,
		message: object{"role": "user", "content": []any{block}},
	}
	n := c.insert(d, m, beside, op)
	c.results()[callID] = append(c.results()[callID], n)
	return n
}

// provedOutput is words for the report if the client has sent this output of a call, word for word, alone or among those of
// the other calls of its answer.
func (c *Checker) provedOutput(call *node, block object) string {
	for _, isError := range []any{nil, false} { // some tools say that all was well
		if isError != nil {
			block = object{"type": block["type"], "tool_use_id": block["tool_use_id"], "content": block["content"], "is_error": isError}
		}
		if c.proof.proves("user", append(append([]byte("["), block.json()...), ']')) {
			return provedWords
		}
		if words := c.provedAmong("user", c.otherOutputs(call), block); words != "" {
			return words
		}
	}
	return ""
}

// outputOf is what is still known of a call's output.
func (c *Checker) outputOf(callID string) (words, source string) {
	if c.opts.Beside != nil {
		return c.opts.Beside.Output(callID)
	}
	return "", ""
}

// lostPromptBefore mends records that hang on a lost prompt: an answer, or what the client adds to a prompt, behind a
// finished answer or at the very beginning.
func (c *Checker) lostPromptBefore(id string, children []*node, p *node) bool {
	n := children[0]
	if n.role == roleUser || n.role == roleResult || n.filler || n.synthetic || n.summary {
		return false
	}
	before := p
	for before != nil && before.role == roleLink { // what the client adds does not end a turn
		before = before.up
	}
	if before != nil && (before.role != roleAssistant || before.msg == n.msg && n.msg != "" || before.filler && n.role == roleLink) {
		return false
	}
	if before != nil && !c.turnEnded(id, before, n) {
		return false
	}
	if p != nil && p.role == roleLink && p.attachment != "" && before == nil {
		return false // of what was added to the first prompt one record is gone
	}
	if n.role == roleLink && n.attachment == "" {
		return false
	}
	d := c.add(&draft{about: n, Finding: finding.Finding{
		Rule: ruleLostPrompt, Impact: finding.Loses, Fix: finding.StandIn, Lost: 1,
		Message: "the prompt that this answers is not in the file: the client forgets it and everything above",
	}})
	if p == nil {
		d.Message = "the first prompt is not in the file: the client begins without it"
	}
	if c.restored(d, id, p, n) {
		return true
	}
	words, source := c.promptBetween(p, n)
	if source == "" {
		words = lostPrompt
	} else {
		d.Fix, d.Source, d.Lost = finding.Recovered, source, 0
	}
	m := made{uuid: id, when: n.when, typ: "user", message: object{"role": "user", "content": words}}
	if m.when != 0 {
		m.when--
	}
	if p != nil {
		m.parent = p.uuid
	}
	c.insert(d, m, n, finding.Before)
	return true
}

// pause is how long nothing happens, in milliseconds, where somebody is thought to have typed, if nothing else tells.
const pause = 30_000

// turnEnded says whether a prompt stood between the end of an answer and a record that hangs on something lost.
func (c *Checker) turnEnded(id string, p, n *node) bool {
	if c.snapshots[id] || p.stop == "end_turn" || p.stop == "stop_sequence" {
		return true
	}
	if p.stop != "" {
		return false
	}
	next := sort.Search(len(c.queued), func(i int) bool { return p.pos().Less(c.queued[i]) })
	if next < len(c.queued) && c.queued[next].Less(n.pos()) {
		return true
	}
	return len(c.queued) == 0 && p.when != 0 && n.when-p.when > pause
}

// promptBetween finds the words of a prompt that stood between two records.
func (c *Checker) promptBetween(p, n *node) (words, source string) {
	from := int64(0)
	if p != nil {
		from = p.pos().Line
	}
	until := c.nextPrompt(n)
	last := c.echoBefore(min(until, n.pos().Line), from)
	if last == nil {
		last = c.echoAfter(from, until)
	}
	if last != nil {
		source = last.source
		if c.proof.proves("user", object{"c": last.text}.json()[5:len(object{"c": last.text}.json())-1]) {
			source += provedWords
		}
		return last.text, source
	}
	return c.typedBetween(p, n)
}

// longestTurn is how long before a record a prompt is looked for where the record before it has no time, in milliseconds.
const longestTurn = 10 * 60 * 1000

// typedBetween finds what was typed last between two records. What was typed before the first of them belongs to another
// prompt; a prompt that waited for the end of an answer is told by its queue-operation.
func (c *Checker) typedBetween(p, n *node) (words, source string) {
	if c.opts.Beside == nil || n.when == 0 {
		return "", ""
	}
	from := n.when - longestTurn
	if p != nil && p.when != 0 {
		from = p.when
	}
	typed := c.opts.Beside.Typed()
	until := sort.Search(len(typed), func(i int) bool { return typed[i].When > n.when })
	for i := until - 1; i >= 0 && typed[i].When > from; i-- {
		if !c.typedUsed[i] && !c.stands(typed[i]) {
			if c.typedUsed == nil {
				c.typedUsed = map[int]bool{}
			}
			c.typedUsed[i] = true
			return typed[i].Words, promptsFile
		}
	}
	return "", ""
}

// typing is how far the times of a prompt's record and of its entry in the list of prompts lie apart at most, in milliseconds.
const typing = 2000

// stands says whether the record of a prompt that was typed is in the session.
func (c *Checker) stands(t Typed) bool {
	from := sort.Search(len(c.byTime), func(i int) bool { return c.byTime[i].when >= t.When-typing })
	for _, n := range c.byTime[from:] {
		if n.when > t.When+typing {
			return false
		}
		if n.isPrompt() {
			return true
		}
	}
	return false
}

// echoBefore is the newest prompt that is told in front of itself, on a line before one and behind another.
func (c *Checker) echoBefore(line, from int64) *echo {
	for i := c.echoFrom(line) - 1; i >= 0 && c.echoes[i].at.Line > from; i-- {
		if !c.echoes[i].late {
			return &c.echoes[i]
		}
	}
	return nil
}

// echoAfter is the first prompt that is told behind itself, on a line between two.
func (c *Checker) echoAfter(from, until int64) *echo {
	for i := c.echoFrom(from + 1); i < len(c.echoes) && c.echoes[i].at.Line < until; i++ {
		if c.echoes[i].late {
			return &c.echoes[i]
		}
	}
	return nil
}

// echoFrom is the place of the first prompt that is told on a line or behind it.
func (c *Checker) echoFrom(line int64) int {
	return sort.Search(len(c.echoes), func(i int) bool { return c.echoes[i].at.Line >= line })
}

// nextPrompt is the line of the next prompt behind a record.
func (c *Checker) nextPrompt(n *node) int64 {
	if c.promptLines == nil {
		c.promptLines = []int64{} // there may be none
		for _, m := range c.nodes {
			if m.isPrompt() && !m.side {
				c.promptLines = append(c.promptLines, m.pos().Line)
				c.promptAt = append(c.promptAt, m.index)
			}
		}
	}
	if i, _ := slices.BinarySearch(c.promptAt, n.index+1); i < len(c.promptAt) {
		return c.promptLines[i]
	}
	return 1 << 62
}
