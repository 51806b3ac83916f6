package mend

import (
	"hash/maphash"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
)

// idSet is a set of ids, kept as 64-bit hashes: a map of the ids would take four times the memory, and a session has as many
// ids as records. Collisions are not handled; none has been seen. Ids are entered once something is asked, so that their cache misses
// overlap, and the table need not grow.
type idSet struct {
	slots   []uint64   // a power of two of them; 0 where none is
	count   int        // of those in the slots
	waiting [][]uint64 // to be entered
	waits   int        // how many
	twice   bool       // an id was added a second time
	asked   uint64     // the last id asked for since one was entered, and the answer
	found   bool
}

// slot is where an id stands, or where it would be entered.
func (s *idSet) slot(sum uint64) *uint64 {
	mask := uint64(len(s.slots) - 1)
	at := sum & mask
	for s.slots[at] != 0 && s.slots[at] != sum {
		at = (at + 1) & mask
	}
	return &s.slots[at]
}

func sumOf(id string) uint64 { return max(1, maphash.String(content.NodeSeed, id)) }

// has says whether an id was added. A session may ask for one id as often as it has records, and the cost of one look-up
// depends on chance, so the last answer is kept.
func (s *idSet) has(id string) bool {
	s.enter()
	if sum := sumOf(id); sum != s.asked {
		s.asked, s.found = sum, s.count > 0 && *s.slot(sum) != 0
	}
	return s.found
}

// apart says whether every id was added only once.
func (s *idSet) apart() bool {
	s.enter()
	return !s.twice
}

// size is how many ids there are.
func (s *idSet) size() int {
	s.enter()
	return s.count
}

func (s *idSet) add(id string) {
	if s.waits == len(s.waiting)*waitAtOnce {
		s.waiting = append(s.waiting, make([]uint64, waitAtOnce))
	}
	s.waiting[s.waits/waitAtOnce][s.waits%waitAtOnce] = sumOf(id)
	s.waits++
}

// waitAtOnce is for how many ids that wait memory is allocated at a time.
const waitAtOnce = 128

// enter enters the waiting ids.
func (s *idSet) enter() {
	if s.waits == 0 {
		return
	}
	s.asked = 0
	s.reserve(s.count + s.waits)
	for _, some := range s.waiting {
		for _, sum := range some[:min(s.waits, waitAtOnce)] {
			if at := s.slot(sum); *at == 0 {
				*at = sum
				s.count++
			} else {
				s.twice = true
			}
		}
		s.waits -= min(s.waits, waitAtOnce)
	}
	clear(s.waiting[1:])
	s.waiting = s.waiting[:1]
}

// reserve makes room for a number of ids.
func (s *idSet) reserve(ids int) {
	if ids == 0 || 2*ids <= len(s.slots) {
		return
	}
	old, size := s.slots, max(64, len(s.slots))
	for size < 2*ids {
		size *= 2
	}
	s.slots = make([]uint64, size)
	clear(s.slots) // memory that is read before it is written costs a second page fault, which stops the other processors, too
	for _, sum := range old {
		if sum != 0 {
			*s.slot(sum) = sum
		}
	}
}

// recordIDs finds records by their ids. Usually each record has an id of its own, and what names it follows closely, or is the
// end of the file: then no map is needed.
type recordIDs struct {
	set   idSet            // all ids so far
	nodes []*node          // in the order of the file; as long as there is no map, each has an id of its own
	byID  map[string]*node // nil until something farther away is asked for
}

// nearby is how many records are searched before a map of all is made.
const nearby = 16

// apart sets the records, whose ids were added as they were read, and says whether each has an id of its own.
func (r *recordIDs) apart(nodes []*node) bool {
	if r.nodes = nodes; r.set.waits != len(nodes) { // some were removed
		r.set = idSet{}
		for _, n := range nodes {
			r.set.add(n.UUID)
		}
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
