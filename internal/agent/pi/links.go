package pi

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// foreign finds objects that no client wrote. At the end of the file one hides the whole history: it is the leaf, and has no parent.
func (c *checker) foreign() (list []*found) {
	last := c.leaf()
	for i := c.own - 1; i >= 0; i-- {
		f := &c.facts[i]
		if f.header() {
			continue
		}
		if f.known() {
			last = -1 // those before it stand in the middle
			continue
		}
		one := c.find(i, ruleForeignLine, finding.SetAside, "no client wrote this line")
		if last >= 0 {
			one.at = last
			one.Message += ": it is the end of the file, so nothing of the history is sent"
			one.changes = []change{{at: i, place: away}}
		} else {
			one.Fix = finding.NoFix
		}
		list = append(list, one)
	}
	slices.Reverse(list)
	return list
}

// ids finds records that others can't name, because their id is missing, misspelled, or that of another: what hangs on them names an id that no
// record has.
func (c *checker) ids() (list []*found) {
	t := c.chains()
	wanted := map[string]int{} // ids that no record has, and the first record that names them
	for _, i := range t.order {
		f := &c.facts[i]
		_, ok := t.ids[f.up]
		if _, seen := wanted[f.up]; f.up != "" && !ok && !seen {
			wanted[f.up] = i
		}
	}
	first, above := map[string]int{}, ""
	for k, i := range t.order {
		f, next, message := &c.facts[i], "", ""
		up := above
		above = f.id
		if k+1 < len(t.order) {
			if up := c.facts[t.order[k+1]].up; wanted[up] == t.order[k+1] {
				next = up
			}
		}
		twin, again := first[f.id]
		switch {
		case f.id == "":
			message = "a record without an id: what hangs on it does not find it"
		case again && c.facts[twin].sum != f.sum:
			message = "another record has the same id: the client finds only one of them, and the chain of the other is cut"
		case next != "" && len(t.kids[f.id]) == 0 && !hexID.MatchString(f.id) && (strings.EqualFold(next, f.id) || session.FlippedAt(next, f.id) >= 0):
			message = "the id of a record is misspelled: what hangs on it does not find it"
		}
		if !again {
			first[f.id] = i
		}
		if message == "" {
			continue
		}
		if next == "" {
			next = freshID(t.ids, "record", f.when, k)
		}
		one := c.find(i, ruleRecordID, finding.Exact, "%s", message)
		one.set(i, func(r *fact) { r.id = next })
		if above = next; f.id == "" && f.up == "" && !f.root && up != "" { // nothing but their order ties it to what stands before it
			one.hang(i, up)
		}
		for _, kid := range t.kids[f.id] {
			if again && kid > i {
				one.hang(kid, next)
			}
		}
		delete(wanted, next)
		t.ids[next] = i
		list = append(list, one)
	}
	return list
}

// copies finds records that stand twice. They do no harm unless one is the last record of the file.
func (c *checker) copies() (list []*found) {
	leaf := c.leaf()
	c.twins = map[string][]int{}
	for _, i := range c.inOrder() {
		f := &c.facts[i]
		if c.twins[f.id] = append(c.twins[f.id], i); len(c.twins[f.id]) > 1 && f.id != "" {
			one := c.find(i, ruleSameRecord, finding.SetAside, "a second copy of a record")
			one.changes = []change{{at: i, place: away}}
			if i == leaf {
				one.Message += ": the client takes it for the end of the session"
			}
			list = append(list, one)
		}
	}
	return list
}

// links finds records whose chain ends before its beginning: all above them is not sent.
func (c *checker) links() (list []*found) {
	t := c.chains()
	chosen := map[string]int{} // for those that name the same missing parent
	open := 0                  // how many records have nothing that hangs on them, up to the one before
	for k, i := range t.order {
		f, ends := &c.facts[i], open
		if len(t.kids[f.id]) == 0 {
			open++
		}
		if !t.broken(i) || f.id != "" && t.ids[f.id] != i { // a later copy is read in its place
			continue
		}
		what := "it names a parent that is not in the file"
		switch {
		case t.circle[i]:
			what = "its chain of parents leads back to itself, at which the client ends or hangs"
		case f.up == "":
			what = "it names no parent"
		}
		one := c.find(i, ruleBrokenLink, finding.Exact, "%s, so nothing above it is sent", what)
		to, known := chosen[f.up]
		if !known {
			to = t.parentFor(k)
		}
		if to < 0 && f.up == "" { // all that stands before it hangs on it: the session begins here
			continue
		}
		list = append(list, one)
		if !t.circle[i] && c.recovered(one, i, t.ids) {
			continue
		}
		if to < 0 {
			one.Fix, one.Impact = finding.NoFix, finding.Loses
			one.Message += "; what it hung on is nowhere else"
			continue
		}
		if one.Gap = f.up != "" && !t.circle[i]; one.Gap {
			chosen[f.up], c.broken[i] = to, true
			if _, known := c.lost[f.up]; !known {
				c.lost[f.up] = i
			}
		}
		if ends > 1 || slices.ContainsFunc(t.kids[c.facts[to].id], func(kid int) bool { return kid != i }) {
			one.Fix = finding.StandIn // it may have hung on another of those
		}
		one.hang(i, c.facts[to].id)
		t.top[i] = to
	}
	return list
}

