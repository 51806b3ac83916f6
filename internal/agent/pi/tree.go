package pi

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// traits are what differs between versions of the client. Each was measured with the first version that has it and the last that has not,
// as far as those could be installed.
type traits struct {
	NullContentFails bool // a message without content ends every prompt with an error
	UsageNeeded      bool // an answer without usage does
	ReadsBOM         bool // a byte order mark does not hide the header
	NullRefused      bool // a line that says null keeps the client from opening the file
	Glues            bool // it writes its next record on a last line that no newline ends
}

// eras are the traits of all versions before one, the oldest first. 0.74.2 and 0.87.1 were measured; the newline is in the log of changes.
var eras = []struct {
	before string
	traits
}{
	{"0.84.4", traits{NullContentFails: true, ReadsBOM: true, NullRefused: true, Glues: true}},
	{"0.87.0", traits{NullContentFails: true, ReadsBOM: true, NullRefused: true}},
}

// traitsOf are those of a version; "" is the newest measured.
func traitsOf(version string) traits {
	for _, e := range eras {
		if session.VersionBefore(version, e.before) {
			return e.traits
		}
	}
	return traits{UsageNeeded: true}
}

// harms says what a flaw does in a version.
func (t traits) harms(h harm) harm {
	switch {
	case h == failsOld && t.NullContentFails, h == failsNew && t.UsageNeeded:
		return fails
	case h == failsOld || h == failsNew:
		return harmless
	}
	return h
}

// blocks says whether a record keeps the client from opening the file, or from sending a prompt.
func (f *fact) blocks(t traits) bool {
	return slices.ContainsFunc(f.flaws, func(f flaw) bool { h := t.harms(f.harm); return h == fails || h == crashes })
}

// view is a session's facts with the changes that were chosen so far. Records that a repair adds stand behind those of the file.
type view struct {
	facts []fact
	own   int    // how many of them are the file's
	order []int  // in which they stand in the file, also those that were set aside
	shut  string // why the client does not open the file, whatever its records say
}

// newView is a view of a file's records.
func newView(facts []fact) *view {
	v := &view{facts: facts, own: len(facts)}
	for i := range facts {
		facts[i].behind = i
	}
	v.arrange()
	return v
}

// arrange puts each record where it stands; what was added behind a record, in the order in which that was done.
func (v *view) arrange() {
	v.order = make([]int, len(v.facts))
	for i := range v.order {
		v.order[i] = i
	}
	slices.SortStableFunc(v.order, func(i, j int) int { return cmp.Compare(v.facts[i].behind, v.facts[j].behind) })
}

// change is one change of a view, as data.
type change struct {
	at    int
	do    func(f *fact) // what is said of the record from then on
	cuts  []session.Cut // what has to be cut for that, but for its id and its parent
	place place         // the record is moved instead
	add   *fact         // a record is added instead
}

// place is where a record is moved.
type place uint8

const (
	inPlace place = iota
	away          // it is set aside
	toBegin
	toEnd
)

func (v *view) with(changes []change) *view {
	n := *v
	n.facts = slices.Clone(v.facts)
	n.apply(changes)
	return &n
}

func (v *view) apply(changes []change) {
	arranged := true
	for i := range changes {
		c := &changes[i]
		switch {
		case c.add != nil:
			c.add.index = len(v.facts)
			v.facts, arranged = append(v.facts, *c.add), false
		case c.place == away:
			v.facts[c.at].gone = true
		case c.place == toBegin:
			v.facts[c.at].behind, arranged = inFront-1, false
		case c.place == toEnd:
			v.facts[c.at].behind, arranged = len(v.facts), false
		default:
			c.do(&v.facts[c.at])
		}
	}
	if !arranged {
		v.arrange()
	}
}

// each shows the records of the chain in the order of the file.
func (v *view) each(see func(i int, f *fact)) {
	for _, i := range v.order {
		if f := &v.facts[i]; !f.gone {
			see(i, f)
		}
	}
}

