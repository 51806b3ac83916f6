package jsonl

import (
	"bytes"
	"hash/maphash"
)

const (
	fewKeys  = 64      // keys of one object that are searched one by one
	mostKeys = 1 << 18 // keys of open objects that are kept; later ones are not compared
	keptKeys = 1 << 14 // keys for which room is kept between lines
)

// A keySet finds keys that come twice in an object. The keys of all open
// objects lie in one stack, those of the innermost object on top.
type keySet struct {
	keys    []seenKey
	objects [wantedDepth + 1]seenObject // by depth

	decoded, other []byte // decoded keys
	seed           maphash.Seed
	seeded         bool
}

type seenKey struct {
	hash       uint64 // from hash; in objects with a table from maphash
	start, end int    // in the line, without the quotes
}

type seenObject struct {
	filter uint64   // the bits of the hashes
	first  int      // index of its first key
	table  []uint32 // open addressing: key index + 1, 0 is free; size a power of two
}

func (k *keySet) reset() { k.keys = k.keys[:0] }

func (k *keySet) open(depth int) {
	o := &k.objects[depth]
	o.filter, o.first = 0, len(k.keys)
	o.table = o.table[:0]
}

func (k *keySet) close(depth int) { k.keys = k.keys[:k.objects[depth].first] }

// release drops the room for more keys than usual.
func (k *keySet) release() {
	if cap(k.keys) <= keptKeys {
		return
	}
	k.keys = nil
	for d := range k.objects {
		k.objects[d].table = nil
	}
}

// seen tells whether the object at depth has the key already, and adds it.
func (k *keySet) seen(line []byte, start, end int, name []byte, h uint64, depth int) bool {
	o := &k.objects[depth]
	if len(o.table) > 0 {
		return k.lookup(o, line, start, end, name)
	}
	if o.filter&bit(h) != 0 {
		for _, old := range k.keys[o.first:] {
			if old.hash == h && k.same(line, old, name) {
				return true
			}
		}
	}
	o.filter |= bit(h)
	if len(k.keys) < mostKeys {
		k.keys = append(k.keys, seenKey{h, start, end})
		if len(k.keys)-o.first >= fewKeys {
			k.hashAll(o, line)
		}
	}
	return false
}

// lookup is seen for an object with a table.
func (k *keySet) lookup(o *seenObject, line []byte, start, end int, name []byte) bool {
	h := maphash.Bytes(k.seed, name)
	mask := uint64(len(o.table) - 1)
	slot := h & mask
	for ; o.table[slot] != 0; slot = (slot + 1) & mask {
		old := k.keys[o.table[slot]-1]
		if old.hash == h && k.same(line, old, name) {
			return true
		}
	}
	if len(k.keys) >= mostKeys {
		return false
	}
	k.keys = append(k.keys, seenKey{h, start, end})
	o.table[slot] = uint32(len(k.keys))
	if 2*(len(k.keys)-o.first) > len(o.table) {
		k.fill(o, 2*len(o.table))
	}
	return false
}

// hashAll gives the object its table. Other hashes are taken for it, whose
// collisions nobody can plan.
func (k *keySet) hashAll(o *seenObject, line []byte) {
	if !k.seeded {
		k.seed, k.seeded = maphash.MakeSeed(), true
	}
	for i := o.first; i < len(k.keys); i++ {
		k.keys[i].hash = maphash.Bytes(k.seed, k.name(line, k.keys[i]))
	}
	k.fill(o, 4*fewKeys)
}

// fill builds the table anew with the given size.
func (k *keySet) fill(o *seenObject, size int) {
	if cap(o.table) >= size {
		o.table = o.table[:size]
		clear(o.table)
	} else {
		o.table = make([]uint32, size)
	}
	mask := uint64(size - 1)
	for i := o.first; i < len(k.keys); i++ {
		slot := k.keys[i].hash & mask
		for o.table[slot] != 0 {
			slot = (slot + 1) & mask
		}
		o.table[slot] = uint32(i + 1)
	}
}

// same tells whether an older key has the given decoded name.
func (k *keySet) same(line []byte, old seenKey, name []byte) bool {
	return bytes.Equal(k.name(line, old), name)
}

// name decodes a key, if it must be, into k.other.
func (k *keySet) name(line []byte, key seenKey) []byte {
	raw := line[key.start:key.end]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	k.other, _ = appendDecoded(k.other[:0], raw, keepAll)
	return k.other
}

// decode decodes a key with escapes. The result is valid until the next call.
func (k *keySet) decode(raw []byte) []byte {
	k.decoded, _ = appendDecoded(k.decoded[:0], raw, keepAll)
	return k.decoded
}
