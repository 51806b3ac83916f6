package mend

import (
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// minBranch is how many digits of a record's id are enough to name it.
const minBranch = 8

// chooseBranch makes the client continue the branch that was asked for: the newest client begins at the record that the last
// last-prompt names.
func (c *Checker) chooseBranch() {
	var named []*node
	for _, n := range c.nodes {
		if len(strings.ToLower(c.opts.Branch)) >= minBranch && strings.HasPrefix(strings.ToLower(n.UUID), strings.ToLower(c.opts.Branch)) && n.dropped == nil && !n.Side {
			named = append(named, n)
		}
	}
	if len(named) != 1 {
		message := "no record of the conversation has the id that was asked for; a record's id is its uuid"
		if len(named) > 1 {
			message = "several records have ids that begin like this; give more of it"
		}
		c.find(c.nodes[0], faults.WrongLeaf, message).anyway().Fix = finding.NoFix
		return
	}
	if tip := c.tipOf(c.leaf); tip != nil && under(tip, named[0]) {
		c.confirm(tip)
		return
	}
	end := c.deepest(named[0])
	d := c.find(end, faults.WrongLeaf, "the branch that was asked for ends here, but the client starts on another; versions before 2.1.215 go by the times and ignore this").anyway()
	c.pointAt(d, end, true)
}

// confirm records that the branch which the client continues was chosen, if otherwise another one would be taken for lost.
func (c *Checker) confirm(tip *node) {
	if len(c.lostBranches(c.reach(tip), c.trunkOf(tip))) == 0 {
		return
	}
	d := c.find(tip, faults.WrongLeaf, "the branch that was asked for ends here, as the client has it; nothing says yet that the others were left on purpose").anyway()
	c.pointAt(d, tip, true)
}

// chosenMark is the value by which hist marks a last-prompt record whose leaf somebody asked for.
const chosenMark = "chosen"

// choice is a branch that was asked for: its end at that time, and where that was recorded.
type choice struct {
	leaf string
	at   session.Pos
	way  map[*node]bool // the records from the leaf to its root; nil until asked for
}

// leftByChoice says whether a branch was left on purpose because it was already in the file when another one was asked for, and
// leaves the way to the leaf that was chosen then.
func (c *Checker) leftByChoice(head *node) bool {
	leaf := c.ids.get(c.choice.leaf)
	if leaf == nil || head.new != nil || !head.Pos().Less(c.choice.at) || head.up == leaf {
		return false
	}
	if c.choice.way == nil {
		c.choice.way = map[*node]bool{}
		for n := leaf; n != nil && !c.choice.way[n]; n = n.up {
			c.choice.way[n] = true
		}
	}
	return !c.choice.way[head]
}

// chainParallel chains the outputs of parallel calls: the first hangs on the last call, each other one on the output before it.
// Versions up to 2.1.2 follow one path only, and otherwise lose a call with its output; newer ones send the same either way.
func (c *Checker) chainParallel() {
	if !c.opts.ChainParallel {
		return
	}
	c.lay()
	seen := map[string]bool{}
	for _, n := range c.nodes {
		if n.Role != content.RoleAssistant || n.Side || n.dropped != nil || n.Msg == "" || seen[n.Msg] || !n.Calls() {
			continue
		}
		seen[n.Msg] = true
		calls, results := c.parallel(n)
		if results = besides(calls, results); len(calls) < 2 || len(results) < 2 {
			continue
		}
		c.chain(calls[len(calls)-1], results)
	}
}

// parallel returns the records with calls of one answer, and those with their outputs, in the order of the file.
func (c *Checker) parallel(first *node) (calls, results []*node) {
	seen := map[*node]bool{}
	for _, m := range c.nodes[first.index:min(len(c.nodes), first.index+maxSiblings)] {
		if m.Msg != first.Msg || m.Role != content.RoleAssistant || m.dropped != nil {
			continue
		}
		ids := m.IDs(content.BlockCall)
		if len(ids) > 0 {
			calls = append(calls, m)
		}
		for _, id := range ids {
			for _, r := range c.results()[id] {
				if r.dropped == nil && !r.Side && !seen[r] {
					seen[r] = true
					results = append(results, r)
				}
			}
		}
	}
	slices.SortStableFunc(results, func(a, b *node) int { return a.index - b.index })
	return calls, results
}

// besides are the outputs below an answer's first call that are not above its last call: an output above that one was written
// before it. There are none if something else was said between the calls: then they belong to two answers, whatever they name.
func besides(calls, results []*node) []*node {
	if len(calls) < 2 {
		return nil
	}
	above := map[*node]bool{}
	for p, steps := calls[len(calls)-1], 0; p != nil && p != calls[0] && steps < maxSiblings; p, steps = p.up, steps+1 {
		if p.IsPrompt() || p.Role == content.RoleAssistant && p.Msg != calls[0].Msg {
			return nil
		}
		above[p] = true
	}
	return slices.DeleteFunc(results, func(r *node) bool { return above[r] || !r.within(calls[0]) })
}

// chain hangs the first of some outputs on a call and each other one on the output before it. What hung on any of them now
// hangs on the last.
func (c *Checker) chain(call *node, results []*node) {
	var d *draft
	for i, r := range results {
		up := call
		if i > 0 {
			up = results[i-1]
		}
		if r.up == up {
			continue
		}
		if d == nil {
			d = c.find(r, faults.LostBranch, "the outputs of parallel calls are separate branches: versions up to 2.1.2 follow one of them, and lose the other call with its output").anyway()
		}
		c.hang(r, up, d)
	}
	if d == nil {
		return
	}
	last := results[len(results)-1]
	for _, r := range results[:len(results)-1] {
		for _, k := range r.children() {
			if !slices.Contains(results, k) {
				c.hang(k, last, d)
			}
		}
	}
}
