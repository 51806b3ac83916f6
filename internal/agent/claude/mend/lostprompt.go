package mend

import (
	"slices"
	"sort"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/agent/claude/home"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// lostPromptBefore restores a lost prompt, if it is the missing parent of some records: an answer, or what the client adds to a
// prompt, behind a finished answer or at the very beginning. Where it is less sure that a prompt stood there, behind what the client itself
// has written, it does so only if its words are found.
func (c *Checker) lostPromptBefore(id string, children []*node, p *node) bool {
	n := children[0]
	if n.Role == content.RoleUser && !n.Meta || n.Role == content.RoleResult || n.Filler || n.Synthetic || n.Summary || n.AtStart {
		return false
	}
	for p != nil && p.Role == content.RoleOther && c.unread(p) { // what is left of the prompt itself
		p = p.up
	}
	if n.Role == content.RoleLink && n.Attachment == "" {
		return false
	}
	told, p := c.promptBetween(p, n)
	if !c.promptStood(id, p, n) && (told.source == "" || !told.sure || !mayStandBehind(p, n)) {
		return false
	}
	d := c.find(n, faults.LostPrompt, "the prompt that this answers is not in the file: the client forgets it and everything above")
	d.Fix, d.Lost = finding.StandIn, 1
	if overLinks(p) == nil {
		d.Message = "the first prompt is not in the file: the client begins without it"
	}
	if c.restored(d, id, p, n) {
		return true
	}
	words := told.words
	switch open := c.openPrompt(n); {
	case told.source != "":
		d.Fix, d.Source, d.Lost = finding.Recovered, told.source, 0
	case open != nil:
		d.Rule, d.Fix, d.Lost = faults.BrokenParent, finding.Exact, 0
		d.Message = "the record's parent is not in the file: the client forgets everything above it"
		for _, m := range children {
			if !rooted(open, m) {
				c.hang(m, open, d)
			}
		}
		return true
	default:
		words = content.LostPrompt
	}
	m := format.Made{UUID: id, When: n.When, Typ: "user", Message: format.Object{"role": "user", "content": words}}
	if m.When != 0 {
		m.When--
	}
	if p != nil {
		m.Parent = p.UUID
	}
	c.insert(d, m, n, finding.Before)
	return true
}

// promptStood says whether, behind a record and in front of another whose parent is missing, a prompt stood for sure, whether or not its
// words are found: behind a finished answer, or at the very beginning.
func (c *Checker) promptStood(id string, p, n *node) bool {
	before := overLinks(p) // what the client adds by itself does not end a turn
	switch {
	case n.Role == content.RoleUser:
		return false
	case before == nil: // else a record is missing among those that the client adds to the first prompt
		return p == nil || p.Attachment == "" || p.AtStart
	case before.Role != content.RoleAssistant || before.Msg == n.Msg && n.Msg != "" || before.Filler && n.Role == content.RoleLink:
		return false
	}
	return c.turnEnded(id, before, n)
}

// mayStandBehind says whether a prompt may stand behind a record, in front of another: behind an answer that is not the other's own, or
// behind what the client has written by itself.
func mayStandBehind(p, n *node) bool {
	for p != nil && p.Role == content.RoleLink && p.Attachment == "" || p != nil && p.Role == content.RoleLink && p.up != nil {
		p = p.up
	}
	switch {
	case p == nil || p.Role == content.RoleLink:
		return false
	case p.Role == content.RoleAssistant:
		return p.Msg != n.Msg || n.Msg == ""
	}
	return p.Role == content.RoleUser && (p.Meta || p.AsksNothing || p.Summary || p.Continues)
}

// openPrompt is the last prompt in front of an answer that has no answer yet: two clients have written in turns. nil if there
// is none near.
func (c *Checker) openPrompt(answer *node) *node {
	if answer.Role != content.RoleAssistant || answer.When == 0 {
		return nil
	}
	for m, steps := answer.front, 0; m != nil && steps < maxSiblings; m, steps = m.front, steps+1 {
		if m.IsPrompt() && !m.AsksNothing && m.first == nil && m.dropped == nil && m.new == nil && m.When != 0 && m.When <= answer.When {
			return m
		}
	}
	return nil
}

// pause is how long, in milliseconds, must pass between two records for a prompt between them to be assumed without any other
// sign.
const pause = 30_000

// turnEnded says whether a prompt stood between the end of an answer and a record whose parent is missing.
func (c *Checker) turnEnded(id string, p, n *node) bool {
	if c.snapshots[id] || p.Stop == "end_turn" || p.Stop == "stop_sequence" {
		return true
	}
	if p.Stop != "" {
		return false
	}
	next := sort.Search(len(c.queued), func(i int) bool { return p.Pos().Less(c.queued[i].Pos) })
	if next < len(c.queued) && c.queued[next].Pos.Less(n.Pos()) {
		return true
	}
	return len(c.queued) == 0 && p.When != 0 && n.When-p.When > pause
}

// told are the words of a lost prompt.
type told struct {
	words, source string // the source is "" if they are not found
	sure          bool   // they can be nobody else's
}

// promptBetween finds the words of a lost prompt that stood between two records, and the record that it hung on. That is another one than
// p if the request shows that the user had gone back.
func (c *Checker) promptBetween(p, n *node) (told, *node) {
	from := int64(0)
	if overLinks(p) != nil { // a prompt from a pipe is announced in front of what hooks do at the start
		from = p.Pos().Line
	}
	if c.earlierAnswer(n) {
		return told{}, p
	}
	until := c.nextPrompt(n)
	request := c.askedBefore(n)
	var best *evidence.Echo
	for _, e := range []*evidence.Echo{c.echoLeft(from, n), c.echoBefore(min(until, n.Pos().Line), from), c.echoInFront(p, n, request), c.echoAfter(from, until, n, request), c.promptAbove(n)} {
		switch {
		case e == nil:
		case request != nil && request.sent(e):
			t := told{e.Words(), e.Source + provedWords, !e.Late || !c.askedLately(e, n)}
			if (request.first || request.on != nil) && request.only(&c.proof, e) && !rooted(request.on, n) && c.wentBack(p, request.on, n) {
				p = request.on
			}
			return t, p
		case best == nil && !(request != nil && e.Last) && !(e.Late && c.takenAlong(from, n) && c.askedLately(e, n)):
			best = e
		}
	}
	if best != nil {
		return told{best.Words(), best.Source, !best.Late || best.Leaf != "" && !c.askedLately(best, n)}, p
	}
	words, source := c.typedBetween(p, n)
	if source == "" && p == nil && c.opts.Beside != nil {
		words, source = c.opts.Beside.Begun(func(answer string) bool { return len(c.answerRecords(answer, n.index)) > 0 })
	}
	return told{words, source, false}, p
}

// takenAlong says whether, behind a line and in front of a record, the client notes that it took a prompt out of its queue: a turn went on there,
// whose prompt that is not.
func (c *Checker) takenAlong(from int64, n *node) bool {
	return slices.ContainsFunc(c.echoes[c.echoFrom(from+1):max(c.echoFrom(from+1), c.echoFrom(n.Pos().Line))], func(e evidence.Echo) bool { return e.Unqueued })
}

// askedLately says whether one of the prompts in front of a record has an echo's words.
func (c *Checker) askedLately(e *evidence.Echo, n *node) bool {
	earlier := c.promptsInFront(n)
	return slices.ContainsFunc(promptForms(e.Words()), func(sum uint64) bool { return earlier[sum] != nil })
}

// wentBack says whether a prompt that hung on a record, nil for none, hung on an older one than p, or on another branch: neither on p nor
// on what the client added behind it by itself.
func (c *Checker) wentBack(p, on, n *node) bool {
	for p != nil && p != on && p.Role != content.RoleAssistant && p.Role != content.RoleResult && !(p.IsPrompt() && !p.AsksNothing) {
		p = p.up
	}
	return p != on && (on == nil || !under(on, n)) && !(on != nil && p != nil && p.Role == content.RoleAssistant && (p.Msg == on.Msg || under(on, p)))
}

// echoInFront is the last echo in front of the whole conversation, where a fork has it, of a prompt that stood between two records: the
// request shows that, or, without one, the times.
func (c *Checker) echoInFront(p, n *node, request *asked) *evidence.Echo {
	for i := min(c.echoFrom(c.nodes[0].Pos().Line), earlierPrompts) - 1; i >= 0; i-- {
		e := &c.echoes[i]
		inTime := p != nil && p.When != 0 && c.nodes[0].When != 0 && c.nodes[0].When < e.When && e.When > p.When && e.When <= n.When
		if !e.Late && !e.Unqueued && (request == nil && inTime || request != nil && request.sent(e)) && !c.hasItsPrompt(i) {
			return e
		}
	}
	return nil
}

// earlierAnswer says whether another answer without its prompt stands behind one, before the next prompt, though it is older: two clients
// have written in turns, and what tells of a prompt there tells of that one's.
func (c *Checker) earlierAnswer(n *node) bool {
	for _, m := range c.nodes[n.index+1 : min(len(c.nodes), n.index+maxSiblings)] {
		switch {
		case m.Side:
		case m.IsPrompt():
			return false
		case m.up == nil && m.Role == content.RoleAssistant && m.Sent() && m.Parent != "" && m.Msg != n.Msg && m.When != 0 && m.When < n.When:
			return true
		}
	}
	return false
}

// quotedByClient is a text as a JSON string, with the escapes that the client writes.
func quotedByClient(words string) []byte {
	whole := format.Object{"c": words}.JSON()
	return whole[len(`{"c":`) : len(whole)-len("}")]
}

// longestTurn is how far back from a record, in milliseconds, a typed prompt is looked for if the record in front has no time.
const longestTurn = 10 * 60 * 1000

// typedBetween finds the prompt that was typed last between two records, in the client's list of typed prompts. What was typed
// before the first record belongs to another prompt. A prompt that waited for the end of an answer has a queue-operation record
// instead.
func (c *Checker) typedBetween(p, n *node) (words, source string) {
	if c.opts.Beside == nil || n.When == 0 {
		return "", ""
	}
	from := n.When - longestTurn
	if p != nil && p.When != 0 {
		from = p.When
	}
	typed := c.opts.Beside.Typed()
	until := sort.Search(len(typed), func(i int) bool { return typed[i].When > n.When })
	for i := until - 1; i >= 0 && typed[i].When > from; i-- {
		if !c.typedUsed[i] && !c.stands(typed[i]) {
			if c.typedUsed == nil {
				c.typedUsed = map[int]bool{}
			}
			c.typedUsed[i] = true
			return typed[i].Words, home.PromptsFile
		}
	}
	return "", ""
}

// typing is how far apart, in milliseconds, the times of a prompt's record and of its entry in the list of typed prompts may
// be.
const typing = 2000

// stands says whether a typed prompt has a record in the session.
func (c *Checker) stands(t evidence.Typed) bool {
	from := sort.Search(len(c.byTime), func(i int) bool { return c.byTime[i].When >= t.When-typing })
	for _, n := range c.byTime[from:] {
		if n.When > t.When+typing {
			return false
		}
		if n.IsPrompt() {
			return true
		}
	}
	return false
}

// echoLeft is the last prompt that has left the queue for a turn behind a line and in front of a record, and was not asked there.
func (c *Checker) echoLeft(from int64, n *node) *evidence.Echo {
	until := c.echoFrom(n.Pos().Line)
	for i := until - 1; i >= max(0, until-maxQueue); i-- {
		if e := &c.echoes[i]; e.Left > from && e.Left < n.Pos().Line && !c.askedLately(e, n) {
			return e
		}
	}
	return nil
}

// echoBefore is the last echo, on a line before one and behind another, of the kind that is written before the prompt itself.
func (c *Checker) echoBefore(line, from int64) *evidence.Echo {
	for i := c.echoFrom(line) - 1; i >= 0 && c.echoes[i].At.Line > from; i-- {
		if !c.echoes[i].Late && !c.echoes[i].Unqueued && !c.hasItsPrompt(i) {
			return &c.echoes[i]
		}
	}
	return nil
}

// hasItsPrompt says whether the prompt that is told in front of itself stands behind that, in front of what is told so next: then these
// words are nobody else's.
func (c *Checker) hasItsPrompt(told int) bool {
	e, until := &c.echoes[told], int64(1)<<62
	for i := told + 1; i < min(len(c.echoes), told+maxSiblings); i++ {
		if !c.echoes[i].Late {
			until = c.echoes[i].At.Line
			break
		}
	}
	sums := promptForms(e.Words())
	from := sort.Search(len(c.promptAt), func(i int) bool { return c.nodes[c.promptAt[i]].Pos().Line >= e.At.Line })
	return slices.ContainsFunc(c.promptAt[from:min(len(c.promptAt), from+earlierPrompts)], func(i int) bool {
		return c.nodes[i].Pos().Line < until && slices.Contains(sums, c.nodes[i].Message)
	})
}

// echoAfter is the first echo, on a line between two, of the kind that is written after the prompt itself. One in front of the
// answer may repeat an earlier prompt: at the end of a turn, the client notes once more how it began.
func (c *Checker) echoAfter(from, until int64, answer *node, request *asked) *evidence.Echo {
	var earlier map[uint64]*node
	for i := c.echoFrom(from + 1); i < len(c.echoes) && c.echoes[i].At.Line < until; i++ {
		e := &c.echoes[i]
		if !e.Late || request != nil && !request.sent(e) {
			continue
		}
		if end := c.ids.get(e.Leaf); e.Leaf != "" && end != nil && end.index < answer.index {
			continue // it tells how an earlier turn began
		}
		if earlier == nil {
			earlier = c.promptsInFront(answer)
		}
		of := slices.IndexFunc(promptForms(e.Words()), func(sum uint64) bool { return earlier[sum] != nil })
		inFront := e.At.Line < answer.Pos().Line
		if inFront && of >= 0 || (inFront || len(c.queued) > 0) && c.putBackLately(e.Words()) {
			continue // a prompt that was announced is told twice: in front of it, and behind its turn
		}
		if of >= 0 && !c.toldBetween(earlier[promptForms(e.Words())[of]], answer, e.Words()) {
			continue // it is the first echo of an earlier prompt
		}
		return e
	}
	return nil
}

// putBackLately says whether one of the prompts that hist restored last has these words.
func (c *Checker) putBackLately(words string) bool {
	for _, n := range c.added[max(0, len(c.added)-earlierPrompts):] {
		if n.IsPrompt() && n.new.Message["content"] == words {
			return true
		}
	}
	return false
}

// earlierPrompts is how many prompts in front of a lost one are checked for having the same words.
const earlierPrompts = 8

// toldBetween says whether there is an echo of these words behind a prompt and not far in front of another record.
func (c *Checker) toldBetween(prompt, until *node, words string) bool {
	last := c.echoFrom(until.Pos().Line)
	return slices.ContainsFunc(c.echoes[max(c.echoFrom(prompt.Pos().Line), last-maxSiblings):last], func(e evidence.Echo) bool {
		return e.Late && e.Words() == words
	})
}

// promptsInFront are the last prompts in front of a record, by the hashes of their messages.
func (c *Checker) promptsInFront(n *node) map[uint64]*node {
	sums := map[uint64]*node{}
	c.nextPrompt(n)
	at, _ := slices.BinarySearch(c.promptAt, n.index)
	for _, i := range c.promptAt[max(0, at-earlierPrompts):at] {
		sums[c.nodes[i].Message] = c.nodes[i]
	}
	return sums
}

// promptForms are the hashes of the messages in which clients, and hist, write a prompt with these words.
func promptForms(words string) []uint64 {
	quoted := string(jsonl.AppendQuote(nil, words))
	return []uint64{
		session.QuickSum(content.NodeSeed, []byte(`{"role":"user","content":`+quoted+`}`)),
		session.QuickSum(content.NodeSeed, []byte(`{"role":"user","content":[{"type":"text","text":`+quoted+`}]}`)),
		session.QuickSum(content.NodeSeed, format.Object{"role": "user", "content": words}.JSON()),
	}
}

// echoFrom is the index of the first echo on a line or behind it.
func (c *Checker) echoFrom(line int64) int {
	return sort.Search(len(c.echoes), func(i int) bool { return c.echoes[i].At.Line >= line })
}

// nextPrompt is the line of the next prompt behind a record.
func (c *Checker) nextPrompt(n *node) int64 {
	if c.promptAt == nil {
		c.promptAt = []int{} // there may be none
		for _, m := range c.nodes {
			if m.IsPrompt() && !m.Side {
				c.promptAt = append(c.promptAt, m.index)
			}
		}
	}
	if i, _ := slices.BinarySearch(c.promptAt, n.index+1); i < len(c.promptAt) {
		return c.nodes[c.promptAt[i]].Pos().Line
	}
	return 1 << 62
}
