package claude

import "slices"

// recordIDs finds records by their ids. Mostly each record has one of its own, and what names it stands closely behind it, or
// is the end of the file: then no map is made.
type recordIDs struct {
	set   idSet            // of all that came
	nodes []*node          // in the order of the file; without a map each has an id of its own
	byID  map[string]*node // nil until something farther away is asked for
}

// nearby is how many records are looked at before a map is made of all.
const nearby = 16

// apart takes all records, of which each has an id, and says whether no two have the same.
func (r *recordIDs) apart(nodes []*node) bool {
	r.nodes = nodes
	r.set.reserve(len(nodes))
	for _, n := range nodes {
		r.set.add(n.uuid)
	}
	return r.set.apart()
}

// get is the record with an id, nil if there is none.
func (r *recordIDs) get(id string) *node { return r.before(len(r.nodes), id) }

// before is get for an id that something names which stands at a place among the records.
func (r *recordIDs) before(at int, id string) *node {
	if r.byID == nil {
		for _, n := range slices.Backward(r.nodes[max(0, at-nearby):at]) {
			if n.uuid == id {
				return n
			}
		}
		if !r.set.has(id) {
			return nil
		}
		r.mapAll()
	}
	return r.byID[id]
}

// put makes a record the one that has its id.
func (r *recordIDs) put(n *node) {
	if r.byID == nil {
		r.mapAll()
	}
	r.byID[n.uuid] = n
}

func (r *recordIDs) mapAll() { r.byID = mapped(r.nodes).byID }

// mapped is records by their ids, of those with one id the last.
func mapped(nodes []*node) *recordIDs {
	byID := make(map[string]*node, len(nodes))
	for _, n := range nodes {
		byID[n.uuid] = n
	}
	return &recordIDs{byID: byID}
}
