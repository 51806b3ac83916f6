package mend

// requests are the first ones with each answer's id, by its hash: there are half as many as records, and a map would move all of them
// each time it grows. Collisions of hashes are not handled, as in idSet.
type requests struct {
	slots []uint32 // numbers of requests, from 1, in the order of their ids' hashes; a power of two of them, 0 where none is
	list  [][]request
	count uint32
}

// requestsAtOnce is for how many requests memory is allocated at a time: as many as fill one of the sizes in which Go allocates.
const requestsAtOnce = 128

// at is the request with a number.
func (r *requests) at(number uint32) *request {
	return &r.list[(number-1)/requestsAtOnce][(number-1)%requestsAtOnce]
}

// slot is where the number of a request with an id stands, or where it would be entered.
func (r *requests) slot(id uint64) *uint32 {
	mask := uint64(len(r.slots) - 1)
	at := id & mask
	for r.slots[at] != 0 && r.at(r.slots[at]).id != id {
		at = (at + 1) & mask
	}
	return &r.slots[at]
}

// with is the request with an id. If none was known, it is a new one.
func (r *requests) with(id uint64) (_ *request, known bool) {
	if 2*int(r.count) >= len(r.slots) {
		r.slots = make([]uint32, max(64, 2*len(r.slots)))
		for number := range r.count {
			*r.slot(r.at(number + 1).id) = number + 1
		}
	}
	slot := r.slot(id)
	if known = *slot != 0; !known {
		if r.count%requestsAtOnce == 0 {
			r.list = append(r.list, make([]request, requestsAtOnce))
		}
		r.count++
		*slot = r.count
		r.at(r.count).id = id
	}
	return r.at(*slot), known
}
