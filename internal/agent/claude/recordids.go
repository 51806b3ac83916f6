package claude

import "slices"

// recordIDs finds records by their ids. Usually each record has an id of its own, and what names it follows closely, or is the
// end of the file: then no map is needed.
type recordIDs struct {
	set   idSet            // all ids so far
	nodes []*node          // in the order of the file; as long as there is no map, each has an id of its own
	byID  map[string]*node // nil until something farther away is asked for
}

// nearby is how many records are searched before a map of all is made.
const nearby = 16

// apart sets the records, and says whether each has an id of its own.
func (r *recordIDs) apart(nodes []*node) bool {
	r.nodes = nodes
	r.set.reserve(len(nodes))
	for _, n := range nodes {
		r.set.add(n.UUID)
	}
	return r.set.apart()
}

// get is the record with an id, nil if there is none.
func (r *recordIDs) get(id string) *node { return r.before(len(r.nodes), id) }

// before is get for an id that the record at an index names.
func (r *recordIDs) before(at int, id string) *node {
	if r.byID == nil {
		for _, n := range slices.Backward(r.nodes[max(0, at-nearby):at]) {
			if n.UUID == id {
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

// put makes a record the one with its id.
func (r *recordIDs) put(n *node) {
	if r.byID == nil {
		r.mapAll()
	}
	r.byID[n.UUID] = n
}

func (r *recordIDs) mapAll() { r.byID = mapped(r.nodes).byID }

// mapped maps records by their ids; of several with one id, it keeps the last.
func mapped(nodes []*node) *recordIDs {
	byID := make(map[string]*node, len(nodes))
	for _, n := range nodes {
		byID[n.UUID] = n
	}
	return &recordIDs{byID: byID}
}
