package pi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
)

// strayed finds results that name another parent than the answer with their call, or what hangs on it, though the client wrote them right behind
// that; and, where the parents of records led back to themselves, answers that stand right behind results and hang beside their call.
func (c *checker) strayed() (list []*found) {
	type asking struct {
		answer int
		call   string
	}
	order, above, asks := c.inOrder(), c.answersAbove(), map[asking]bool{}
	for _, i := range order {
		for _, one := range c.facts[i].calls {
			asks[asking{i, one.id}] = one.id != ""
		}
	}
	answer, last, next := -1, -1, -1 // next: what went on behind the answer
	for _, i := range order {
		f := &c.facts[i]
		switch above := above(i); {
		case f.role == "assistant":
			if answer >= 0 && c.circle[i] && last != answer && f.up == c.facts[answer].up {
				one := c.find(i, ruleBrokenLink, finding.Exact, "an answer of a circle hangs in front of a call, right behind whose result it stands: neither of these is sent")
				one.hang(i, c.facts[last].id)
				list = append(list, one)
			}
			answer, last, next = i, i, -1
		case above == answer:
			last = i
		case asks[asking{answer, f.answers}] && !asks[asking{above, f.answers}]:
			one := c.find(i, ruleOutOfPlace, finding.Exact, "a result hangs on another record than the answer with its call, right behind which it stands: the client sends what is above that instead")
			one.hang(i, c.facts[last].id)
			beside := c.children()[c.facts[last].id]
			if k := slices.IndexFunc(beside, func(k int) bool { return k > i }); k >= 0 {
				next = beside[k]
			}
			if next >= 0 { // behind the last of several results
				one.hang(next, f.id)
			}
			list = append(list, one)
			last = i
		case f.role != "":
			answer = -1
		}
	}
	return list
}

// answersAbove finds the answer that a record belongs to: the one above it with nothing but results and bookkeeping between; -1 if there is none.
func (c *checker) answersAbove() func(i int) int {
	ids, known := c.byID(), map[int]int{}
	return func(i int) int {
		answer, way := -1, []int{}
		for ok := true; ok; i, ok = ids[c.facts[i].up] {
			if at, seen := known[i]; seen {
				answer = at
				break
			}
			known[i] = -1 // to which a circle leads
			way = append(way, i)
			if role := c.facts[i].role; role == "assistant" {
				answer = i
			} else if role == "toolResult" || role == "" {
				continue
			}
			break
		}
		for _, k := range way {
			known[k] = answer
		}
		return answer
	}
}

// pairs mends calls and results that do not belong together.
type pairs struct {
	*checker
	ids   map[string]int
	moved map[int]bool // records that a finding is about already
	list  []*found
}

// pairs finds calls and results that do not belong together: the API refuses them at every prompt.
func (c *checker) pairs() []*found {
	p := &pairs{checker: c, ids: c.byID(), moved: map[int]bool{}}
	type given struct {
		call string
		what uint64
	}
	seen := map[given]bool{}
	for _, g := range c.now.groups {
		var strays []int // results without a call, in their order
		for _, r := range g.results {
			not, is := c.now.orphans[r], given{c.facts[r].answers, c.facts[r].gave}
			lost := not.why == twice && g.answer < 0 || not.why == late && g.spoken > c.now.place[not.answer]
			lost = lost && c.now.calls[is.call].often && !seen[is] // else it is a copy
			seen[is] = true
			if (not.why == noCall || lost) && !c.facts[r].madeUp {
				p.moved[r] = lost
				strays = append(strays, r)
			}
		}
		if g.answer >= 0 {
			strays = p.give(g, strays)
		}
		for len(strays) > 0 {
			n := 1
			for n < len(strays) && c.facts[strays[n]].up == c.facts[strays[n-1]].id {
				n++
			}
			p.list = append(p.list, c.rebuilt(strays[:n], p.ids))
			strays = strays[n:]
		}
		for _, r := range g.results {
			p.misplaced(r)
		}
	}
	return p.list
}

