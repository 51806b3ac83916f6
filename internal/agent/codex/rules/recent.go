package rules

// recent remembers values by hashed keys, and forgets the oldest when there are too many. The values stand in a ring in
// the order in which they came; a table with linear probing says where in the ring a key is. For values of a few bytes
// a map takes twice as much room, and can't tell which are the oldest.
//
// What is forgotten is only overwritten in the ring: its slot in the table then leads to another key, and is taken for what
// it is when it is met. To take it out at once would need a look at a few more places, which are seldom in the cache. Once
// half of the table is used it is filled anew.
type recent[V any] struct {
	limit  int // how many values are kept: at most maxRecent
	ring   []remembered[V]
	oldest int // once the ring is full: the index of the value to go next
	// table holds, in each slot, 1 + an index of the ring in the low bits, and above these a part of the key, so that most
	// unknown keys are recognised without a look at the ring. 0: the slot is empty.
	table []uint32
	used  int // how many slots of the table are not 0
}

type remembered[V any] struct {
	key   uint64 // 0 if the key has come again since
	value V
}

const (
	maxRecent  = 1<<placeBits - 1
	placeBits  = 19
	placeMask  = 1<<placeBits - 1
	firstTable = 64
	manyKept   = 1 << 12 // from then on, room is made for all that there may be
)

// get returns the value of a key, nil if there is none. It is valid until a value is put or added.
func (r *recent[V]) get(key uint64) *V {
	if slot, ok := r.find(key); ok {
		return &r.ring[place(r.table[slot])].value
	}
	return nil
}

// put remembers a value as the newest.
func (r *recent[V]) put(key uint64, value V) {
	v, _ := r.add(key)
	*v = value
}

// add is put for who writes the value to its place, which is faster, as with finding.Ref.Set. If another key has been forgotten for
// it, that is gone, and its value is still at the place; otherwise gone is 0.
func (r *recent[V]) add(key uint64) (value *V, gone uint64) {
	if 2*r.used >= len(r.table) {
		r.fill()
	}
	slot, known := r.find(key)
	if known {
		r.ring[place(r.table[slot])].key = 0
	} else {
		r.used++
	}
	at := len(r.ring)
	if at < r.limit {
		r.ring = withRoom(r.ring, r.limit)[:at+1]
	} else {
		at = r.oldest
		if r.oldest++; r.oldest == r.limit {
			r.oldest = 0
		}
		gone = r.ring[at].key
	}
	r.ring[at].key = key
	r.table[slot] = part(key) | uint32(at+1)
	return &r.ring[at].value, gone
}

// withRoom is a list of fewer than limit values with room for one more. Where there are many, room is made at once for as many as there
// may be: fresh memory that nobody has written to yet costs nothing, and taking the values along to a larger place does.
func withRoom[T any](list []T, limit int) []T {
	n := cap(list)
	if len(list) < n {
		return list
	}
	room := max(2*n, firstTable/2)
	if n >= manyKept {
		room = limit
	}
	return append(make([]T, 0, min(room, limit)), list...)
}

// fill rebuilds the table from the ring, so that at most a quarter of it is used.
func (r *recent[V]) fill() {
	if size := max(len(r.table), firstTable); 4*len(r.ring) > size {
		r.table = make([]uint32, 2*size)
	} else if len(r.table) < size {
		r.table = make([]uint32, size)
	}
	clear(r.table) // new memory, too: reading it before it is written would cost a second page fault, which stops the other processors
	r.used = 0
	for at := range r.ring {
		if key := r.ring[at].key; key != 0 {
			slot := r.home(key)
			for r.table[slot] != 0 {
				slot = r.next(slot)
			}
			r.table[slot] = part(key) | uint32(at+1)
			r.used++
		}
	}
}

// find returns the slot of a key, or the empty one where it would stand.
func (r *recent[V]) find(key uint64) (slot int, ok bool) {
	if len(r.table) == 0 {
		return 0, false
	}
	want := part(key)
	for slot = r.home(key); r.table[slot] != 0; slot = r.next(slot) {
		if t := r.table[slot]; t&^placeMask == want && r.ring[place(t)].key == key {
			return slot, true
		}
	}
	return slot, false
}

// clear forgets everything, and keeps the memory.
func (r *recent[V]) clear() {
	clear(r.ring)
	clear(r.table)
	r.ring, r.oldest, r.used = r.ring[:0], 0, 0
}

// part is what the table holds of a key.
func part(key uint64) uint32 { return uint32(key >> (32 + placeBits) << placeBits) }

func place(t uint32) int { return int(t&placeMask) - 1 }

func (r *recent[V]) home(key uint64) int { return int(key & uint64(len(r.table)-1)) }

func (r *recent[V]) next(slot int) int { return (slot + 1) & (len(r.table) - 1) }
