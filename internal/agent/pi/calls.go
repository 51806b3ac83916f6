package pi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
)

// kept finds a compaction that does not name the first record that it keeps: none of them is sent then.
func (c *checker) kept() []*found {
	if c.old || c.now.mark < 0 || c.facts[c.now.mark].target == c.facts[c.now.mark].id {
		return nil
	}
	mark := &c.facts[c.now.mark]
	chain := c.now.chain[:slices.Index(c.now.chain, c.now.mark)]
	from := slices.IndexFunc(chain, func(i int) bool { return c.facts[i].id == mark.target })
	fix, to, words := finding.Exact, -1, "what it names is not in front of it"
	switch first, lost := c.lost[mark.target]; {
	case from >= 0:
		to, words = c.callOf(chain, from), "what it names is the result of a call that it does not keep"
	case lost:
		to, words = c.callOf(chain, slices.Index(chain, first)), "the record that it names is lost"
	default:
		if near := slices.IndexFunc(chain, func(i int) bool { return mark.target != "" && strings.EqualFold(c.facts[i].id, mark.target) }); near >= 0 {
			to = near
			break
		}
		fix, to = finding.StandIn, c.firstKept(chain, mark)
		words += "; the prompt from which on its summary can't have told anything stands in for it"
	}
	if to < 0 || to == from {
		return nil
	}
	f := c.find(c.now.mark, ruleWrongKept, fix, "a compaction keeps nothing of what was said before it: %s", words)
	if from >= 0 {
		f.Message = "a compaction keeps a result without its call: " + words
	}
	f.Gap = fix == finding.StandIn // the client kept that much, or less, or more
	id := c.facts[chain[to]].id
	f.set(c.now.mark, func(r *fact) { r.target = id }, mark.spare.to(string(quote(id))))
	return []*found{f}
}

// callOf is the place in a chain where a part of it can begin: at the call, if it is a result there.
func (c *checker) callOf(chain []int, at int) int {
	for at > 0 && c.facts[chain[at]].role == "toolResult" {
		at--
	}
	return at
}

// firstKept is the place of the first prompt behind what a compaction has summed up, as far as the files tell that it names, or of the first
// answer there if it says that it has split a turn; else of the last prompt before it.
func (c *checker) firstKept(chain []int, mark *fact) int {
	begin, summed := 0, -1
	place := map[string]int{}
	for k, i := range chain {
		f := &c.facts[i]
		if f.kind == "compaction" {
			begin = k + 1
			if from, kept := place[f.target]; kept {
				begin = from // what it has kept may be summed up by the next
			}
			summed = begin - 1
		}
		place[f.id] = k
	}
	seen := map[string]bool{}
	for k := begin; k < len(chain); k++ {
		for _, call := range c.facts[chain[k]].calls {
			if slices.Contains(mark.files, call.file) && !seen[call.file] {
				seen[call.file], summed = true, k
			}
		}
	}
	best := -1
	for k := begin; k < len(chain); k++ {
		if c.facts[chain[k]].role == "user" && k > summed && (best < 0 || len(seen) == 0) && !mark.split {
			best = k
		}
	}
	for k := summed + 1; k < len(chain) && best < 0; k++ {
		if c.facts[chain[k]].role == "assistant" {
			best = k
		}
	}
	return best
}

// content finds what in the records that are sent the client or the API can't take.
func (c *checker) content() (list []*found) {
	look := func(i int, only harm) {
		f := &c.facts[i]
		for k := range f.flaws {
			flaw := &f.flaws[k]
			if h := c.traits.harms(flaw.harm); h == harmless || flaw.call > 0 || only != harmless && h != only || c.old && flaw.drop {
				continue
			}
			one := c.find(i, flaw.rule, flaw.fix, "%s", flaw.message)
			if flaw.fix == finding.StandIn || flaw.fix == finding.SetAside && !flaw.drop { // what it held is not known
				one.Lost = 1
			}
			if flaw.drop {
				if c.drop(one, i); flaw.harm == hides {
					one.Impact = finding.Loses
				}
			} else {
				one.set(i, mended(k), flaw.cuts...)
				if flaw.rule == ruleBadShape && flaw.harm == crashes {
					one.set(i, func(r *fact) { r.kind, r.role = "custom", "" })
				}
			}
			list = append(list, one)
		}
	}
	c.each(func(i int, f *fact) {
		switch {
		case f.header():
		case c.now.goes[i] || c.old:
			look(i, harmless)
		default:
			look(i, crashes)
		}
	})
	return list
}

// group is an answer with calls, and the results that follow it.
type group struct {
	answer  int
	results []int
	next    int // the next message; -1: there is none
}

