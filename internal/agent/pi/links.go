package pi

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// remainsOf reads what a dead line says of itself: clients write type, id and parent first.
func remainsOf(rec *session.Record, before int) remains {
	r := remains{at: rec.Pos, before: before}
	head := rec.Raw[:min(len(rec.Raw), 1<<10)]
	if m := begun.FindSubmatch(head); m != nil {
		r.id, r.up = string(m[1]), string(m[2])
	} else if bytes.Contains(head, []byte(`"type":"session"`)) {
		r.header = string(head)
	}
	if whole := bytes.TrimSpace(rec.Raw); jsonl.Valid(whole) {
		r.null = string(whole) == "null"
		r.value = !r.null
	}
	return r
}

var begun = regexp.MustCompile(`^\x00*\{"type":"[a-z_]+","id":"([0-9a-f]{8})","parentId":(?:"([0-9a-f]{8})"|null)`)

// header finds what keeps the client from opening the file, and what it would do to it.
func (c *checker) header() (list []*found) {
	at := c.headerAt()
	if at < 0 {
		f := c.find(0, ruleLostHeader, finding.StandIn, "no line says whose session this is: the client does not find it by its id, refuses it by its path (before 0.80.3 it overwrites it), and --continue begins a new session without a word")
		line, source := c.newHeader()
		f.Source = source
		f.Gap = c.facts[0].id == "" // records without ids, of version 1, do not say what stood in front of them
		f.changes = []change{{add: &fact{kind: "session", id: "-", behind: -1, made: line}}}
		return []*found{f}
	}
	h := &c.facts[at]
	if at > 0 {
		f := c.find(at, ruleLateHeader, finding.Exact, "the header is not the first record: the client does not see it, and refuses the file")
		f.changes = []change{{at: at, place: toBegin}}
		list = append(list, f)
	}
	if h.id == "" {
		f := c.find(at, ruleWrongHeader, finding.Exact, "the header has no id: the client does not open the file, and looking up other sessions of its folder by id ends with an error")
		id, sure := c.threadID()
		if !sure {
			f.Fix = finding.StandIn
		}
		f.set(at, func(r *fact) { r.id = id })
		list = append(list, f)
	}
	for k := range h.flaws {
		f := c.find(at, h.flaws[k].rule, h.flaws[k].fix, "%s", h.flaws[k].message)
		f.set(at, mended(k), h.flaws[k].cuts...)
		list = append(list, f)
	}
	if c.old = h.old && !c.linked(); h.old && !c.old {
		f := c.find(at, ruleLostVersion, finding.Exact, "the header does not say which version it is of: at the next resume the client rewrites the file, gives every record another id and lays all branches in one line; nothing brings that back")
		f.Impact = finding.Loses
		f.set(at, func(r *fact) { r.old = false }, h.spare.to("3"))
		list = append(list, f)
	}
	return list
}

// mended takes a flaw from a record.
func mended(k int) func(*fact) {
	return func(r *fact) {
		r.flaws = slices.Clone(r.flaws)
		r.flaws[k].harm = harmless
	}
}

// threadID is the id that the file's name gives a session; sure is false if it gives none.
func (c *checker) threadID() (id string, sure bool) {
	if id := readName(c.run.Options().Name.Base).ThreadID; id != "" {
		return id, true
	}
	return fmt.Sprintf("hist-%s", freshID(map[string]int{}, c.facts[0].sum)), false
}

// newHeader is a header by what else is known of a session.
func (c *checker) newHeader() (line []byte, source string) {
	id, sure := c.threadID()
	when, cwd := c.facts[0].time(), ""
	source = "the first records"
	if sure {
		source = "the file's name"
	}
	for _, d := range c.dead {
		for key, to := range map[string]*string{"id": &id, "timestamp": &when, "cwd": &cwd} {
			if m := regexp.MustCompile(`"` + key + `":"([^"\\]+)"`).FindStringSubmatch(d.header); m != nil {
				*to, source = m[1], "what is left of its line"
			}
		}
	}
	for i := range c.facts {
		if f := &c.facts[i]; cwd == "" && f.role == "system" && f.target != "" {
			cwd, source = f.target, source+" and the client's message about the directory"
		}
	}
	if cwd == "" {
		if cwd = c.beside.cwd(); cwd != "" {
			source += " and another session of its folder"
		}
	}
	line = append(append([]byte(`{"type":"session","version":3,"id":`), quote(id)...), `,"timestamp":`...)
	line = append(line, quote(when)...)
	if cwd != "" {
		line = append(append(line, `,"cwd":`...), quote(cwd)...)
	}
	return append(line, '}'), source
}

// time is when a record was written, as clients write it.
func (f *fact) time() string { return time.UnixMilli(f.when).UTC().Format("2006-01-02T15:04:05.000Z") }