// find is a finding about a record, which is reported.
func (p *pairs) find(at int, rule *finding.Rule, fix finding.Fix, format string, args ...any) *found {
	p.list = append(p.list, p.checker.find(at, rule, fix, format, args...))
	return p.list[len(p.list)-1]
}

// misplaced looks at a result whose call is there.
func (p *pairs) misplaced(r int) {
	f, is := &p.facts[r], p.now.orphans[r]
	switch {
	case f.madeUp && (is.why == noCall || is.why == dropped):
		p.drop(p.find(r, check.OutputWithoutCall, finding.SetAside, "OpenClaw made up the result of a call that is not sent: the API refuses it at every prompt"), r)
	case is.why == twice && !p.moved[r]:
		p.drop(p.find(r, check.DuplicateOutput, finding.SetAside, "a second result for call %s: the API refuses it at every prompt", check.Clip([]byte(f.answers), 40)), r)
	case is.why == dropped && !p.moved[is.answer]:
		p.moved[is.answer] = true
		one := p.find(is.answer, check.OutputWithoutCall, finding.Exact, "an answer is marked as failed or stopped, so the client leaves it out, and not the results of its calls: the API refuses them at every prompt")
		one.set(is.answer, func(r *fact) { r.dropped = false }, p.facts[is.answer].spare.to([]byte(`"toolUse"`)))
	case is.why == late && !p.moved[r]:
		p.list = append(p.list, p.inPlace(r, is.answer))
	}
}

// give finds the result of each call of an answer: its own, else the first stray one of its tool. What the call lacks, its result tells; a stray
// result is told the call's id. It returns the results that are left.
func (p *pairs) give(g *group, strays []int) []int {
	a := &p.facts[g.answer]
	for n, call := range a.calls {
		if a.dropped && call.lacks() != "" { // as far as it had come
			continue
		}
		if p.now.taken[g.answer] {
			call.id = cmp.Or(call.id, call.again)
		}
		r, stray, said := g.has[n], -1, &fact{}
		if r < 0 {
			stray = slices.IndexFunc(strays, func(r int) bool {
				tool := p.facts[r].tool
				return call.name == "" || tool == "" || tool == call.name
			})
		}
		if stray >= 0 {
			r = strays[stray]
			copy(strays[1:], strays[:stray])
			strays = strays[1:]
		}
		if r >= 0 {
			said = &p.facts[r]
		}
		id, name := call.id, cmp.Or(call.name, said.tool)
		if id == "" && stray >= 0 && !(a.plainIDs && !isPlain(said.answers)) {
			id = said.answers
		}
		if id == "" {
			id = "call_" + freshID(p.ids, g.answer, n)
		}
		switch {
		case call.lacks() != "":
			one := p.find(g.answer, ruleBadCall, finding.Exact, "a call without a usable %s: the API refuses it", call.lacks())
			if name == "" {
				name, one.Fix = "unknown", finding.StandIn
			}
			one.set(g.answer, func(f *fact) {
				f.calls = slices.Clone(f.calls)
				f.calls[n].id, f.calls[n].name, f.calls[n].again = id, name, ""
			}, call.cuts(id, name)...)
			p.answers(one, r, id)
			p.moved[r] = call.id == ""
		case stray >= 0:
			p.answers(p.find(r, check.OutputWithoutCall, finding.Exact, "a result names a call that is not there, and the one call before it has no result: the API refuses it at every prompt"), r, id)
		}
		if said.toolAt != nil && p.now.asked.google {
			one := p.find(r, ruleBadCall, finding.Exact, "a result does not name its tool: Gemini's API refuses it")
			one.set(r, func(f *fact) { f.tool, f.toolAt = name, nil }, said.toolAt.to(quote(name)))
		}
	}
	return strays
}

// answers tells a result, if there is one, the id of its call.
func (c *checker) answers(f *found, r int, id string) {
	if r >= 0 && c.facts[r].answers != id {
		f.set(r, func(r *fact) { r.answers = id }, c.facts[r].spare.to(quote(id)))
	}
}

// noUsage is what an answer says of tokens if nothing is known of them.
const noUsage = `{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`