// chains are the chains of parents of a file, while rules hang records on each other.
type chains struct {
	*checker
	ids   map[string]int
	kids  map[string][]int
	order []int             // the records in the order of the file
	place []int             // by record, in order
	gone  map[string]string // the parents of records on dead lines
	top   []int             // by record, one towards the end of the chain above it; the record that it ends with leads to itself
}

func (c *checker) chains() *chains {
	t := &chains{checker: c, ids: c.byID(), kids: c.children(), order: c.inOrder(), place: make([]int, len(c.facts)), top: make([]int, len(c.facts)), gone: map[string]string{}}
	for k, i := range t.order {
		t.place[i] = k
	}
	t.circle = t.circles()
	for i := range t.top {
		if t.top[i] = i; len(t.order) > 0 && !t.broken(i) {
			if up, ok := t.ids[c.facts[i].up]; ok {
				t.top[i] = up
			}
		}
	}
	for _, d := range c.dead {
		t.gone[d.id] = d.up
	}
	return t
}

// inOrder are the records of the chain in the order of the file.
func (c *checker) inOrder() (list []int) {
	c.each(func(i int, f *fact) {
		if f.known() {
			list = append(list, i)
		}
	})
	return list
}

// broken says whether the chain of a record ends with it, though the session does not begin there.
func (t *chains) broken(i int) bool {
	f, first := &t.facts[i], &t.facts[t.order[0]]
	up, ok := t.ids[f.up]
	switch {
	case f.up != "" && !ok, t.circle[i] && t.place[up] >= t.place[i]:
		return true
	case f.up != "" || f.id == first.id:
		return false
	}
	return !f.root || first.role != "user" // a client that went back to the first prompt of all says so
}

// end is the record with which the chain above another one ends.
func (t *chains) end(i int) int {
	for t.top[i] != i {
		t.top[i] = t.top[t.top[i]]
		i = t.top[i]
	}
	return i
}

// circles are the records from which the parents lead back to themselves.
func (t *chains) circles() map[int]bool {
	in, done := map[int]bool{}, make([]int, len(t.facts))
	for k, i := range t.order {
		j, ok := i, true
		for ok && done[j] == 0 {
			done[j] = k + 1
			j, ok = t.ids[t.facts[j].up]
		}
		for ok && done[j] == k+1 && !in[j] {
			in[j] = true
			j = t.ids[t.facts[j].up]
		}
	}
	return in
}

// parentFor is what a record, by its place in the order of the file, may hang on: the parent of the dead line that has the id; else the record
// before it, as long as that does not hang on it itself. It is -1 if there is none.
func (t *chains) parentFor(k int) int {
	i := t.order[k]
	up := t.facts[i].up
	for n := 0; up != "" && n < len(t.gone); n++ {
		up = t.gone[up]
		if j, ok := t.ids[up]; ok && j >= 0 && t.end(j) != i { // what a fork gave back is not in the file
			return j
		}
	}
	for _, j := range slices.Backward(t.order[:k]) {
		if t.end(j) != i && t.facts[j].id != t.facts[i].id { // nor a copy of itself
			return j
		}
	}
	return -1
}

// end finds out whether the last record of the file is the end of a chain: if another hangs on it, it was not written last.
func (c *checker) end() (list []*found) {
	leaf := c.leaf()
	if branch := c.run.Options().Branch; branch != "" {
		return c.branch(leaf, branch)
	}
	to := leaf
	if leaf >= 0 {
		to = c.newestBelow(leaf)
	}
	if to == leaf {
		return nil
	}
	f := c.find(leaf, ruleWrongEnd, finding.Exact, "the last record of the file is not the end of its chain, so what hangs on it is not sent; its end stands on %s", c.facts[to].ref.Pos)
	f.changes = []change{{at: to, place: toEnd}}
	return []*found{f}
}

// newestBelow is the newest end of a chain that leads to a record.
func (c *checker) newestBelow(from int) int {
	kids, best := c.children(), from
	seen := map[int]bool{}
	for todo := []int{from}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[i] {
			continue
		}
		seen[i] = true
		below := kids[c.facts[i].id]
		if older := cmp.Or(cmp.Compare(c.facts[best].when, c.facts[i].when), cmp.Compare(best, i)) < 0; len(below) == 0 && (best == from || older) && i < c.own {
			best = i
		}
		todo = append(todo, below...)
	}
	return best
}

// branch lets the client go on with the branch that the user names by the id of a record.
func (c *checker) branch(leaf int, id string) []*found {
	for _, i := range c.inOrder() {
		if !strings.HasPrefix(c.facts[i].id, id) {
			continue
		}
		to := c.newestBelow(i)
		if to == leaf {
			return nil
		}
		f := c.find(leaf, ruleWrongEnd, finding.Exact, "the session is to go on with the branch that ends on %s", c.facts[to].ref.Pos)
		f.Impact = finding.Loses
		f.changes = []change{{add: c.record("custom", freshID(c.byID(), "branch", c.facts[to].id), c.facts[to].id, leaf, `"customType":"hist.branch","data":{}`)}}
		return []*found{f}
	}
	return nil
}

// timeForm is how clients write a time.
const timeForm = "2006-01-02T15:04:05.000Z"

// time is when a record was written, as clients write it.
func (f *fact) time() string { return time.UnixMilli(f.when).UTC().Format(timeForm) }

// record is a record that a repair adds behind another one, written when that was; body are its further members.
func (c *checker) record(kind, id, up string, behind int, body string) *fact {
	return added(newLine(kind, id, up, c.facts[behind].time(), body), c.anchor(behind))
}
