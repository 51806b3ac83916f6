package clienttest

import (
	"slices"
	"time"

	"github.com/tidwall/gjson"
)

// heals is how long before a record whose parent is missing another may have been written to be taken for its parent
// (measured with 2.1.330).
const heals = 5 * time.Second

// Reader is a model of how 2.1.330 reads a session, as far as it was measured: which records of a file it sends. It is
// written from the measurements alone, and shares nothing with the rules that it is held against.
type Reader struct {
	links []link
	at    map[string]int // by uuid; of several the last
	leaf  string
	hung  map[string]string // the first record that each compaction has kept, and what that hangs on since
}

// link is a record that the conversation may lead through.
type link struct {
	uuid, parent, typ, answer string
	calls, outputs, keeps     []string
	when                      time.Time
	side, said, mark          bool // mark: a compaction begins here
}

// Sent are the uuids of the records with a message that the client sends of a file.
func Sent(s Session) map[string]bool {
	r := Reader{at: map[string]int{}}
	for _, l := range s {
		r.read(l)
	}
	tip := r.tip()
	on, kept := map[int]bool{}, []int(nil)
	answers, calls := map[string]bool{}, map[string]bool{}
	for i := tip; i >= 0 && !on[i]; i = r.up(i) {
		on[i] = true
		if a := r.links[i].answer; a != "" {
			answers[a] = true
		}
		kept = append(kept, r.kept(i)...)
	}
	for i, l := range r.links {
		on[i] = on[i] || l.answer != "" && answers[l.answer] && !l.side
		if on[i] {
			for _, id := range l.calls {
				calls[id] = true
			}
		}
	}
	for _, i := range kept {
		on[i] = true
	}
	sent := map[string]bool{}
	for i, l := range r.links {
		of := !l.side && slices.ContainsFunc(l.outputs, func(id string) bool { return calls[id] })
		if (on[i] || of) && l.said {
			sent[l.uuid] = true
		}
	}
	return sent
}

func (r *Reader) read(line []byte) {
	if !gjson.ValidBytes(line) {
		return
	}
	l := link{uuid: get(line, "uuid"), parent: get(line, "parentUuid"), typ: get(line, "type")}
	switch l.typ {
	case "user", "assistant":
		l.said = get(line, "message.model") != "<synthetic>" && gjson.GetBytes(line, "message.content").Exists()
	case "system", "attachment", "progress":
		l.mark = get(line, "subtype") == "compact_boundary"
	case "last-prompt":
		if leaf := get(line, "leafUuid"); leaf != "" && !gjson.GetBytes(line, "explicit").Bool() {
			r.leaf = leaf
		}
		return
	default:
		return
	}
	if l.uuid == "" {
		return
	}
	l.side = gjson.GetBytes(line, "isSidechain").Bool()
	l.when, _ = time.Parse(time.RFC3339, get(line, "timestamp"))
	if l.typ == "assistant" && l.said {
		l.answer = get(line, "message.id")
	}
	for _, b := range gjson.GetBytes(line, "message.content").Array() {
		switch b.Get("type").String() {
		case "tool_use":
			l.calls = append(l.calls, b.Get("id").String())
		case "tool_result":
			l.outputs = append(l.outputs, b.Get("tool_use_id").String())
		}
	}
	for _, id := range gjson.GetBytes(line, "compactMetadata.preservedMessages.uuids").Array() {
		l.keeps = append(l.keeps, id.String())
	}
	if len(l.keeps) > 0 {
		if r.hung == nil {
			r.hung = map[string]string{}
		}
		r.hung[l.keeps[0]] = get(line, "compactMetadata.preservedMessages.anchorUuid")
	}
	r.at[l.uuid] = len(r.links)
	r.links = append(r.links, l)
}

// kept are the records that a compaction has kept: the client sends all, or none if one of them is missing.
func (r *Reader) kept(mark int) (list []int) {
	for _, id := range r.links[mark].keeps {
		i, ok := r.at[id]
		if !ok {
			return nil
		}
		list = append(list, i)
	}
	return list
}

