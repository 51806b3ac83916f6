package claude

import "hash/maphash"

// idSet is a set of ids, as hashes of 64 bits: a map of the ids takes four times the room, and a session has as many ids as
// records. Nobody has seen two ids with one hash. Ids are entered many at a time: each waits for memory, but not for the others.
type idSet struct {
	slots   []uint64 // a power of two of them; 0 where none is
	count   int      // of those in the slots
	waiting []uint64 // to be entered
	twice   bool     // an id was added that was there
}

// idsAtOnce is how many ids are entered at a time.
const idsAtOnce = 256

// slot is where an id stands, or where it would.
func (s *idSet) slot(sum uint64) *uint64 {
	mask := uint64(len(s.slots) - 1)
	at := sum & mask
	for s.slots[at] != 0 && s.slots[at] != sum {
		at = (at + 1) & mask
	}
	return &s.slots[at]
}

func sumOf(id string) uint64 { return max(1, maphash.String(nodeSeed, id)) }

func (s *idSet) has(id string) bool {
	s.enter()
	return s.count > 0 && *s.slot(sumOf(id)) != 0
}

// apart says whether no id was added twice.
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
	if s.waiting = append(s.waiting, sumOf(id)); len(s.waiting) >= idsAtOnce {
		s.enter()
	}
}

// enter takes in what waits.
func (s *idSet) enter() {
	s.reserve(s.count + len(s.waiting))
	for _, sum := range s.waiting {
		at := s.slot(sum)
		if *at != 0 {
			s.twice = true
			continue
		}
		*at = sum
		s.count++
	}
	s.waiting = s.waiting[:0]
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
	clear(s.slots) // memory that is read before it is written costs a second fault, which stops the other processors, too
	for _, sum := range old {
		if sum != 0 {
			*s.slot(sum) = sum
		}
	}
}
