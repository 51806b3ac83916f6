// Package reader is what each version of Claude Code sends of a session when it resumes it. In: the records of a file in its order,
// and the end that it names; or the file's text. Out: which records the client sends, and as which blocks of which message, or that
// it refuses. Pure: nothing is kept, nothing is looked up elsewhere. What differs between versions is one table of traits.
package reader

import (
	"cmp"
	"iter"
	"slices"
)

// Record is what a client looks at in a record.
type Record struct {
	When       int64 // 0: none
	Up         int32 // the record that it names as its parent; None, or Missing
	Role       Role
	Side, Mute bool // Mute: a message that is never sent, such as what the client said about an error
	Progress   bool
	Old        bool // a later record has the same id, or like this one none, and is read in its place
	Asks       bool // it holds calls
}

// What Up may be besides a record.
const (
	None    = -1
	Missing = -2
)

// heals is how many milliseconds before a record whose parent is missing another may have been written to be taken for its parent.
const heals = 5000

// Role is what a record is to the client.
type Role uint8

// The roles.
const (
	Unread Role = iota // not followed
	Link               // followed, says nothing
	Prompt
	Output
	Answer
	Mark // a compaction begins here
)

func (r *Record) says() bool { return r.Role >= Prompt && r.Role <= Answer && !r.Mute }

// Session is a file as far as a client reads it.
type Session struct {
	Records []Record
	Leaf    int32 // the end that the last last-prompt record names; None, or Missing
	// Answer is the id of the answer that a record is a part of, Calls and Outputs are the ids in it, Keeps the records that a compaction's
	// mark names as kept; nil if one is missing. Anchor is the record behind which these go; Missing if it is not there.
	// Place is where a record's id stands first, whichever of several records with it the client reads; nil if no compaction keeps anything, or
	// the client knows of nothing that is kept.
	Answer         func(i int) string
	Calls, Outputs func(i int) iter.Seq[string]
	Keeps          func(i int) []int32
	Anchor         func(i int) int32
	Place          func(i int) int64
	front          *front
}

// front is what a client that knows of kept records does with what stands in front of the newest compaction.
type front struct {
	mark int32  // of that compaction; None if no compaction keeps anything
	kept bool   // it keeps something
	gone []bool // by record
}

// forget has a client that knows of kept records begin with those of the newest compaction, wherever a last-prompt record says that the end is:
// what else stands in front of its mark is gone, and what hangs on that goes on behind the kept ones. Where the newest keeps none, but an
// earlier one did, it begins anew (2.1.332, measured). It returns that mark, or None.
func (s *Session) forget() int32 {
	if s.front == nil {
		s.front = s.cutFront()
	}
	if s.front.kept || s.Leaf >= 0 && s.front.mark != None && s.front.gone[s.Leaf] {
		s.Leaf = None
	}
	return s.front.mark
}

func (s *Session) cutFront() *front {
	mark, keeps := -1, false
	for i, r := range s.Records {
		if r.Role == Mark && !r.Side {
			if keeps = keeps || len(s.Keeps(i)) > 0; mark < 0 || s.Place(i) >= s.Place(mark) {
				mark = i
			}
		}
	}
	if !keeps {
		return &front{mark: None}
	}
	f := &front{mark: int32(mark), gone: make([]bool, len(s.Records))}
	stays, up := make([]bool, len(s.Records)), int32(None)
	for n, k := range s.Keeps(mark) {
		if n == 0 {
			f.kept, up = true, s.Anchor(mark)
		}
		s.Records[k].Up, up, stays[k] = up, k, true
	}
	for i := range s.Records {
		if f.gone[i] = s.Place(i) < s.Place(mark) && !stays[i]; f.gone[i] {
			s.Records[i].Role = Unread
		}
	}
	for i := range s.Records {
		if r := &s.Records[i]; !stays[i] && !f.gone[i] && r.Up >= 0 && f.gone[r.Up] {
			r.Up = up
		}
	}
	return f
}

// FirstPlaces are the places of n records for Session.Place, given the id of each.
func FirstPlaces(n int, id func(i int) string) func(i int) int64 {
	first, places := make(map[string]int64, n), make([]int64, n)
	for i := range n {
		at, again := first[id(i)]
		if !again || id(i) == "" {
			at = int64(i)
			first[id(i)] = at
		}
		places[i] = at
	}
	return func(i int) int64 { return places[i] }
}

// Way is which records a client sends.
type Way struct {
	Tip     int     // -1: nothing
	Up      []int32 // from the tip up
	On      []bool  // by record
	Kept    []int32 // sent only because a compaction has kept them
	Round   bool    // the way led back to itself
	Gaps    bool    // some record's parent is missing, or comes later
	Mark    int32   // of the compaction in front of which all but what is kept is gone; None
	Refused bool
}

type reading struct {
	s    *Session
	v    Traits
	up   []int32
	kid  []int32 // see lastOn; nil until needed
	time []int32 // sorted by time; nil until needed
	gaps bool    // a parent is missing, or comes later
	mark int32   // see Way
}

