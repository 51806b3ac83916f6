package rules

// recent remembers values by hashed keys, and forgets the oldest when there are too many. The values stand in a ring in
// the order in which they came; a table with linear probing says where in the ring a key is. For values of a few bytes
// a map takes twice as much room, and can't tell which are the oldest.
type recent[V any] struct {
	limit  int // how many are kept: at most maxRecent
	ring   []remembered[V]
	oldest int // in the ring once that is full: the one to go
	// table holds 1 + a place in the ring in the low bits, and above them a part of the key, so that most keys that
	// have not come are told from others without a look at the ring. 0: nothing is here.
	table []uint32
}

type remembered[V any] struct {
	key   uint64
	value V
}

const (
	maxRecent  = 1<<placeBits - 1
	placeBits  = 19
	placeMask  = 1<<placeBits - 1
	firstTable = 64
)

// get returns the value of a key, nil if there is none. It is valid until the next put.
func (r *recent[V]) get(key uint64) *V {
	if slot, ok := r.find(key); ok {
		return &r.ring[place(r.table[slot])].value
	}
	return nil
}

// put remembers a value as the newest. If another key had to go for it, full says so, and gone is what was known of it.
func (r *recent[V]) put(key uint64, value V) (gone remembered[V], full bool) {
	at := len(r.ring)
	if full = at == r.limit; full {
		at = r.oldest
		r.oldest = (at + 1) % r.limit
		gone = r.ring[at]
		full = r.forget(gone.key, at) && gone.key != key
		r.ring[at] = remembered[V]{key, value}
	} else {
		r.grow()
		r.ring = append(r.ring, remembered[V]{key, value})
	}
	slot, _ := r.find(key)
	r.table[slot] = uint32(key>>(32+placeBits)<<placeBits) | uint32(at+1)
	return gone, full
}

// grow makes room for one more. At most half of the table is used.
func (r *recent[V]) grow() {
	if n := cap(r.ring); len(r.ring) == n {
		r.ring = append(make([]remembered[V], 0, min(max(2*n, firstTable/2), r.limit)), r.ring...)
	}
	if 2*len(r.ring) < len(r.table) {
		return
	}
	old := r.table
	r.table = make([]uint32, max(2*len(old), firstTable))
	for _, t := range old {
		if t != 0 {
			slot := r.home(r.ring[place(t)].key)
			for r.table[slot] != 0 {
				slot = r.next(slot)
			}
			r.table[slot] = t
		}
	}
}

// find returns the slot of a key, or the empty one where it would stand.
func (r *recent[V]) find(key uint64) (slot int, ok bool) {
	if len(r.table) == 0 {
		return 0, false
	}
	part := uint32(key >> (32 + placeBits) << placeBits)
	for slot = r.home(key); r.table[slot] != 0; slot = r.next(slot) {
		if t := r.table[slot]; t&^placeMask == part && r.ring[place(t)].key == key {
			return slot, true
		}
	}
	return slot, false
}

// forget takes a key out of the table; false if it has come again since, and stands elsewhere in the ring. What follows
// in the table moves up, for a search ends at an empty slot.
func (r *recent[V]) forget(key uint64, at int) bool {
	slot, ok := r.find(key)
	if !ok || place(r.table[slot]) != at {
		return false
	}
	for next := r.next(slot); r.table[next] != 0; next = r.next(next) {
		home, mask := r.home(r.ring[place(r.table[next])].key), len(r.table)-1
		if (next-home)&mask >= (next-slot)&mask {
			r.table[slot] = r.table[next]
			slot = next
		}
	}
	r.table[slot] = 0
	return true
}

// clear forgets everything, and keeps the room.
func (r *recent[V]) clear() {
	clear(r.ring)
	clear(r.table)
	r.ring, r.oldest = r.ring[:0], 0
}

func place(t uint32) int { return int(t&placeMask) - 1 }

func (r *recent[V]) home(key uint64) int { return int(key & uint64(len(r.table)-1)) }

func (r *recent[V]) next(slot int) int { return (slot + 1) & (len(r.table) - 1) }
