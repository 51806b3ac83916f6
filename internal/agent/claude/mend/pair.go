package mend

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// noteCalls keeps what a tool's structured result shows of its call, if the call is missing so far or has a bad name or input.
func (c *Checker) noteCalls(rec *session.Record, n *node) {
	bad := slices.ContainsFunc(n.Faults, func(f content.Fault) bool { return f.Rule == faults.BadInput || f.Rule == faults.BadToolName })
	for i := range n.Blocks {
		b := &n.Blocks[i]
		c.noteID(b)
		switch {
		case b.Kind == content.BlockCall && bad:
			if c.badCalls == nil {
				c.badCalls = map[string]bool{}
			}
			c.badCalls[b.ID] = true
		case b.Kind == content.BlockCall:
			delete(c.badCalls, b.ID)
		case b.Kind == content.BlockResult && n.ToolResult && n.Rebuilt == nil && (!(c.prior().Says(content.BlockCall, b.ID) || c.called.has(b.ID)) || c.badCalls[b.ID]):
			n.Own().Rebuilt = content.Rebuild(format.Field(rec, format.FieldToolResult))
		}
	}
}

// noteID enters a block's id in the sets that show quickly whether all ids are in order.
func (c *Checker) noteID(b *content.Block) {
	switch b.Kind {
	case content.BlockCall:
		c.called.add(b.ID)
	case content.BlockResult:
		c.answers.add(b.ID)
	default:
		return
	}
	c.oddIDs = c.oddIDs || !content.IsCallID(b.ID)
}

// pair reports what is wrong between calls and their outputs.
func (c *Checker) pair() {
	c.forkedCalls()
	paired := c.paired()
	if !paired {
		c.wrongResultIDs()
		c.sameCallID()
		c.badCallIDs()
	}
	if c.some.faults {
		c.betterInputs()
	}
	if paired {
		return
	}
	c.orphans()
	c.unanswered()
	c.twiceAnswered()
	c.late()
}

// paired says whether all is well with calls and outputs: each has an id of its own that the API accepts, each output hangs on
// its call, and each call has an output.
func (c *Checker) paired() bool {
	if !c.called.apart() || !c.answers.apart() || c.oddIDs || len(c.added) > 0 {
		return false
	}
	open := 0
	for _, n := range c.nodes {
		if n.Side {
			continue
		}
		for i := range n.Blocks {
			switch b := &n.Blocks[i]; b.Kind {
			case content.BlockCall:
				open++
			case content.BlockResult:
				if !n.answers(b) {
					return false
				}
				open--
			}
		}
	}
	return open == 0
}

// answers says whether a block is the output of a call in the record that it hangs on.
func (n *node) answers(b *content.Block) bool {
	return n.Role == content.RoleResult && n.up != nil && !n.up.Side && n.up.Role == content.RoleAssistant && (n.Source == "" || n.Source == n.up.UUID) && n.up.Says(content.BlockCall, b.ID)
}

// betterInputs restores a bad input or name of a call from the structured result of its output, if that has it.
func (c *Checker) betterInputs() {
	for _, n := range c.nodes {
		for i := range n.Faults {
			f := &n.Faults[i]
			if f.Rule != faults.BadInput && f.Rule != faults.BadToolName || f.Fix == finding.Exact {
				continue
			}
			for _, b := range n.Blocks {
				if b.Kind != content.BlockCall || f.At != b.Span.From() {
					continue
				}
				for _, m := range c.results()[b.ID] {
					name, input, known := c.callFrom(m)
					switch {
					case f.Rule == faults.BadToolName && name != content.LostToolName:
						f.Cuts[0].New = replaceValue(f.Cuts[0].New, "name", jsonl.AppendQuote(nil, name))
						f.Fix, f.Source = finding.Recovered, "the structured result of the output"
					case f.Rule == faults.BadInput && known:
						f.Cuts[0].New = replaceValue(f.Cuts[0].New, "input", input.JSON())
						f.Fix, f.Source, f.Lost = finding.Recovered, "the structured result of the output", 0
					}
				}
			}
		}
	}
}