// groups takes what is sent apart. Results that follow no answer are a group whose answer is -1.
func (c *checker) groups() (list []*group) {
	now := &group{answer: -1, next: -1}
	for _, i := range c.now.sent {
		f := &c.facts[i]
		switch {
		case f.role == "toolResult":
			if now.next >= 0 { // something came between
				now = &group{answer: -1, next: -1}
			}
			if now.answer < 0 && len(now.results) == 0 {
				list = append(list, now)
			}
			now.results = append(now.results, i)
		case f.role == "assistant" && len(f.calls) > 0:
			if now.next < 0 {
				now.next = i
			}
			now = &group{answer: i, next: -1}
			list = append(list, now)
		case f.says > 0 && !f.dropped && now.next < 0:
			now.next = i
		}
	}
	return slices.DeleteFunc(list, func(g *group) bool { return g.answer < 0 && len(g.results) == 0 })
}

// pairs finds calls and results that do not belong together: the API refuses them at every prompt.
func (c *checker) pairs() (list []*found) {
	if c.old {
		return nil
	}
	ids := c.byID()
	made := map[string]int{}
	calls := map[string]int{} // by the id of a call, the answer that it stands in
	for _, i := range c.now.sent {
		for _, call := range c.facts[i].calls {
			if _, twice := calls[call.id]; !twice {
				calls[call.id] = i
			}
		}
	}
	moved := map[int]bool{}
	for _, g := range c.groups() {
		var strays []int // results without a call, in their order
		for _, r := range g.results {
			if why := c.now.orphans[r]; why == noCall {
				strays = append(strays, r)
			}
		}
		if g.answer >= 0 {
			strays = c.give(g, strays, calls, made, &list)
		}
		for len(strays) > 0 {
			n := 1
			for n < len(strays) && c.facts[strays[n]].up == c.facts[strays[n-1]].id {
				n++
			}
			list = append(list, c.rebuilt(strays[:n], ids, g))
			strays = strays[n:]
		}
		for _, r := range g.results {
			f := &c.facts[r]
			at, known := calls[f.answers]
			switch why := c.now.orphans[r]; {
			case why == twice:
				one := c.find(r, check.DuplicateOutput, finding.SetAside, "a second result for call %s: the API refuses it at every prompt", check.Clip([]byte(f.answers), 40))
				c.drop(one, r)
				list = append(list, one)
			case why == dropped && known && !moved[at]:
				moved[at] = true
				one := c.find(at, check.OutputWithoutCall, finding.Exact, "an answer is marked as failed or stopped, so the client leaves it out, and not the results of its calls: the API refuses them at every prompt")
				one.set(at, func(r *fact) { r.dropped = false }, c.facts[at].spare.to(`"toolUse"`))
				list = append(list, one)
			case why == late && known && !moved[r]:
				moved[r] = true
				list = append(list, c.inPlace(r, at))
			}
		}
	}
	return list
}

// give gives calls without an id that of the result that must be theirs, and results whose call is not there the call that must be theirs. It
// returns the results for which there is none.
func (c *checker) give(g *group, strays []int, calls, made map[string]int, list *[]*found) []int {
	a := &c.facts[g.answer]
	answered := map[string]bool{}
	for _, r := range g.results {
		answered[c.facts[r].answers] = true
	}
	taken := map[string]bool{}
	for n, call := range a.calls {
		flaws := a.flawsOf(n + 1)
		open := call.id == "" || taken[call.id] || !answered[call.id]
		taken[call.id] = true
		k := -1
		if open {
			k = slices.IndexFunc(strays, func(r int) bool { return call.name == "" || c.facts[r].tool == call.name || c.facts[r].tool == "" })
		}
		named := call.name
		if named == "" {
			for _, r := range g.results {
				if call.id != "" && c.facts[r].answers == call.id {
					named = c.facts[r].tool
				}
			}
			if named == "" && k >= 0 {
				named = c.facts[strays[k]].tool
			}
		}
		for _, fl := range flaws {
			one := c.find(g.answer, a.flaws[fl].rule, a.flaws[fl].fix, "%s", a.flaws[fl].message)
			value := named
			if value == "" {
				value, one.Fix = "unknown", finding.StandIn
			}
			if a.flaws[fl].member == "id" {
				value = ""
				if k >= 0 {
					value = c.facts[strays[k]].answers
				}
				if value == "" || a.plainIDs && !isPlain(value) {
					value = "call_" + freshID(made, g.answer, n)
					if k >= 0 {
						r := strays[k]
						one.set(r, func(f *fact) { f.answers = value }, c.facts[r].spare.to(string(quote(value))))
					}
				}
				if k >= 0 {
					strays = slices.Delete(slices.Clone(strays), k, k+1)
				}
				k = -1
			}
			cut := a.flaws[fl].cuts[0]
			cut.New = append(slices.Clip(cut.New), quote(value)...)
			member := a.flaws[fl].member
			one.set(g.answer, func(f *fact) {
				mended(fl)(f)
				f.calls = slices.Clone(f.calls)
				if member == "id" {
					f.calls[n].id = value
				} else {
					f.calls[n].name = value
				}
			}, closed(cut))
			*list = append(*list, one)
		}
		if k < 0 || call.id == "" {
			continue
		}
		// The call has no result, and the result no call.
		r := strays[k]
		one := c.find(r, check.OutputWithoutCall, finding.Exact, "a result names a call that is not there, and the one call before it has no result: the API refuses it at every prompt")
		one.set(r, func(f *fact) { f.answers = call.id }, c.facts[r].spare.to(string(quote(call.id))))
		*list = append(*list, one)
		strays = slices.Delete(slices.Clone(strays), k, k+1)
	}
	return strays
}