// up is the record that the client takes for another's parent, -1 if it takes none.
func (r *Reader) up(i int) int {
	l := r.links[i]
	if summary, kept := r.hung[l.uuid]; kept {
		if p, ok := r.at[summary]; ok {
			return p
		}
		return -1
	}
	if l.parent == "" {
		return -1
	}
	if p, ok := r.at[l.parent]; ok && p != i {
		return p
	}
	best := -1
	for j, m := range r.links {
		if !m.side && !m.when.After(l.when) && l.when.Sub(m.when) <= heals && !r.hangsOn(j, i) && (best < 0 || m.when.After(r.links[best].when)) {
			best = j
		}
	}
	return best
}

// hangsOn says whether a record names another as its parent, over whatever, or is it.
func (r *Reader) hangsOn(i, on int) bool {
	for steps := 0; i != on && steps < len(r.links); steps++ {
		p, ok := r.at[r.links[i].parent]
		if !ok {
			return false
		}
		i = p
	}
	return true
}

// says says whether the way up from a record leads to a message.
func (r *Reader) says(i int) bool {
	for steps := 0; i >= 0 && !r.links[i].said && steps < len(r.links); steps++ {
		i = r.up(i)
	}
	return i >= 0 && r.links[i].said
}

// tip is the record that the client begins at: the last of the file if it hangs on the one that the session is said to end
// with, else that one. If nothing is said, it is the latest of all that hang on the last message: where lines are sorted, reversed or have
// changed places, that is in the middle (2.1.332, measured).
func (r *Reader) tip() int {
	start, ok := r.at[r.leaf]
	if !ok || !r.says(start) {
		for start = len(r.links) - 1; start >= 0 && (r.links[start].side || !r.links[start].said && !r.links[start].mark); start-- {
		}
		if start >= 0 && r.leaf == "" && r.hangs(start) {
			return r.down(start)
		}
		if start >= 0 && slices.IndexFunc(r.links, func(l link) bool { return l.uuid == r.links[start].uuid }) < start {
			start = r.newestBelow(start) // a copy of an older record
		}
	}
	if start < 0 {
		return start
	}
	for i, l := range slices.Backward(r.links) {
		beside := len(l.outputs) > 0 && slices.ContainsFunc(r.links[i+1:], func(m link) bool { return m.parent == l.parent })
		if l.side || l.typ == "progress" || beside {
			continue
		}
		if i > start && r.leadsTo(i, start) {
			return i
		}
		break
	}
	return start
}

// hangs says whether another record hangs on one.
func (r *Reader) hangs(on int) bool {
	for i, l := range r.links {
		if !l.side && i == r.at[l.uuid] && r.up(i) == on {
			return true
		}
	}
	return false
}

// down is the record with the latest time of all that hang on one, over others, too.
func (r *Reader) down(from int) int {
	best := -1
	for i, l := range r.links {
		if !l.side && i != from && i == r.at[l.uuid] && r.leadsTo(i, from) && (best < 0 || !l.when.Before(r.links[best].when)) {
			best = i
		}
	}
	return best
}

// newestBelow is the last record of the file that hangs on another and stands behind the first writing of that. A record that was
// written again counts where it stood first.
func (r *Reader) newestBelow(of int) int {
	best, begun, seen := of, false, map[string]bool{}
	for _, l := range r.links {
		if begun && !l.side && !seen[l.uuid] && r.leadsTo(r.at[l.uuid], of) {
			best = r.at[l.uuid]
		}
		begun, seen[l.uuid] = begun || l.uuid == r.links[of].uuid, true
	}
	return best
}

// leadsTo says whether the way up from a record, as the client goes it, leads to another.
func (r *Reader) leadsTo(i, to int) bool {
	for steps := 0; i >= 0 && i != to && steps < len(r.links); steps++ {
		i = r.up(i)
	}
	return i == to
}