// replaceValue puts another value into what a cut writes, which is either a value or a whole member.
func replaceValue(old []byte, key string, value []byte) []byte {
	prefix := `"` + key + `":`
	if len(old) > len(prefix) && string(old[:len(prefix)]) == prefix {
		out := append([]byte(prefix), value...)
		if old[len(old)-1] == ',' {
			out = append(out, ',')
		}
		return out
	}
	return value
}

// orphans restores the calls of outputs that have none, where the output's parent is not the missing record.
func (c *Checker) orphans() {
	for _, m := range c.nodes {
		if m.Side || m.Role != content.RoleResult || m.dropped != nil || len(m.Blocks) == 0 || m.Blocks[0].Kind != content.BlockResult || c.callNamed(m, m.Blocks[0].ID) != nil || c.inOtherPart(m.Source) || c.endsAnother(m) || c.opts.Forked && m.index == 0 {
			continue
		}
		p := m.up
		d := c.find(m, faults.LostCall, "the call that this output answers is not in the file: the client drops the output, too")
		d.Impact, d.Fix, d.Lost = c.worst(faults.OldAndNewer(finding.Rejects, finding.Loses)), finding.StandIn, 1
		id := m.Source
		if id == "" || c.ids.get(id) != nil {
			id = format.NewID("call", m.UUID)
		}
		for c.ids.get(id) != nil { // hist wrote a record with this id in an earlier repair, and the output does not name it
			id = format.NewID("call", id)
		}
		if !c.restored(d, id, p, m) {
			c.rebuildCall(d, m, id, p, m)
		}
		c.hang(m, c.ids.get(id), d)
	}
}

// unanswered writes outputs for calls that have none.
func (c *Checker) unanswered() {
	u := unansweredCalls{Checker: c, sent: c.sentNow(), next: map[*node]*node{}, ends: map[gap]*node{}}
	for _, n := range c.nodes {
		if n.Side || n.Role != content.RoleAssistant || n.dropped != nil {
			continue
		}
		for id := range n.Each(content.BlockCall) {
			if !c.answered(n, id) {
				u.call(n, id)
			}
		}
	}
}

// unansweredCalls keeps what was found for one call of an answer, for the others of it.
type unansweredCalls struct {
	*Checker
	sent           *nodeSet
	next           map[*node]*node
	ends           map[gap]*node
	onward, beside newest
}

// newest is what was found for the record that was asked about last.
type newest struct{ of, found *node }

func (r *newest) get(of *node, find func(*node) *node) *node {
	if r.of != of {
		r.of, r.found = of, find(of)
	}
	return r.found
}

// call decides about one call without an output: the client was stopped in it, or the output is lost.
func (u *unansweredCalls) call(n *node, id string) {
	c, next := u.Checker, nextSent(n, u.next)
	if brokeOff(n, next) {
		return
	}
	if next == nil {
		next = u.onward.get(n, c.wentOn)
	}
	past := next == nil && !c.opts.Live
	if past {
		next = u.beside.get(n, c.wentPast)
	}
	waits := next != nil && next == c.waiting // the call still ran when this prompt was queued, and then the client was stopped
	switch {
	case (next == nil && c.middleTarget() || waits) && u.sent.has(n) && !c.opts.Live && !c.opts.SubAgent && c.endsWith(n):
		if end := c.closeCall(n, id); waits && end != nil {
			c.hang(next, end, end.edit.in)
			c.waitBehind(next, end)
		}
	case next == nil || !u.sent.has(n) && !(past && u.sent.has(next)):
		if !c.inOtherPart(id) {
			c.unfinished(n)
		}
	default:
		d := c.find(n, faults.LostResult, "the output of this call is not in the file: the client drops the call, too")
		if d.Fix, d.Lost = finding.StandIn, 1; past {
			d.also = []*node{next}
		}
		if !c.isOnlyCounted(d) {
			c.answer(d, n, id, c.lastBefore(n, next, u.ends), next)
		}
	}
}