// flawsOf are the flaws of an answer's call, by its number.
func (f *fact) flawsOf(n int) (list []int) {
	for k := range f.flaws {
		if f.flaws[k].call == n && f.flaws[k].harm == refused {
			list = append(list, k)
		}
	}
	return list
}

// noUsage is what an answer says of tokens if nothing is known of them.
const noUsage = `{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`

// rebuilt puts a call back in front of results whose call is lost: their ids and tools are known from them, what they were given is not.
func (c *checker) rebuilt(results []int, ids map[string]int, g *group) *found {
	first := results[0]
	f := c.find(first, check.OutputWithoutCall, finding.Recovered, "the call of a result is lost: the API refuses the result at every prompt")
	f.Source, f.Lost = "the result, which names call and tool; what the tool was given is lost", int64(len(results))
	var calls []call
	var blocks strings.Builder
	for _, r := range results {
		id, tool := c.facts[r].answers, c.facts[r].tool
		if id == "" {
			id = "call_" + freshID(ids, "call", c.facts[r].id)
			f.set(r, func(f *fact) { f.answers = id }, c.facts[r].spare.to(string(quote(id))))
		}
		if tool == "" {
			tool = "unknown"
		}
		fmt.Fprintf(&blocks, `,{"type":"toolCall","id":%s,"name":%s,"arguments":{}}`, quote(id), quote(tool))
		calls = append(calls, call{id: id, name: tool})
	}
	made := c.record("message", freshID(ids, "call", c.facts[first].id), c.facts[first].up, first, first, "")
	made.role, made.calls, made.says, made.behind = "assistant", calls, len(results), made.behind-1
	made.made = fmt.Appendf(nil, `,"timestamp":%q,"message":{"role":"assistant","content":[{"type":"text","text":"[hist: this answer was lost; its calls are put back from their results, what the tools were given is not known]"}%s],%s"usage":%s,"stopReason":"toolUse","timestamp":%d}}`,
		made.time(), blocks.String(), c.voice, noUsage, made.when)
	f.changes = append(f.changes, change{add: made})
	f.hang(first, made.id)
	return f
}

// inPlace hangs a result behind its call, where the chain has it too late.
func (c *checker) inPlace(r, answer int) *found {
	f := c.find(r, ruleOutOfPlace, finding.Exact, "a result stands behind a later answer: the client makes up another for its call, and the API refuses both at every prompt")
	below := func(i int) (list []int) {
		for _, k := range c.children()[c.facts[i].id] {
			if c.now.on[k] {
				list = append(list, k)
			}
		}
		return list
	}
	last := answer
	for next := below(last); len(next) == 1 && c.facts[next[0]].role == "toolResult" && next[0] != r; next = below(last) {
		last = next[0]
	}
	for _, k := range c.children()[c.facts[r].id] {
		f.hang(k, c.facts[r].up)
	}
	for _, k := range below(last) {
		if k != r {
			f.hang(k, c.facts[r].id)
		}
	}
	f.hang(r, c.facts[last].id)
	return f
}

// unanswered finds calls without a result. The client tells the model that there is none; where a record is lost there, hist does, because the
// tool may have run.
func (c *checker) unanswered() (list []*found) {
	if c.old {
		return nil
	}
	ids := c.byID()
	for _, g := range c.groups() {
		if g.answer < 0 || c.facts[g.answer].dropped || g.next < 0 {
			continue // the session ends there, and the client tells the model so
		}
		last := g.answer
		if n := len(g.results); n > 0 {
			last = g.results[n-1]
		}
		next := c.now.next[last]
		lost := c.broken[next] || slices.ContainsFunc(g.results, func(r int) bool { return c.broken[r] })
		up := c.facts[last].id
		for _, call := range c.facts[g.answer].calls {
			if !lost || slices.ContainsFunc(g.results, func(r int) bool { return c.facts[r].answers == call.id }) {
				continue
			}
			f := c.find(g.answer, check.CallWithoutOutput, finding.StandIn, "the result of call %s is lost", check.Clip([]byte(call.id), 40))
			f.Impact, f.Lost = finding.Loses, 1
			add := c.record("message", freshID(ids, "result", c.facts[g.answer].id, call.id), up, last, last,
				fmt.Sprintf(`"message":{"role":"toolResult","toolCallId":%s,"toolName":%s,"content":[{"type":"text","text":"[hist: the result of this call was lost; the tool may have run]"}],"isError":true,"timestamp":%d}`, quote(call.id), quote(call.name), c.facts[last].when))
			add.role, add.answers, add.tool, add.says = "toolResult", call.id, call.name, 1
			f.changes = []change{{add: add}}
			f.hang(next, add.id)
			up = add.id
			list = append(list, f)
		}
	}
	return list
}
