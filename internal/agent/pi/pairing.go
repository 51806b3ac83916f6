package pi

import (
	"cmp"
	"maps"
	"slices"
)

// pairing is which results answer which calls, of what is sent.
type pairing struct {
	groups  []*group
	calls   map[string]*callAt // by its id, the newest call that has it
	orphans map[int]orphan     // results that the API refuses, or would
	// taken are answers with calls of one id, and messages with blocks of other programs, that an API has taken: it answered behind them. An error
	// about calls of one id says that the API does not take them any more: the user has changed to another.
	taken    map[int]bool
	asked    *fact // the newest answer, which says which API is asked
	answered int   // its place among what is sent; -1: there is none
	twins    bool  // a request behind that was refused because two calls have one id
	failed   int   // the place of the last request that a result without a call has ended; -1: there is none

	// due are the calls of the newest message that have an id and no result; held are those that are not sent under the id that they have.
	due, held map[string][]*callAt
	tools     map[string]bool // those of the calls of the newest message
}

// group is an answer with calls, and the results that follow it before another message comes. Results that follow none have -1 for an answer.
type group struct {
	answer  int
	results []int
	has     []int // by the calls of the answer: the result of each; -1: there is none
	goesOn  bool  // something is said behind them
	spoken  int   // the place of the newest answer in front of the results
}

// callAt is where a call stands: in the answer of a group.
type callAt struct {
	*group
	n     int
	often bool // another answer has a call of its id
	why   why  // another result of it is refused
}

// orphan is a result that is refused; answer is that with its call, as long as it has one.
type orphan struct {
	why    why
	answer int
}

// why a result is refused.
type why uint8

const (
	noCall why = iota + 1
	twice
	late     // its call is on the chain, but another message came between
	dropped  // its call stands in an answer that is not sent
	uncalled // it is not: OpenClaw leaves it out
)

// pair takes what is sent apart into groups, and gives results to calls.
func (r *reading) pair(t traits) {
	r.pairing = pairing{
		calls: map[string]*callAt{}, due: map[string][]*callAt{}, held: map[string][]*callAt{}, tools: map[string]bool{},
		orphans: map[int]orphan{}, taken: map[int]bool{}, asked: &fact{}, answered: -1, failed: -1,
	}
	for at, i := range r.sent {
		f := &r.facts[i]
		if f.answer() {
			r.asked, r.answered, r.twins = f, at, false
		}
		r.twins = r.twins || f.twins
		if f.uncalled {
			r.failed = at
		}
	}
	now, closed, spoken := &group{}, true, -1
	begin := func(answer, calls int) {
		now, closed = &group{answer: answer, has: slices.Repeat([]int{-1}, calls), spoken: spoken}, false
		r.groups = append(r.groups, now)
	}
	for at, i := range r.sent {
		f := &r.facts[i]
		if f.answer() {
			spoken = at
		}
		switch {
		case f.role == "toolResult":
			if closed {
				begin(-1, 0)
			}
			now.results = append(now.results, i)
		case len(f.calls) > 0:
			now.goesOn = true
			begin(i, len(f.calls))
		case f.dropped: // the client makes up results for the calls before it, too
			closed = true
		case f.says > 0 && !r.leftOut(i):
			now.goesOn, closed = true, true
		}
	}
	openClaw := slices.ContainsFunc(r.facts, func(f fact) bool { return f.openClaw })
	for _, g := range r.groups {
		r.ask(g, t)
		for _, i := range g.results {
			r.give(i, openClaw)
		}
	}
}

// leftOut says whether OpenClaw leaves a record out: a result whose call it took out, or its note of what it has sent to a chat, unless a request
// was refused because a result had lost its call to one.
func (r *reading) leftOut(i int) bool {
	return r.orphans[i].why == uncalled || r.facts[i].mirror && r.failed <= r.answered
}

// ask takes the calls of the next answer.
func (r *reading) ask(g *group, t traits) {
	f := &fact{}
	if g.answer >= 0 {
		f = &r.facts[g.answer]
	}
	hidden := f.hidden(t)
	if !hidden {
		clear(r.due)
		clear(r.held)
		clear(r.tools)
		r.taken[g.answer] = r.apiTook(g, f)
	}
	for n, c := range f.calls {
		call := &callAt{group: g, n: n}
		if f.dropped {
			call.why = dropped
		}
		if c.id == "" && r.taken[g.answer] {
			c.id = c.again
		}
		asks := !hidden && !f.dropped && !c.hidden(f)
		if before := r.calls[c.id]; asks || f.dropped && !hidden {
			call.often = before != nil && (before.often || before.group != g)
			r.calls[c.id] = call
		}
		if asks {
			r.tools[c.name] = true
		}
		if asks && (c.id == "" || c.name == "") {
			r.invalid++
		}
		if id := cmp.Or(c.id, c.again); asks && c.id != "" {
			r.due[id] = append(r.due[id], call)
		} else {
			r.held[id] = append(r.held[id], call)
		}
	}
}

// hidden says whether a call is not sent, because its block is of a type that the client does not know.
func (c *call) hidden(f *fact) bool { return c.stray > 0 && f.flaws[c.stray-1].harm == hidesBlock }

// apiTook says whether an API has taken an answer with calls of one id: each has a result of its own right behind it.
func (r *reading) apiTook(g *group, f *fact) bool {
	if g.answer < 0 || r.place[g.answer] >= r.answered || r.asked.plainIDs || r.twins {
		return false
	}
	open := map[string]int{}
	for _, c := range f.calls {
		open[cmp.Or(c.id, c.again)]++
	}
	for _, i := range g.results {
		open[r.facts[i].answers]--
	}
	return !slices.ContainsFunc(slices.Collect(maps.Values(open)), func(n int) bool { return n != 0 })
}

// give gives the next result to its call.
func (r *reading) give(i int, openClaw bool) {
	f := &r.facts[i]
	is, call := orphan{noCall, -1}, r.calls[f.answers]
	if call != nil && f.answers != "" {
		is = orphan{cmp.Or(call.why, late), call.answer}
	}
	if is.why != noCall && r.take(r.due, i) {
		call.why, is.why = twice, 0
	}
	// OpenClaw takes calls that no tool can take out of what the model said, with all of an answer that held nothing else, leaves their
	// results in the file, and goes on behind them: published sessions have many answers there. It makes up results for answers that were
	// stopped, too. Some of its versions send those: then the API refuses each request behind them, and says why.
	if openClaw && (is.why == noCall && f.noTool && f.answers != "" && !r.tools[f.tool] || is.why != 0 && f.madeUp && (r.place[i] < r.answered || r.place[i] > r.failed)) {
		r.orphans[i] = orphan{why: uncalled}
		return
	}
	if f.toolAt != nil && r.asked.google {
		r.invalid++
	}
	if is.why != 0 {
		r.take(r.held, i)
		r.orphans[i] = is
		r.invalid++
	}
}

// take gives a result to the first of the calls that have its id.
func (r *reading) take(from map[string][]*callAt, i int) bool {
	id := r.facts[i].answers
	list := from[id]
	if len(list) == 0 || id == "" {
		return false
	}
	list[0].has[list[0].n], from[id] = i, list[1:]
	return true
}