// byID are the records by their ids; the last of an id counts.
func (v *view) byID() map[string]int {
	ids := make(map[string]int, len(v.facts))
	v.each(func(i int, f *fact) {
		if !f.header() && f.id != "" {
			ids[f.id] = i
		}
	})
	return ids
}

// leaf is the last record of the file, whatever it is: the chain that is sent ends with it. It is -1 if there is none.
func (v *view) leaf() int {
	leaf := -1
	v.each(func(i int, f *fact) {
		if !f.header() {
			leaf = i
		}
	})
	return leaf
}

// reading is what the client makes of a view.
type reading struct {
	facts   []fact // of the view
	refused string // why it does not open the file
	round   bool   // the chain leads back to itself: the client ends, or hangs
	fails   int    // flaws with which every prompt ends in an error
	invalid int    // what the API refuses
	items   int    // that are sent
	chain   []int  // from the root to the leaf
	sent    []int  // those of the chain that a compaction leaves
	on      []bool // by record: it is on the chain
	place   []int  // by record: its place among those that are sent; -1: it is not
	next    []int  // by record of the chain: the one below it; -1: none
	mark    int    // the compaction that is sent; -1: none
	pairing
}

// read says what a version of the client sends of a view.
func (v *view) read(t traits) *reading {
	r := &reading{facts: v.facts, mark: -1, on: make([]bool, len(v.facts)), place: slices.Repeat([]int{-1}, len(v.facts)), next: make([]int, len(v.facts))}
	ids, leaf, first := v.byID(), -1, true
	v.each(func(i int, f *fact) {
		if first && (!f.header() || f.id == "") {
			r.refused = "its first record is no header that the client can read"
		}
		first = false
		if !f.header() {
			leaf = i
		}
		for k := range f.flaws {
			if t.harms(f.flaws[k].harm) == crashes {
				r.refused = f.flaws[k].message
			}
		}
	})
	if v.shut != "" {
		r.refused = v.shut
	} else if first {
		r.refused = "there is no record in it"
	}
	for i, ok := leaf, leaf >= 0; ok; i, ok = ids[v.facts[i].up] {
		if r.round = r.on[i]; r.round {
			break
		}
		r.on[i] = true
		if r.chain = append(r.chain, i); v.facts[leaf].id == "" {
			break // then it alone is sent
		}
	}
	slices.Reverse(r.chain)
	for k, i := range r.chain {
		if r.next[i] = -1; k+1 < len(r.chain) {
			r.next[i] = r.chain[k+1]
		}
	}
	r.sent = r.chain
	for k, i := range slices.Backward(r.chain) {
		if f := &v.facts[i]; f.kind == "compaction" {
			r.mark = i
			r.sent = append([]int{i}, r.chain[k+1:]...)
			if from := slices.IndexFunc(r.chain[:k], func(j int) bool { return v.facts[j].id == f.target }); from >= 0 && f.target != f.id {
				kept := slices.DeleteFunc(slices.Clone(r.chain[from:k]), func(j int) bool { return v.facts[j].kind == "compaction" }) // this one has summed that up
				r.sent = append(append([]int{i}, kept...), r.chain[k+1:]...)
			}
			break
		}
	}
	r.judge(t)
	return r
}

// goes says whether a record is sent.
func (r *reading) goes(i int) bool { return r.place[i] >= 0 }

// judge counts what is sent, and what is wrong with it.
func (r *reading) judge(t traits) {
	for at, i := range r.sent {
		r.place[i] = at
	}
	r.pair(t)
	for _, i := range r.sent {
		if f, unsent := &r.facts[i], r.flaws(i, t); !f.dropped && !f.hidden(t) && !r.leftOut(i) {
			r.items += max(0, f.says-unsent)
		}
	}
}

// flaws counts what is wrong with a record, behind which a model may have answered, and how many of its blocks are not sent.
func (r *reading) flaws(i int, t traits) (unsent int) {
	for k := range r.facts[i].flaws {
		switch h := t.harms(r.facts[i].flaws[k].harm); {
		case h == fails:
			r.fails++
		case h == refused && !r.facts[i].dropped:
			r.invalid++
		case h == strange:
			if r.taken[i] = r.place[i] < r.answered; !r.taken[i] {
				r.invalid++
			}
		case h == hidesBlock:
			unsent++
		}
	}
	return unsent
}