// rebuilt puts a call back in front of results whose call is lost: their ids and tools are known from them, what they were given is not.
func (c *checker) rebuilt(results []int, ids map[string]int) *found {
	first := results[0]
	f := c.find(first, check.OutputWithoutCall, finding.Recovered, "the call of a result is lost: the API refuses the result at every prompt")
	f.Source, f.Lost = "the result, which names call and tool; what the tool was given is lost", int64(len(results))
	var blocks strings.Builder
	for _, r := range results {
		id, tool := c.facts[r].answers, cmp.Or(c.facts[r].tool, "unknown")
		if id == "" {
			id = "call_" + freshID(ids, "call", c.facts[r].id)
			c.answers(f, r, id)
		}
		fmt.Fprintf(&blocks, `,{"type":"toolCall","id":%s,"name":%s,"arguments":{}}`, quote(id), quote(tool))
	}
	made := c.record("message", freshID(ids, "call", c.facts[first].id), c.facts[first].up, first, fmt.Sprintf(
		`"message":{"role":"assistant","content":[{"type":"text","text":"[hist: this answer was lost; its calls are put back from their results, what the tools were given is not known]"}%s],%s"usage":%s,"stopReason":"toolUse","timestamp":%d}`,
		blocks.String(), c.voice, noUsage, c.facts[first].when))
	made.behind--
	f.changes = append(f.changes, change{add: made})
	f.hang(first, made.id)
	if mark := c.now.mark; mark >= 0 && c.facts[mark].target == c.facts[first].id { // it is sent only if the compaction keeps it
		f.set(mark, func(r *fact) { r.target = made.id }, c.facts[mark].spare.to(quote(made.id)))
	}
	return f
}

// inPlace hangs a result behind its call and the results that follow that, where the chain has it too late.
func (c *checker) inPlace(r, answer int) *found {
	f := c.find(r, ruleOutOfPlace, finding.Exact, "a result does not stand behind its call, for which the client makes up another: the API refuses both at every prompt")
	last := answer
	for next := c.now.next[last]; next >= 0 && c.facts[next].role == "toolResult"; next = c.now.next[last] {
		last = next
	}
	for _, k := range c.children()[c.facts[r].id] {
		f.hang(k, c.facts[r].up)
	}
	if next := c.now.next[last]; next >= 0 {
		f.hang(next, c.facts[r].id)
	}
	f.hang(r, c.facts[last].id)
	return f
}

// unanswered finds calls without a result. The client tells the model that there is none; where a record is lost there, hist does, because the
// tool may have run. It is lost where the model goes on by itself: no client asks it before it has the results.
func (c *checker) unanswered() (list []*found) {
	ids := c.byID()
	for _, g := range c.now.groups {
		if g.answer < 0 || c.facts[g.answer].dropped || !g.goesOn {
			continue // the session ends there, and the client tells the model so
		}
		last, lost := g.answer, false
		for _, r := range g.results {
			last, lost = r, lost || c.broken[r]
		}
		next, up := c.now.next[last], c.facts[last].id
		for n, call := range c.facts[g.answer].calls {
			if !lost && !c.broken[next] && c.facts[next].role != "assistant" || g.has[n] >= 0 || call.id == "" {
				continue
			}
			f := c.find(g.answer, check.CallWithoutOutput, finding.StandIn, "the result of call %s is lost", check.Clip([]byte(call.id), 40))
			f.Impact, f.Lost = finding.Loses, 1
			add := c.record("message", freshID(ids, "result", c.facts[g.answer].id, call.id), up, last,
				fmt.Sprintf(`"message":{"role":"toolResult","toolCallId":%s,"toolName":%s,"content":[{"type":"text","text":"[hist: the result of this call was lost; the tool may have run]"}],"isError":true,"timestamp":%d}`, quote(call.id), quote(call.name), c.facts[last].when))
			f.changes = []change{{add: add}}
			f.hang(next, add.id)
			up = add.id
			list = append(list, f)
		}
	}
	return list
}

