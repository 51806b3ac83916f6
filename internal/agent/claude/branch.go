package claude

import (
	"fmt"
	"slices"
	"time"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// tipOf is the record that the newest client begins at, given what the last last-prompt record names.
func (c *Checker) tipOf(leaf string) *node {
	start := c.byUUID[leaf]
	if start == nil || start.dropped != nil || !saysAnything(start, hung) {
		return c.newestBelow(lastOf(c.nodes, func(n *node) bool { return !n.side && n.dropped == nil && !c.unread(n) }))
	}
	return c.newestBelow(answerHead(start, hung))
}

// saysAnything says whether the way up from a record leads to a message: the newest client takes no leaf that nothing is
// said above, as what it adds to an answer that is lost (measured).
func saysAnything(n *node, up func(*node) *node) bool {
	seen := map[*node]bool{}
	for n != nil && !n.hasMessage() && n.role != roleBoundary && !seen[n] {
		seen[n] = true
		n = up(n)
	}
	return n != nil && !seen[n]
}

// lastOf is the last record with a message of those that count, else the last of any kind, where the newest client begins
// if the file does not say where the conversation ends.
func lastOf(nodes []*node, counts func(*node) bool) (last *node) {
	for _, n := range slices.Backward(nodes) {
		if counts(n) && (n.hasMessage() || n.role == roleBoundary) {
			return n
		}
		if last == nil && counts(n) {
			last = n
		}
	}
	return last
}

// answerHead is the first record of the answer whose call or output a record is, else the record itself: of parallel calls
// the client goes on behind another one than the leaf that it noted while they ran (measured with 2.1.330).
func answerHead(n *node, up func(*node) *node) *node {
	if n == nil || n.role != roleResult && (n.role != roleAssistant || !n.has(blockCall)) {
		return n
	}
	head := n
	msg := ""
	for p, steps := n, 0; p != nil && steps < maxSiblings; p, steps = up(p), steps+1 {
		switch {
		case p.role == roleResult:
		case p.role == roleAssistant && p.msg != "" && (msg == "" || p.msg == msg):
			head, msg = p, p.msg
		default:
			return head
		}
	}
	return head
}

// newestBelow is the last record in the file that hangs on one and stands behind it, itself if there is none.
func (c *Checker) newestBelow(n *node) *node {
	if n == nil {
		return nil
	}
	best := n
	c.below(n, func(m *node) bool {
		if m.index > best.index && !m.side && m.dropped == nil && !c.unread(m) && !c.besideCall(m) {
			best = m
		}
		return true
	})
	return best
}

// besideCall says whether a record is an output off the path that the client collects with its call.
func (c *Checker) besideCall(m *node) bool {
	return m.role == roleResult && m.up != nil && m.many == 0 && m.up.many > 1
}

// hung is what a record hangs on once all is mended.
func hung(n *node) *node { return n.up }

// nodeSet is a set of records.
type nodeSet struct {
	in   []bool // by the records' numbers
	list []*node
	kept []*node // those of them that are sent only because a compaction has kept them
}

func (s *nodeSet) has(n *node) bool { return n != nil && n.number < len(s.in) && s.in[n.number] }

func (s *nodeSet) add(n *node) {
	if !s.in[n.number] {
		s.in[n.number] = true
		s.list = append(s.list, n)
	}
}

// reach are the records that the newest client sends when it begins at a tip: its path, what belongs to the answers on it,
// and what compactions on it have kept.
func (c *Checker) reach(tip *node, up func(*node) *node, keeps func(*node) []*node, all []*node) *nodeSet {
	sent := &nodeSet{in: make([]bool, c.numbers), list: make([]*node, 0, len(all))}
	answers := make(map[string]bool, len(all)/4)
	calls := make(map[string]bool, len(c.heard))
	var kept []*node
	for p := tip; p != nil && !sent.has(p); p = up(p) {
		sent.add(p)
		if len(p.keeps) > 0 {
			kept = append(kept, keeps(p)...)
		}
		if p.role == roleAssistant && p.msg != "" && !p.filler && !p.synthetic {
			answers[p.msg] = true
		}
	}
	known, last := "", false // what is known of the answer of the record before
	for _, n := range all {
		if n.role == roleAssistant && n.msg != "" && n.dropped == nil && !n.side {
			if n.msg != known {
				known, last = n.msg, answers[n.msg]
			}
			if last {
				sent.add(n)
			}
		}
		if sent.has(n) {
			for id := range n.each(blockCall) {
				calls[id] = true
			}
		}
	}
	for _, n := range all {
		if n.role != roleResult || n.dropped != nil || n.side {
			continue
		}
		for id := range n.each(blockResult) {
			if calls[id] {
				sent.add(n)
			}
		}
	}
	for _, n := range kept {
		if !sent.has(n) {
			sent.add(n)
			sent.kept = append(sent.kept, n)
		}
	}
	return sent
}

// hungKept are the records that a compaction's mark keeps once all is mended.
func (c *Checker) hungKept(mark *node) []*node {
	list, _ := keptBy(mark, c.byUUID)
	return list
}

// sentNow are the records that are sent with the tree as it is now, made anew only if anything was changed.
func (c *Checker) sentNow() *nodeSet {
	now := state{c.leaf, len(c.found), c.changes}
	if c.current != nil && c.currentAt == now {
		return c.current
	}
	tip := c.tipOf(c.leaf)
	if c.asItWas == nil || tip != c.asItWas.list[0] || len(c.added) > 0 || c.changes > 0 {
		c.asItWas = c.reach(tip, hung, c.hungKept, c.all())
	}
	c.current, c.currentAt = c.asItWas, now
	return c.current
}

// state is what the records that are sent hang on: each change of the tree is counted.
type state struct {
	leaf           string
	found, changes int
}

// sentAfter are the records that are sent once all is mended.
func (c *Checker) sentAfter() *nodeSet {
	now := c.sentNow()
	sent := &nodeSet{slices.Clone(now.in), slices.Clone(now.list), now.kept}
	for _, n := range c.nodes {
		if n.dropped != nil || !n.sent() && sent.has(n.up) {
			sent.add(n)
		}
	}
	return sent
}

// count is how many content blocks the records hold that are sent.
func count(sent *nodeSet) (blocks int64) {
	for _, n := range sent.list {
		if n.sent() && !n.filler && n.dropped == nil {
			blocks += int64(len(n.blocks))
		}
	}
	return blocks
}

// maxBranches is how many branches are mended: a file with more is nobody's conversation.
const maxBranches = 100

// branches mends branches that nothing explains. Of a file with too many it only says so.
func (c *Checker) branches() {
	tip := c.tipOf(c.leaf)
	if tip == nil {
		return
	}
	leaf, pointed, found := c.leaf, c.pointed, len(c.found)
	for round := 0; ; round++ { // each mends one branch
		sent := c.sentNow
		if round > 0 {
			sent = func() *nodeSet { return c.reach(tip, hung, c.hungKept, c.all()) }
		}
		t := c.trunkOf(tip)
		head, end := c.lostBranch(sent(), t)
		if head == nil {
			return
		}
		d := c.add(&draft{about: head, always: true, Finding: finding.Finding{
			Rule: ruleLostBranch, Impact: finding.Loses, Fix: finding.Exact,
			Message: "two records follow the same one, and no rewind explains it: the client sends one side only, and forgets this one",
		}})
		if round == maxBranches {
			c.hangBack(c.found[found:])
			c.leaf, c.pointed, c.found = leaf, pointed, c.found[:found+1]
			first := c.found[found]
			first.Edits, first.Fix = nil, finding.NoFix
			first.Message = fmt.Sprintf("more than %d branches that nothing explains: the client sends one of them; --branch with a record's id chooses another", maxBranches)
			return
		}
		head.branchDone = true
		tip = c.behind(d, head, end, t)
	}
}

// hangBack takes back the moves that were made last, for the sake of some findings.
func (c *Checker) hangBack(drafts []*draft) {
	back := map[*draft]bool{}
	for _, d := range drafts {
		back[d] = true
	}
	for _, n := range c.nodes {
		for len(n.moves) > 0 && back[n.moves[len(n.moves)-1].by] {
			last := n.moves[len(n.moves)-1]
			n.moves = n.moves[:len(n.moves)-1]
			n.leave()
			n.up, n.above = last.from, last.from
			c.changes++
			n.join()
		}
	}
}

// lostBranch finds a branch that holds answers and is not sent: its first record and its last.
func (c *Checker) lostBranch(sent *nodeSet, t *trunk) (head, end *node) {
	for _, n := range c.nodes {
		if n.side || sent.has(n) || n.dropped != nil || n.branchDone || n.up == nil || !sent.has(n.up) || n.role == roleResult {
			continue
		}
		last, answered := c.branchEnd(n)
		if answered && !c.explained(n, last, t) {
			return n, last
		}
		n.branchDone = true
	}
	return nil, nil
}

// branchEnd is the last record below one, and whether the model has answered there.
func (c *Checker) branchEnd(n *node) (last *node, answered bool) {
	last = n
	c.below(n, func(m *node) bool {
		if m.side || m.dropped != nil {
			return false
		}
		if m.role == roleAssistant && m.sent() && !m.filler {
			answered = true
		}
		if m.index > last.index {
			last = m
		}
		return true
	})
	return last, answered
}

// explained says whether a branch was left on purpose: the client has noted a rewind, or is one that does not note them
// and the branch was over before the other began.
func (c *Checker) explained(head, end *node, t *trunk) bool {
	fork, tip := t.forkOf(c, head), t.tip
	winner := fork.winner // the branch that is sent instead
	if winner == nil {    // nobody went on there; what hangs on the tip itself is a matter of where the client begins
		return fork.at == tip || fork.at == nil || c.leftByChoice(head)
	}
	if winner.isPrompt() && !head.isPrompt() && fork.inTurn && !c.leftByChoice(head) {
		return false // nobody goes back to the middle of a turn
	}
	if t.continuesByItself(winner) && !c.leftByChoice(head) {
		return c.unfinishedAnswer(head, end)
	}
	if !winner.isPrompt() && winner.role != roleAssistant || head.msg != "" && head.msg == winner.msg {
		return true
	}
	if fork.rewound || c.rewound(head) || c.leftByChoice(head) {
		return true
	}
	overlap := end.when != 0 && winner.when != 0 && end.when > winner.when && tip.when >= head.when
	if known := end.when != 0 && tip.when != 0; known && (head.index > winner.index && end.when < winner.when || head.index < winner.index && tip.when < head.when) {
		return false // who comes later in the file was written earlier: that is no rewind
	}
	if before(c.written, firstNoted) {
		return !overlap || head.role == roleAssistant && !head.isPrompt()
	}
	return false
}

// unfinishedAnswer says whether a branch is no more than an answer with calls of which none was answered: a client that
// was interrupted there leaves it out by itself when it goes on (2.1.50 and 2.1.150, measured).
func (c *Checker) unfinishedAnswer(head, end *node) bool {
	called := false
	for m := end; m != nil; m = m.up {
		if m.hasMessage() && (m.role != roleAssistant || m.msg != head.msg) {
			return false
		}
		for id := range m.each(blockCall) {
			if len(c.results()[id]) > 0 {
				return false
			}
			called = true
		}
		if m == head {
			return called
		}
	}
	return false
}

// firstNoted is the first version that is known to note rewinds; 2.1.215 does not.
const firstNoted = "2.1.330"

// trunk is the way from a tip to its root, and what hangs on it.
type trunk struct {
	tip   *node
	forks map[*node]*fork // of the records on the way, and of those looked at beside it; nil until one is asked for
}

// fork is what can be said of a branch that leaves the way to the tip at a record.
type fork struct {
	at      *node
	winner  *node // the first record behind it on the way that says something, nil if none does
	rewound bool  // behind it on the way the client has noted a rewind
	inTurn  bool  // it stands in the middle of a turn: behind a call
}

func (c *Checker) trunkOf(tip *node) *trunk { return &trunk{tip: tip} }

// walk goes from the tip to the root.
func (t *trunk) walk(c *Checker) {
	t.forks = map[*node]*fork{}
	var said *node
	rewound := false
	var way []*fork
	for p := t.tip; p != nil; p = p.up {
		f := &fork{at: p, winner: said, rewound: rewound}
		t.forks[p] = f
		way = append(way, f)
		if p.hasMessage() {
			said = p
		}
		rewound = rewound || p.isPrompt() && c.rewound(p)
	}
	called := false
	for _, f := range slices.Backward(way) {
		if f.at.hasMessage() {
			called = f.at.role == roleAssistant && f.at.has(blockCall)
		}
		f.inTurn = called
	}
}

// continuesByItself says whether a branch on the way to the tip begins with a prompt of the client's own that the model
// answers at once. Somebody who goes back says something there; the client, which goes on by itself after an interruption,
// has been seen to hang its prompt on the end that an old last-prompt record names (reported of 2.1.245 and 2.1.246).
func (t *trunk) continuesByItself(first *node) bool {
	answer := t.forks[first].winner
	return first.role == roleUser && first.meta && answer != nil && answer.role == roleAssistant
}

// forkOf is where the way up from a record meets the trunk; without a place in the tree where it does not.
func (t *trunk) forkOf(c *Checker, head *node) *fork {
	if t.forks == nil {
		t.walk(c)
	}
	f := &fork{}
	var beside []*node
	for p := head.up; p != nil; p = p.up {
		if known := t.forks[p]; known != nil {
			f = known
			break
		}
		beside = append(beside, p)
	}
	for _, p := range beside {
		t.forks[p] = f
	}
	return f
}

// behind hangs one branch behind the other; it returns the tip of what there is then.
func (c *Checker) behind(d *draft, head, end *node, t *trunk) *node {
	fork, tip := t.forkOf(c, head), t.tip
	winner := fork.winner
	if winner == nil {
		c.hang(head, tip, d)
		return end
	}
	var next *node // the first prompt on the side that is sent that came after the branch was over
	for p := tip; p != nil && p != fork.at; p = p.up {
		if p.isPrompt() && p != winner && end.when != 0 && p.when > end.when {
			next = p
		}
	}
	switch {
	case end.index < winner.index && c.complete(end): // one side after the other
		c.hang(winner, end, d)
		return tip
	case next != nil:
		c.hang(head, next.up, d)
		c.hang(next, end, d)
		return tip
	case head.when < winner.when && end.when < tip.when && winner.isPrompt() && head.isPrompt():
		c.hang(winner, end, d)
		return tip
	}
	c.hang(head, tip, d)
	if c.byUUID[c.leaf] != nil && !under(end, c.byUUID[c.leaf]) {
		c.pointAt(d, end, false)
	}
	return end
}

// complete says whether a turn may follow a record: no call is open there.
func (c *Checker) complete(n *node) bool {
	for id := range n.each(blockCall) {
		if len(c.results()[id]) == 0 {
			return false
		}
	}
	return n.role != roleResult
}

// wrongLeaf reports where the newest client begins at a record that leaves out what follows.
func (c *Checker) wrongLeaf() {
	tip := c.tipOf(c.leaf)
	if tip == nil || c.pointed {
		return
	}
	full := c.deepest(tip)
	if full == tip || full == nil {
		return
	}
	sent, all := c.reach(tip, hung, c.hungKept, c.all()), c.reach(full, hung, c.hungKept, c.all())
	lost := false
	for _, n := range all.list {
		lost = lost || n.sent() && !n.filler && !sent.has(n)
	}
	if !lost {
		return
	}
	d := c.add(&draft{about: full, always: true, Finding: finding.Finding{
		Rule: ruleWrongLeaf, Impact: finding.Loses, Fix: finding.Exact,
		Message: "the client begins before this record: what follows is not sent",
	}})
	c.pointAt(d, full, false)
}

// wrongTime reports where clients up to 2.1.2 begin at a record in the middle: they take the message with the latest time,
// the first of equals, and the end of the conversation has none or an earlier one.
func (c *Checker) wrongTime() {
	tip := c.tipOf(c.leaf)
	for tip != nil && (!tip.sent() || tip.dropped != nil) {
		tip = tip.up
	}
	if tip == nil || tip.new != nil || !c.oldTarget() {
		return
	}
	latest := tip
	for _, n := range c.nodes {
		if n.sent() && !n.side && n.dropped == nil && (n.when > latest.when || n.when == latest.when && n.index < latest.index) {
			latest = n
		}
	}
	if latest == tip || latest.when == tip.when && latest.when != 0 || !under(tip, latest) || !saysMore(tip, latest) {
		return
	}
	d := c.add(&draft{about: tip, always: true, Finding: finding.Finding{
		Rule: ruleWrongLeaf, Impact: c.worst(finding.Loses, finding.Notes, finding.Notes), Fix: finding.StandIn,
		Message: "versions up to 2.1.2 begin at the message with the latest time, which is not this one, the last: they do not send what stands behind that",
	}})
	if latest.when != 0 {
		d.Edits = append(d.Edits, tip.timed(latest.when+1))
		return
	}
	for _, n := range c.nodes { // a message without a time is taken for none that is later, nor earlier: all need one
		if n.sent() && n.dropped == nil {
			d.Edits = append(d.Edits, n.timed(noTime+int64(n.index)))
		}
	}
}

// saysMore says whether anything that was said stands behind a record on the way to a tip. Commands of the client's own do
// not count: in a terminal their times go back a few milliseconds.
func saysMore(tip, n *node) bool {
	for ; tip != nil && tip != n; tip = tip.up {
		if tip.sent() && !tip.meta && !tip.asksNothing && !tip.filler {
			return true
		}
	}
	return false
}

// noTime is the time, in milliseconds since 1970, from which on records get theirs of which none has any: 2025-01-01.
const noTime = 1_735_689_600_000

// timed is the edit that gives a record a time.
func (n *node) timed(when int64) finding.Edit {
	words := time.UnixMilli(when).UTC().Format("2006-01-02T15:04:05.000Z")
	return finding.Edit{At: n.ref.Pos, Op: finding.Splice, Cuts: []finding.Cut{member(n.timeSpan, n.start, "timestamp", words)}}
}

// deepest follows what hangs on a record to its end, whatever the order of the file.
func (c *Checker) deepest(n *node) *node {
	for steps := 0; steps <= len(c.nodes); steps++ {
		var next *node
		for m := n.first; m != nil; m = m.latter {
			if m.side || m.dropped != nil || c.unread(m) || c.besideCall(m) {
				continue
			}
			if next == nil || m.when > next.when {
				next = m
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// pointAt adds a last-prompt record that names where the conversation ends, and says whether somebody has chosen that.
func (c *Checker) pointAt(d *draft, n *node, chosen bool) {
	c.leaf, c.pointed = n.uuid, true
	prompt := ""
	for _, t := range c.echoes {
		if t.last {
			prompt = t.text
		}
	}
	line := []byte(`{"type":"last-prompt","lastPrompt":`)
	line = jsonl.AppendQuote(line, prompt)
	line = append(jsonl.AppendQuote(append(line, `,"leafUuid":`...), n.uuid), `,"sessionId":`...)
	line = jsonl.AppendQuote(line, c.beside.session)
	if chosen {
		line = append(jsonl.AppendQuote(append(line, `,"hist":`...), chosenMark), '}')
	} else {
		line = append(line, '}')
	}
	d.Edits = append(d.Edits, finding.Edit{At: c.last.Pos, Op: finding.After, New: finding.Content{Literal: line}})
}

// order notes records that stand in front of their parents.
func (c *Checker) order() {
	for _, n := range c.nodes {
		if n.up != nil && n.new == nil && n.up.new == nil && !n.side && n.up.index > n.index && len(n.moves) == 0 && n.hasMessage() && !opening(n.up) && !addedLate(n) {
			c.add(&draft{about: n, always: true, Finding: finding.Finding{Rule: ruleRecordOrder, Impact: finding.Notes, Message: "the record stands in front of its parent"}})
			return
		}
	}
}

// opening says whether nobody has answered yet where a record stands: the client may write the first prompt, and what it
// adds to that, after the answer's first records (seen in 2.1.215, in a terminal).
func opening(n *node) bool {
	for steps := 0; n != nil && steps < maxOpening; steps++ {
		if n.role == roleAssistant || n.role == roleResult {
			return false
		}
		n = n.up
	}
	return n == nil
}

// addedLate says whether only what the client adds to a prompt stands behind the answer's first record: it may write that
// later, when a session is resumed (seen in 2.1.300, in a terminal).
func addedLate(n *node) bool {
	p := n.up
	for steps := 0; p != nil && p.attachment != "" && steps < maxOpening; steps++ {
		p = p.up
	}
	return p != nil && p != n.up && p.isPrompt() && p.index < n.index
}

// maxOpening is how many records the client adds to a first prompt at most.
const maxOpening = 64