// hidden says whether a version does not send a record that is to be sent.
func (f *fact) hidden(t traits) bool {
	return slices.ContainsFunc(f.flaws, func(f flaw) bool { return t.harms(f.harm) == hides && f.cuts != nil })
}

// than says what a change of a view does for the client, by two readings of it.
func (r *reading) than(after *reading) finding.Impact {
	switch {
	case r.refused != after.refused || r.round != after.round || r.fails > after.fails:
		return finding.Blocks
	case r.invalid > after.invalid:
		return finding.Rejects
	case r.misses(after):
		return finding.Loses
	}
	return finding.Notes
}

// blocked says whether nothing is sent.
func (r *reading) blocked() bool { return r.refused != "" || r.round || r.fails > 0 }

// misses says whether another reading sends what this one does not.
func (r *reading) misses(other *reading) bool {
	if r.items < other.items {
		return true
	}
	sent := map[uint64]bool{}
	for _, i := range r.sent {
		sent[r.facts[i].sum] = true
	}
	return slices.ContainsFunc(other.sent, func(i int) bool { return other.facts[i].says > 0 && !sent[other.facts[i].sum] })
}

// newID is an id that is always the same for the same parts.
func newID(parts ...any) string {
	h := fnv.New32a()
	fmt.Fprint(h, parts...)
	return fmt.Sprintf("%08x", h.Sum32())
}

// freshID is one for a record that is added: none of those that are taken.
func freshID(taken map[string]int, parts ...any) string {
	for n := 0; ; n++ {
		id := newID(n, parts)
		if _, known := taken[id]; !known {
			taken[id] = -1
			return id
		}
	}
}

// inFront is what a record stands behind that is added in front of all.
const inFront = -1

// added is a record that a repair adds behind another one of the file, by its line.
func added(line []byte, behind int) *fact {
	f := factOfLine(line)
	f.made, f.behind = line, behind
	return f
}

// line is the line of a record that a repair adds, as it is at the end.
func (f *fact) line() []byte {
	was, cuts := factOfLine(f.made), []session.Cut{}
	if f.id != was.id {
		cuts = append(cuts, f.idAt.to(quote(f.id)))
	}
	if f.up != was.up || f.root != was.root {
		cuts = append(cuts, f.upAt.to(f.parent()))
	}
	line, _ := session.Apply(f.made, cuts) // two cuts at two members
	return line
}

// newLine is the line of a record that is added; body are its further members.
func newLine(kind, id, up, when, body string) []byte {
	return fmt.Appendf(nil, `{"type":%q,"id":%q,"parentId":%s,"timestamp":%q,%s}`, kind, id, (&fact{up: up}).parent(), when, body)
}

// parent is a record's parent as it is written.
func (f *fact) parent() []byte {
	if f.up == "" {
		return []byte("null")
	}
	return quote(f.up)
}

// headerAt is the index of the header, -1 if there is none.
func (v *view) headerAt() int {
	return slices.IndexFunc(v.facts, func(f fact) bool { return f.header() })
}

// linked says whether the records have ids and parents, as they have since version 2.
func (v *view) linked() bool {
	n := 0
	for i := range v.facts {
		if f := &v.facts[i]; hexID.MatchString(f.id) && (f.up != "" || f.root) {
			n++
		}
	}
	return n > 0 && 2*n >= len(v.facts)-1
}

// number hangs each record of a file of version 1 on the one before it, as the client does.
func (v *view) number() {
	at, up := v.headerAt(), ""
	if at < 0 || !v.facts[at].old || v.linked() {
		return
	}
	for i := range v.facts {
		if f := &v.facts[i]; !f.header() && !f.gone {
			f.id, f.up, f.root = fmt.Sprint("#", i), up, up == ""
			up = f.id
		}
	}
}