// Read says what a version sends of a session.
func Read(s *Session, v Traits) Way {
	r := read(s, v)
	return r.way(r.tip())
}

// From says what a version sends of a session if it begins at a record; -1 for none.
func From(s *Session, v Traits, tip int) Way { return read(s, v).way(tip) }

func read(s *Session, v Traits) *reading {
	r := &reading{s: s, v: v, up: make([]int32, len(s.Records)), mark: None}
	if s.Place != nil {
		r.mark = s.forget()
	}
	for i := range s.Records {
		r.up[i] = r.parent(i)
	}
	if !v.NoHealing && r.gaps {
		r.heal()
	}
	return r
}

// way is what is sent from a record up.
func (r *reading) way(tip int) Way {
	s, v := r.s, r.v
	sent := Way{Tip: tip, Gaps: r.gaps, Mark: r.mark, Up: make([]int32, 0, len(s.Records)), On: make([]bool, len(s.Records))}
	for i := tip; i >= 0; i = int(r.up[i]) {
		if sent.Round = sent.On[i]; sent.Round {
			break
		}
		sent.On[i] = true
		sent.Up = append(sent.Up, int32(i))
		if s.Records[i].Role == Mark {
			sent.Kept = append(sent.Kept, s.Keeps(i)...)
		}
	}
	sent.Refused = tip < 0 || sent.Round && v.CircleBad
	if !v.Alone && len(sent.Up) < len(s.Records) {
		r.collect(&sent)
	}
	for _, i := range sent.Kept {
		sent.On[i] = true
	}
	return sent
}

// follows says whether a client reads a record at all.
func (r *reading) follows(i int) bool {
	n := &r.s.Records[i]
	return n.Role != Unread && !n.Old && (!n.Progress || !r.v.NoProgress)
}

func (r *reading) parent(i int) int32 {
	n := &r.s.Records[i]
	switch {
	case n.Up == None || n.Role == Mark || n.Old:
		return -1
	case n.Up == Missing || !r.follows(int(n.Up)):
		r.gaps = true
		return -1
	}
	r.gaps = r.gaps || int(n.Up) >= i
	return n.Up
}

// heal gives a record whose parent is missing, or which is above itself, the newest one in the time before it that does not hang on it.
func (r *reading) heal() {
	n := r.s.Records
	above := slices.Clone(r.up)
	for _, i := range Circles(r.up) {
		above[i] = -1
	}
	root := func(i int32) int32 {
		top := i
		for above[top] >= 0 {
			top = above[top]
		}
		for i != top {
			i, above[i] = above[i], top
		}
		return top
	}
	for i := range n {
		if n[i].Up == None || n[i].Role == Mark || !r.follows(i) || n[i].When == 0 || above[i] >= 0 {
			continue
		}
		r.sort()
		until, _ := slices.BinarySearchFunc(r.time, n[i].When+1, func(j int32, when int64) int { return cmp.Compare(n[j].When, when) })
		for k := until - 1; k >= 0 && n[r.time[k]].When >= n[i].When-heals; k-- {
			if j := r.time[k]; int(j) != i && root(j) != int32(i) {
				r.up[i], above[i] = j, j
				break
			}
		}
	}
}

// Circles are the records at which the circles of parents are cut, given the parent of each: the first of each circle in the file. The work is
// linear: each record is visited by one walk.
func Circles(up []int32) (cut []int32) {
	done := make([]int32, len(up)) // the walk that visited a record, 0 if none did
	for i := range up {
		j, walk := int32(i), int32(i+1)
		for j >= 0 && done[j] == 0 {
			done[j] = walk
			j = up[j]
		}
		if j < 0 || done[j] != walk {
			continue
		}
		first := j
		for k := up[j]; k != j; k = up[k] {
			first = min(first, k)
		}
		cut = append(cut, first)
	}
	return cut
}

func (r *reading) sort() {
	if r.time != nil {
		return
	}
	r.time = []int32{}
	for i := range r.s.Records {
		if n := &r.s.Records[i]; !n.Side && n.When != 0 && r.follows(i) {
			r.time = append(r.time, int32(i))
		}
	}
	slices.SortStableFunc(r.time, func(a, b int32) int { return cmp.Compare(r.s.Records[a].When, r.s.Records[b].When) })
}

// tip is where a client begins.
func (r *reading) tip() int {
	n := r.s.Records
	if r.v.ByTime {
		tip := -1
		for i := range n {
			if !n[i].Side && r.follows(i) && (r.v.EndsOnHooks || !n[i].Progress) && (tip < 0 || n[i].When > n[tip].When) {
				tip = i
			}
		}
		return tip
	}
	end, last := -1, -1 // the last message, the last record that may be an end
	for i := len(n) - 1; i >= 0 && (end < 0 || last < 0); i-- {
		if n[i].Side || !r.follows(i) {
			continue
		}
		if end < 0 && n[i].Role >= Prompt {
			end = i
		}
		if last < 0 && !n[i].Progress && !r.beside(i) {
			last = i
		}
	}
	if start := int(r.s.Leaf); start >= 0 && r.speaks(start) {
		if last < 0 || !r.under(last, r.head(start)) {
			last = start
		}
		for k := r.lastOn(int32(last)); k > 0 && n[k-1].Role == Link; k = r.lastOn(int32(last)) { // what is no message belongs to the end, wherever it stands
			last = k - 1
		}
		return last
	}
	if last < 0 || end >= 0 && !r.speaks(last) {
		last = end
	}
	if r.s.Leaf == None && last >= 0 && r.lastOn(int32(last)) > 0 { // nothing is said about the end: it goes on with what was said last below the last record
		return r.down(last)
	}
	return last
}