// isOnlyCounted says whether so many findings of a rule came before this one that it is only counted: what mends it is not written.
func (c *Checker) isOnlyCounted(d *draft) bool {
	if c.listed == nil {
		c.listed = map[*finding.Rule]int{}
	}
	c.listed[d.Rule]++
	d.later = c.listed[d.Rule] > check.MaxOfRule
	return d.later
}

// brokeOff says whether the stream of an answer broke off, so that none of its calls ran: another answer hangs on the last of
// them, where an output would stand, and no reason is given for the model's stop. If an output had been lost, the next answer
// would hang on that. A record that hist has hung there itself proves nothing.
func brokeOff(call, next *node) bool {
	return next != nil && next.new == nil && next.Role == content.RoleAssistant && !next.Synthetic && next.Msg != call.Msg &&
		next.up != nil && next.up.Role == content.RoleAssistant && next.up.Msg == call.Msg && call.Msg != "" && next.up.Stop == ""
}

// wentOn is the model's next answer if it hangs on an output of another call of the same answer, or on what the client told behind that. The client waits for the
// outputs of all calls, so this call must have had one, too. nil if there is no such answer.
func (c *Checker) wentOn(call *node) *node {
	if call.Stop == "" {
		return nil
	}
	_, behind := c.answerOf(call)
	for steps := 0; len(behind) > 0 && steps < maxSiblings; steps++ {
		on := behind[0]
		behind = behind[1:]
		for k := on.first; k != nil; k = k.latter {
			switch {
			case k.Role == content.RoleAssistant && !k.Synthetic && !k.Filler && !k.Side && k.HasMessage() && k.Msg != call.Msg:
				return k
			case !k.HasMessage():
				behind = append(behind, k) // an attachment: what the client tells beside the outputs
			}
		}
	}
	return nil
}

// wentPast is what the user, or the client, said next if a client that was killed while a tool ran goes on beside the call: up to 2.1.215 it
// hangs the next prompt on what it would have sent, the answer without the call (2.1.2 and 2.1.215, measured). Who goes back hangs a prompt
// on a finished turn. nil if there is none.
func (c *Checker) wentPast(call *node) *node {
	head := call
	for steps := 0; head.up != nil && head.up.Role == content.RoleAssistant && head.up.Msg == call.Msg && call.Msg != "" && steps < maxSiblings; steps++ {
		head = head.up
	}
	_, behind := c.answerOf(call) // where the client goes on behind the output of a parallel call
	if above := call.up; above != head.up || above != nil && above.Role != content.RoleAssistant && above.Sent() && !above.AsksNothing {
		behind = append(behind, above)
	}
	for _, on := range behind {
		for k, steps := on.first, 0; k != nil && steps < maxSiblings; k, steps = k.latter, steps+1 {
			if (k.Role == content.RoleUser || k.Filler && on.Role == content.RoleResult) && !k.Side && k.dropped == nil && k.index > call.index {
				return k
			}
		}
	}
	return nil
}

// gap is a place where an answer ends and something else follows.
type gap struct {
	answer string
	next   *node
}

// lastBefore is the last record of an answer, or of any output, between one of its calls and what follows.
func (c *Checker) lastBefore(call, next *node, known map[gap]*node) *node {
	at := gap{call.answer(), next}
	last := known[at]
	for i := next.index - 1; last == nil && i > call.index; i-- {
		if m := c.nodes[i]; m.Role == content.RoleResult && !m.Side || m.Role == content.RoleAssistant && m.Msg == call.Msg && m.Msg != "" {
			last = m
		}
	}
	if last == nil || last.index < call.index {
		last = call
	}
	known[at] = last
	return last
}

