package operate

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
	return t
}

// above adds to a set the records that lead to one, and that one.
func (t *tree) above(n *node, set map[*node]bool) {
	for ; n != nil && !set[n]; n = t.byID[n.parent] {
		set[n] = true
	}
}

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

// preserved adds the records that compactions of the set keep from before them.
func (t *tree) preserved(set map[*node]bool) {
	for n := range set {
		if n.typ != "system" {
			continue
		}
		meta := gjson.GetBytes(n.rec.Raw, "compactMetadata")
		for _, list := range []gjson.Result{meta.Get("preservedMessages.allUuids"), meta.Get("preservedMessages.uuids")} {
			list.ForEach(func(_, id gjson.Result) bool {
				if m := t.byID[id.String()]; m != nil {
					set[m] = true
				}
				return true
			})
		}
		for _, id := range []string{meta.Get("preservedSegment.headUuid").String(), meta.Get("preservedSegment.tailUuid").String()} {
			if m := t.byID[id]; m != nil {
				set[m] = true
			}
		}
	}
}