// down is the record with the latest time of all that hang on one, over others, too; of equals the last in the file. Only what names its
// parent hangs on it here (2.1.332, measured).
func (r *reading) down(top int) int {
	first, next := make([]int32, len(r.up)), make([]int32, len(r.up)) // children, each plus 1
	for k, p := range r.up {
		if p >= 0 && p == r.s.Records[k].Up && !r.s.Records[k].Side {
			first[p], next[k] = int32(k)+1, first[p]
		}
	}
	best, todo := -1, []int32{int32(top)}
	for steps := 0; len(todo) > 0 && steps <= len(r.up); steps++ {
		i := int(todo[len(todo)-1])
		todo = todo[:len(todo)-1]
		if i != top && !r.s.Records[i].Progress && !r.beside(i) && (best < 0 || cmp.Or(cmp.Compare(r.s.Records[i].When, r.s.Records[best].When), i-best) > 0) {
			best = i
		}
		for k := first[i]; k > 0; k = next[k-1] {
			todo = append(todo, k-1)
		}
	}
	if best < 0 {
		return top
	}
	return best
}

// lastOn is 1 more than the last record that hangs on one, progress aside; 0 if none does.
func (r *reading) lastOn(i int32) int {
	if r.kid == nil {
		r.kid = make([]int32, len(r.up))
		for k, p := range r.up {
			if p >= 0 && !r.s.Records[k].Side && !r.s.Records[k].Progress {
				r.kid[p] = int32(k) + 1
			}
		}
	}
	return int(r.kid[i])
}

// beside says whether a record is an output off the way: what hangs on its call goes on behind it.
func (r *reading) beside(i int) bool {
	return r.s.Records[i].Role == Output && r.up[i] >= 0 && r.lastOn(int32(i)) == 0 && r.lastOn(r.up[i]) > i+1
}

func (r *reading) speaks(i int) bool {
	for steps := 0; i >= 0 && steps <= len(r.up); i, steps = int(r.up[i]), steps+1 {
		if r.s.Records[i].Role >= Prompt {
			return true
		}
	}
	return false
}

// head is the first record of the answer to which a call or an output belongs.
func (r *reading) head(i int) int {
	n := r.s.Records
	if n[i].Role != Output && (n[i].Role != Answer || !n[i].Asks) {
		return i
	}
	head, answer := i, ""
	for p, steps := i, 0; p >= 0 && steps < 256; p, steps = int(r.up[p]), steps+1 {
		switch {
		case n[p].Role == Output:
		case n[p].Role == Answer && r.s.Answer(p) != "" && (answer == "" || r.s.Answer(p) == answer):
			head, answer = p, r.s.Answer(p)
		default:
			return head
		}
	}
	return head
}

// under says whether a record hangs on another by what it and those between name. A parent that was taken by the time does not count
// (2.1.332, measured).
func (r *reading) under(i, top int) bool {
	for steps := 0; i >= 0 && steps <= len(r.up); i, steps = int(r.up[i]), steps+1 {
		if i == top {
			return true
		}
		if r.up[i] != r.s.Records[i].Up {
			return false
		}
	}
	return false
}

// collect adds the other parts of the answers on the way, and the outputs of their calls, wherever they hang. Those of an answer without an id
// it does not find (2.1.332, measured).
func (r *reading) collect(sent *Way) {
	n := r.s.Records
	off := func(role Role) func(int) bool {
		return func(i int) bool { return n[i].Role == role && !n[i].Side && !n[i].Old && !sent.On[i] }
	}
	answers, outputs := r.some(off(Answer)), r.some(off(Output))
	if len(answers) > 0 {
		on := map[string]bool{}
		for _, i := range sent.Up {
			if id := r.s.Answer(int(i)); n[i].Role == Answer && id != "" && n[i].says() {
				on[id] = true
			}
		}
		for _, i := range answers {
			if on[r.s.Answer(i)] {
				sent.On[i] = true
			}
		}
	}
	if len(outputs) == 0 {
		return
	}
	calls := map[string]bool{}
	for i := range n {
		if sent.On[i] && n[i].Asks && r.s.Answer(i) != "" {
			for id := range r.s.Calls(i) {
				calls[id] = true
			}
		}
	}
	for _, i := range outputs {
		for id := range r.s.Outputs(i) {
			sent.On[i] = sent.On[i] || calls[id]
		}
	}
}

func (r *reading) some(which func(int) bool) (list []int) {
	for i := range r.s.Records {
		if which(i) {
			list = append(list, i)
		}
	}
	return list
}