// unsummed finds the newest compaction, if it keeps answers from the model and tells nothing of them, with those before it of which that is true,
// too. An answer that says only that there is nothing to do is none.
func (c *checker) unsummed() []*found {
	var all []int
	for _, i := range slices.Backward(c.now.chain) {
		if c.facts[i].kind == "compaction" {
			if c.facts[i].summed {
				break
			}
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return nil
	}
	f := c.find(all[0], ruleNoSummary, finding.SetAside, "a compaction tells nothing of what it summed up, so the model forgets that; it still stands in the file")
	f.Impact = finding.Loses
	parents := map[string]string{} // of those that go, by their ids: the record above that stays
	for _, i := range slices.Backward(all) {
		up := c.facts[i].up
		if above, goes := parents[up]; goes {
			up = above
		}
		parents[c.facts[i].id] = up
		f.changes = append(f.changes, change{at: i, place: away})
		for _, k := range c.children()[c.facts[i].id] {
			if !slices.Contains(all, k) {
				f.hang(k, up)
			}
		}
	}
	then := c.with(f.changes).read(c.traits)
	if !slices.ContainsFunc(then.sent, func(i int) bool {
		f := &c.facts[i]
		return f.role == "assistant" && !f.dropped && !f.idle && !c.now.goes(i)
	}) {
		return nil
	}
	return []*found{f}
}

// kept finds a compaction that does not name the first record that it keeps: none of them is sent then.
func (c *checker) kept() []*found {
	if c.now.mark < 0 || c.facts[c.now.mark].target == c.facts[c.now.mark].id {
		return nil
	}
	mark := &c.facts[c.now.mark]
	chain := c.now.chain[:slices.Index(c.now.chain, c.now.mark)]
	from := slices.IndexFunc(chain, func(i int) bool { return c.facts[i].id == mark.target })
	fix, to, words := finding.Exact, -1, "keeps nothing of what was said before it: the record that it names is lost"
	switch first, lost := c.lost[mark.target]; {
	case from >= 0:
		to, words = slices.Index(chain, c.callAbove()), "does not keep a call whose result is sent behind it"
	case lost:
		to = slices.Index(chain, first)
	default:
		fix, to = finding.StandIn, c.firstKept(chain, mark)
		words = "keeps nothing of what was said before it: what it names is not in front of it; the prompt from which on its summary can't have told anything stands in for it"
	}
	if to < 0 || to == from {
		return nil
	}
	f := c.find(c.now.mark, ruleWrongKept, fix, "a compaction %s", words)
	f.Gap = fix == finding.StandIn // the client kept that much, or less, or more
	id := c.facts[chain[to]].id
	f.set(c.now.mark, func(r *fact) { r.target = id }, mark.spare.to(quote(id)))
	return []*found{f}
}

// callAbove is the answer that a compaction has cut from a result that is sent; -1 if there is none.
func (c *checker) callAbove() int {
	if len(c.now.orphans) == 0 {
		return -1
	}
	whole := c.with([]change{{at: c.now.mark, do: func(r *fact) { r.kind, r.says = "custom", 0 }}}).read(c.traits)
	k := slices.IndexFunc(whole.groups, func(g *group) bool {
		return g.answer >= 0 && !c.now.goes(g.answer) && !c.facts[g.answer].dropped && slices.ContainsFunc(g.has, func(r int) bool { return r >= 0 && c.now.goes(r) })
	})
	if k < 0 {
		return -1
	}
	return whole.groups[k].answer
}

// firstKept is the place of the first prompt behind the last call about a file that a compaction has summed up or, if it says that it has split a
// turn, of the first answer there; of the last prompt if it names no such file.
func (c *checker) firstKept(chain []int, mark *fact) int {
	left, first, named := map[string]bool{}, map[string]int{}, false
	for _, name := range mark.files {
		left[name] = true
	}
	for k, i := range chain {
		f, summed := &c.facts[i], false
		for _, call := range f.calls {
			summed = summed || left[call.file]
			delete(left, call.file)
		}
		if _, known := first[f.role]; summed {
			clear(first)
			named = true
		} else if !known || !named && f.role == "user" {
			first[f.role] = k
		}
	}
	if k, ok := first["user"]; ok && !mark.split {
		return k
	}
	if k, ok := first["assistant"]; ok {
		return k
	}
	return -1
}