// foreign finds objects that no client wrote. At the end of the file one hides the whole history: it is the leaf, and has no parent.
func (c *checker) foreign() (list []*found) {
	last := c.leaf()
	for i := c.own - 1; i >= 0 && !c.old; i-- {
		f := &c.facts[i]
		if f.header() || f.gone {
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
			one.set(i, func(r *fact) { r.gone = true })
		} else {
			one.Fix = finding.NoFix
		}
		list = append(list, one)
	}
	slices.Reverse(list)
	return list
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

// ids finds records that others can't name, because their id is missing or misspelled: what hangs on them names an id that no record has.
func (c *checker) ids() (list []*found) {
	if c.old {
		return nil
	}
	ids, order, kids := c.byID(), c.inOrder(), c.children()
	wanted, nameless := map[string]int{}, 0 // ids that no record has, and the first record that names them
	for _, i := range order {
		f := &c.facts[i]
		if _, ok := ids[f.up]; f.up != "" && !ok {
			if _, seen := wanted[f.up]; !seen {
				wanted[f.up] = i
			}
		}
		if f.id == "" {
			nameless++
		}
	}
	give := func(i int, id, message string) {
		f := c.find(i, ruleRecordID, finding.Exact, "%s", message)
		f.set(i, func(r *fact) { r.id = id })
		delete(wanted, id)
		ids[id] = i
		list = append(list, f)
	}
	seen := map[string]int{}
	for k, i := range order {
		f := &c.facts[i]
		next := ""
		if k+1 < len(order) {
			if up := c.facts[order[k+1]].up; wanted[up] == order[k+1] {
				next = up
			}
		}
		first, again := seen[f.id]
		switch {
		case f.id == "":
			switch {
			case next != "":
			case nameless == 1 && len(wanted) == 1:
				for next = range wanted {
				}
			default:
				next = freshID(ids, f.sum, k)
			}
			give(i, next, "a record without an id: what hangs on it does not find it")
		case again && !same(&c.facts[first], f):
			if next == "" {
				next = freshID(ids, f.sum, k)
			}
			give(i, next, "another record has the same id: the client finds only one of them, and the chain of the other is cut")
			for _, kid := range kids[f.id] {
				if kid > i {
					list[len(list)-1].hang(kid, next)
				}
			}
		case next != "" && len(kids[f.id]) == 0 && (strings.EqualFold(next, f.id) || session.FlippedAt(next, f.id) >= 0):
			if hexID.MatchString(next) && !hexID.MatchString(f.id) {
				give(i, next, "the id of a record is misspelled: what hangs on it does not find it")
			}
		}
		if !again {
			seen[f.id] = i
		}
	}
	return list
}

// same says whether two records are copies of one; a copy that was cut is one, too.
func same(a, b *fact) bool {
	return a.sum == b.sum || a.up == b.up && a.when == b.when && a.role == b.role && (a.mended || b.mended)
}

// copies finds records that stand twice. They do no harm unless one is the last record of the file.
func (c *checker) copies() (list []*found) {
	if c.old {
		return nil
	}
	seen := map[string]int{}
	for _, i := range c.inOrder() {
		f := &c.facts[i]
		first, again := seen[f.id]
		if !again || f.id == "" {
			seen[f.id] = i
			continue
		}
		out := i
		if c.facts[first].mended && !f.mended { // that one was cut
			out, seen[f.id] = first, i
		}
		one := c.find(out, ruleSameRecord, finding.SetAside, "a second copy of a record")
		one.set(out, func(r *fact) { r.gone = true })
		if i == c.leaf() {
			one.Message += ": the client takes it for the end of the session"
		}
		one.at = i
		list = append(list, one)
	}
	return list
}

// links finds records whose chain ends before its beginning: all above them is not sent.
func (c *checker) links() (list []*found) {
	if c.old {
		return nil
	}
	ids, order, kids := c.byID(), c.inOrder(), c.children()
	place := make([]int, len(c.facts)) // in the order of the file
	for k, i := range order {
		place[i] = k
	}
	circle := c.circles(ids, order)
	top := make([]int, len(c.facts)) // towards the end of the chain above; a record that it ends with leads to itself
	for i := range top {
		top[i] = i
	}
	broken := func(i int) bool {
		f := &c.facts[i]
		up, ok := ids[f.up]
		switch {
		case f.up != "" && !ok, circle[i] && place[up] >= place[i]:
			return true
		case f.up != "" || f.id == c.facts[order[0]].id:
			return false
		}
		return !f.root || c.facts[order[0]].role != "user" // a client that went back to the first prompt of all says so
	}
	for _, i := range order {
		if up, ok := ids[c.facts[i].up]; ok && !broken(i) {
			top[i] = up
		}
	}
	end := func(i int) int {
		for top[i] != i {
			top[i] = top[top[i]]
			i = top[i]
		}
		return i
	}
	gone := map[string]string{} // the parents of records on dead lines
	for _, d := range c.dead {
		if d.id != "" {
			gone[d.id] = d.up
		}
	}
	chosen := map[string]int{} // for those that name the same missing parent
	for k, i := range order {
		f := &c.facts[i]
		if !broken(i) || f.id != "" && ids[f.id] != i { // a later copy is read in its place
			continue
		}
		what := "it names a parent that is not in the file"
		switch {
		case circle[i]:
			what = "its chain of parents leads back to itself, at which the client ends or hangs"
		case f.up == "":
			what = "it names no parent"
		}
		one := c.find(i, ruleBrokenLink, finding.Exact, "%s, so nothing above it is sent", what)
		list = append(list, one)
		one.Gap = f.up != "" && !circle[i]
		if back := c.recovered(one, i, ids); back {
			one.Gap = false
			c.broken[i] = false
			continue
		}
		to, known := chosen[f.up]
		if !known || f.up == "" {
			to = c.parentFor(k, order, ids, gone, end)
		}
		if to < 0 {
			one.Fix = finding.NoFix
			one.Message += "; what it hung on is nowhere else"
			one.Impact = finding.Loses
			continue
		}
		if f.up != "" {
			chosen[f.up] = to
			if !circle[i] {
				c.lost[f.up] = min(i, c.lostOr(f.up, i))
				c.broken[i] = true
			}
		}
		if n := len(kids[c.facts[to].id]); n > 0 && (n > 1 || kids[c.facts[to].id][0] != i) {
			one.Fix = finding.StandIn
			one.Message += fmt.Sprintf("; several chains end above it, the nearest with the record on %s", c.facts[c.anchor(to)].ref.Pos)
		}
		one.hang(i, c.facts[to].id)
		top[i] = to
	}
	return list
}

func (c *checker) lostOr(id string, i int) int {
	if first, ok := c.lost[id]; ok {
		return first
	}
	return i
}

// circles are the records from which the parents lead back to themselves.
func (c *checker) circles(ids map[string]int, order []int) map[int]bool {
	in, done := map[int]bool{}, make([]int, len(c.facts))
	for k, i := range order {
		j, ok := i, true
		for ok && done[j] == 0 {
			done[j] = k + 1
			j, ok = ids[c.facts[j].up]
		}
		if !ok || done[j] != k+1 {
			continue
		}
		for at := j; !in[at]; at = ids[c.facts[at].up] {
			in[at] = true
		}
	}
	return in
}

// parentFor ranks what a record, by its place in the order of the file, may hang on: the record whose id it misspells; the parent of the dead
// line that has the id; else the record before it, as long as that does not hang on it itself. It is -1 if there is none.
func (c *checker) parentFor(k int, order []int, ids map[string]int, gone map[string]string, end func(int) int) int {
	i := order[k]
	up := c.facts[i].up
	free := func(j int) bool { return j != i && end(j) != i }
	if k > 0 && up != "" {
		if j := order[k-1]; free(j) && (strings.EqualFold(c.facts[j].id, up) || session.FlippedAt(c.facts[j].id, up) >= 0) {
			return j
		}
	}
	for n := 0; up != "" && n < len(gone); n++ {
		up = gone[up]
		if j, ok := ids[up]; ok && free(j) {
			return j
		}
	}
	for j := k - 1; j >= 0; j-- {
		if free(order[j]) {
			return order[j]
		}
	}
	return -1
}

// end finds out whether the last record of the file is the end of a chain: if another hangs on it, it was not written last.
func (c *checker) end() (list []*found) {
	leaf := c.leaf()
	if leaf < 0 || c.old {
		return nil
	}
	if branch := c.run.Options().Branch; branch != "" {
		return c.branch(leaf, branch)
	}
	if c.facts[leaf].id == "" || len(c.children()[c.facts[leaf].id]) == 0 {
		return nil
	}
	to := c.newestBelow(leaf)
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
		if len(below) == 0 && (best == from || c.newest(best, i) < 0) && i < c.own {
			best = i
		}
		todo = append(todo, below...)
	}
	return best
}

// branch lets the client go on with the branch that the user names by the id of a record.
func (c *checker) branch(leaf int, id string) []*found {
	ids := c.byID()
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
		f.changes = []change{{add: c.record("custom", freshID(ids, "branch", c.facts[to].id), c.facts[to].id, to, leaf, `"customType":"hist.branch","data":{}`)}}
		return []*found{f}
	}
	return nil
}

// record is a record that a repair adds behind another one of the file, written when that one was; body are its further members.
func (c *checker) record(kind, id, up string, when, behind int, body string) *fact {
	f := &fact{kind: kind, id: id, up: up, behind: c.anchor(behind), when: c.facts[when].when}
	f.made = fmt.Appendf(nil, `,"timestamp":%q,%s}`, f.time(), body)
	return f
}