// answer writes an output for a call, behind the last record before what follows.
func (c *Checker) answer(d *draft, call *node, callID string, last, next *node) {
	n := c.answeredBeside(d, call, callID, last)
	below := n != nil && under(n, next) // in the session it comes from, it hangs below what follows here
	if n == nil {
		n = c.insertResult(d, call, callID, format.NewID("result", call.UUID, callID), last, finding.After)
	}
	if call.chains() && n.up != nil {
		c.intoChain(d, n, next)
	}
	follows := next.up == call || next.up == call.up || next.up != nil && next.up.Msg == call.Msg && call.Msg != "" && next.up.Role == content.RoleAssistant && next.Role != content.RoleResult && next.Msg != call.Msg
	if follows && !below {
		c.hang(next, n, d) // next followed the answer directly, so now it follows the output
	}
}

// nextSent is the record that follows an answer: the first in the file that hangs on it or on one of its outputs. known caches
// what was found for other parts of the answer.
func nextSent(n *node, known map[*node]*node) *node {
	passed := func(m *node) bool {
		return m.Side || !m.HasMessage() || m.Synthetic || m.Role == content.RoleResult || m.Msg == n.Msg && n.Msg != ""
	}
	todo, seen := []*node{n}, []*node(nil)
	for len(todo) > 0 {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, ok := known[m]; ok {
			continue
		}
		seen = append(seen, m)
		for k := m.first; k != nil; k = k.latter {
			if passed(k) {
				todo = append(todo, k)
			}
		}
	}
	for _, m := range slices.Backward(seen) { // children first
		var best *node
		for k := m.first; k != nil; k = k.latter {
			next := k
			if passed(k) {
				next = known[k]
			}
			if next != nil && (best == nil || next.index < best.index) {
				best = next
			}
		}
		known[m] = best
	}
	return known[n]
}

// below calls visit for a record and all below it. If visit returns false, the records below that one are skipped.
func (c *Checker) below(n *node, visit func(m *node) bool) {
	todo := []*node{n}
	for steps := 0; len(todo) > 0 && steps <= len(c.nodes)+len(c.added); steps++ {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if visit(m) {
			for k := m.first; k != nil; k = k.latter {
				todo = append(todo, k)
			}
		}
	}
}

// all are the records of the file, and those that hist added.
func (c *Checker) all() []*node { return append(c.nodes[:len(c.nodes):len(c.nodes)], c.added...) }

// twiceAnswered removes the later of two outputs for one call.
func (c *Checker) twiceAnswered() {
	if c.answers.apart() && c.resultMap == nil { // and hist has written none
		return
	}
	done := map[string]bool{}
	for _, n := range c.all() { // a call that is put back, too
		for id := range n.Each(content.BlockCall) {
			list := c.results()[id]
			if n.Side || len(list) < 2 || c.calls()[id] != n || done[id] {
				continue
			}
			done[id] = true
			kept := list[0]
			if i := slices.IndexFunc(list, func(m *node) bool { return !madeUp(m) }); i > 0 {
				kept = list[i]
			}
			for _, m := range list {
				if m == kept || m.new != nil || m.dropped != nil || m.again || len(m.Blocks) != 1 {
					continue
				}
				d := c.find(m, faults.DuplicateResult, "the call already has an output")
				d.Impact = c.worst(faults.OldAndNewer(finding.Rejects, finding.Notes))
				if m == list[0] {
					d.Impact = finding.Loses
					d.Message = "a client that took the call for interrupted has said so here while another client ran it: this is sent, and not the real output"
				}
				if d.Impact != finding.Notes {
					c.drop(m, d)
				}
			}
		}
	}
}

// madeUp says whether an output is what a client that resumes a session says about a call without one: it then goes on by itself at once.
func madeUp(output *node) bool {
	next := output.first
	return next != nil && next.Filler && next.When-output.When < writeTime
}

// drop removes a record; its children are hung on its parent.
func (c *Checker) drop(n *node, d *draft) {
	n.change().dropped = d
	c.changes++
	d.Edits = append(d.Edits, finding.Edit{At: n.Pos(), Op: finding.Remove})
	for _, m := range n.children() {
		c.hang(m, n.up, d)
	}
}
