package mend

// requests are the first ones with each answer's id, by its hash: there are half as many as records, and a map would move all of them
// each time it grows. Collisions of hashes are not handled, as in idSet.
type requests struct {
	slots  []uint32 // numbers of requests, from 1, in the order of their ids' hashes; a power of two of them, 0 where none is
	list   [][]request
	count  uint32
	sought [answersAtOnce]uint64
}

// requestsAtOnce is for how many requests memory is allocated at a time: as many as fill one of the sizes in which Go allocates.
const requestsAtOnce = 128

// at is the request with a number.
func (r *requests) at(number uint32) *request {
	return &r.list[(number-1)/requestsAtOnce][(number-1)%requestsAtOnce]
}

// places are where the ids of some answers stand or may be entered, unless one of them takes the place of another.
func (r *requests) places(answers []waitingAnswer) []uint64 {
	if most := int(r.count) + len(answers); 2*most > len(r.slots) {
		size := max(64, len(r.slots))
		for size < 2*most {
			size *= 2
		}
		r.slots = make([]uint32, size)
		for number := uint32(1); number <= r.count; number++ {
			id := r.at(number).id
			r.slots[r.place(id, id)] = number
		}
	}
	for i := range answers {
		r.sought[i] = r.place(answers[i].id, answers[i].id)
	}
	return r.sought[:len(answers)]
}

// place is where the number of the request with an id stands, or where it would be entered, which is not in front of another place.
func (r *requests) place(id, from uint64) uint64 {
	mask := uint64(len(r.slots) - 1)
	at := from & mask
	for r.slots[at] != 0 && r.at(r.slots[at]).id != id {
		at = (at + 1) & mask
	}
	return at
}

// with is the request with an id, which is not in front of a place. If none was known, it is a new one, to be filled in.
func (r *requests) with(id, place uint64) (_ *request, known bool) {
	slot := &r.slots[r.place(id, place)]
	if known = *slot != 0; !known {
		if r.count%requestsAtOnce == 0 {
			r.list = append(r.list, make([]request, requestsAtOnce))
		}
		r.count++
		*slot = r.count
	}
	return r.at(*slot), known
}

// of is the request with an id that is known.
func (r *requests) of(id uint64) *request { return r.at(r.slots[r.place(id, id)]) }
