package claude

import "hash/maphash"

// idSet is a set of ids, as hashes of 64 bits: a map of the ids takes four times the room, and a session has as many ids as
// records. Nobody has seen two ids with one hash.
type idSet struct {
	slots []uint64 // a power of two of them; 0 where none is
	count int
}

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

func (s *idSet) has(id string) bool { return s.count > 0 && *s.slot(sumOf(id)) != 0 }

// add adds an id, and says whether it is new.
func (s *idSet) add(id string) bool {
	if 2*s.count >= len(s.slots) {
		old := s.slots
		s.slots = make([]uint64, max(64, 2*len(old)))
		for _, sum := range old {
			if sum != 0 {
				*s.slot(sum) = sum
			}
		}
	}
	sum := sumOf(id)
	at := s.slot(sum)
	if *at != 0 {
		return false
	}
	*at = sum
	s.count++
	return true
}
