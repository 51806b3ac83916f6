package claude

import (
	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/surgery"
)

// node is a record of the tree.
type node struct {
	rec     *session.Record
	index   int // in the session's records
	typ     string
	uuid    string
	parent  string
	message string // the id of the answer that it is a part of
	side    bool
	calls   []string
	results []string
}

// tree is a session's records that have parents. What shares an id is one: the last of them counts, as for the client.
type tree struct {
	s       *surgery.Session
	nodes   []*node
	byID    map[string]*node
	by      map[*session.Record]*node
	kept    map[*node]bool // by a compaction, from before it
	dropped map[*node]bool // that are taken out whole
}

func newTree(s *surgery.Session) *tree {
	t := &tree{s: s, byID: map[string]*node{}, by: map[*session.Record]*node{}, dropped: map[*node]bool{}}
	for i := range s.Records {
		rec := &s.Records[i]
		if rec.Kind == session.Unreadable {
			continue
		}
		r := gjson.ParseBytes(rec.Raw)
		if !r.Get("uuid").Exists() {
			continue
		}
		n := &node{rec: rec, index: i, typ: r.Get("type").String(), uuid: r.Get("uuid").String(), parent: r.Get("parentUuid").String(), message: r.Get("message.id").String(), side: r.Get("isSidechain").Bool()}
		r.Get("message.content").ForEach(func(_, b gjson.Result) bool {
			switch b.Get("type").String() {
			case "tool_use":
				n.calls = append(n.calls, b.Get("id").String())
			case "tool_result":
				n.results = append(n.results, b.Get("tool_use_id").String())
			}
			return true
		})
		t.nodes, t.by[rec] = append(t.nodes, n), n
		t.byID[n.uuid] = n
	}
	t.kept = t.preservedBy(nil)
	return t
}

// above adds to a set the records that lead to one, and that one.
func (t *tree) above(n *node, set map[*node]bool) {
	for ; n != nil && !set[n]; n = t.byID[n.parent] {
		set[n] = true
		if t.kept[n] && !t.leads(n) {
			return
		}
	}
}

// leads says whether what leads to a record that a compaction keeps stands behind the compaction, too.
func (t *tree) leads(n *node) bool { return t.kept[t.byID[n.parent]] }

// beside adds to a set what its client sends together with it: the other pieces of an answer, the outputs of its calls, and what
// leads to each of these. allowed says which records may be added.
func (t *tree) beside(set map[*node]bool, allowed func(*node) bool) {
	for grown := true; grown; {
		grown = false
		messages, calls := map[string]bool{}, map[string]bool{}
		for n := range set {
			if n.message != "" {
				messages[n.message] = true
			}
			for _, id := range n.calls {
				calls[id] = true
			}
		}
		for _, n := range t.nodes {
			if set[n] || n.side || !allowed(n) {
				continue
			}
			wanted := n.message != "" && messages[n.message]
			for _, id := range n.results {
				wanted = wanted || calls[id]
			}
			if wanted {
				t.above(n, set)
				grown = true
			}
		}
	}
}

// preservedBy are the records that compactions of a set, or any if that is nil, keep from before them: the client hangs them behind
// the summary, so what led to them is not needed.
func (t *tree) preservedBy(of map[*node]bool) map[*node]bool {
	set := map[*node]bool{}
	for _, n := range t.nodes {
		if n.typ != "system" || of != nil && !of[n] {
			continue
		}
		meta := gjson.GetBytes(n.rec.Raw, "compactMetadata")
		for _, path := range []string{"preservedMessages.allUuids", "preservedMessages.uuids"} {
			for _, id := range meta.Get(path).Array() {
				t.keep(id.String(), set)
			}
		}
		t.keep(meta.Get("preservedSegment.headUuid").String(), set)
		t.keep(meta.Get("preservedSegment.tailUuid").String(), set)
	}
	return set
}

func (t *tree) keep(id string, set map[*node]bool) {
	if n := t.byID[id]; n != nil {
		set[n] = true
	}
}
