package jsonl

import (
	"encoding/binary"
	"math/bits"
)

// Eight bytes of a line are looked at as one little-endian word.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// load returns the eight bytes of b from i on.
func load(b []byte, i int) uint64 {
	return binary.LittleEndian.Uint64(b[i : i+8 : len(b)])
}

// store writes eight bytes into b from i on.
func store(b []byte, i int, w uint64) {
	binary.LittleEndian.PutUint64(b[i:i+8:len(b)], w)
}

// stops finds the bytes that end a plain run inside a string: '"', '\\' and
// control characters. The lowest set bit is the high bit of the first of them;
// bits above it mean nothing. 0 means that there is none.
func stops(w uint64) uint64 {
	// Swapping 0x22 with 0x20 puts the quote and the control characters into
	// one range, below 0x21.
	return (((w ^ 0x02*ones) - 0x21*ones) | ((w ^ '\\'*ones) - ones)) &^ w & highs
}

// gather is stops as eight exact bits, the first byte lowest.
func gather(w uint64) uint64 {
	v := w &^ highs
	// Without their high bits bytes can be added to without a carry.
	quote := (v ^ 0x02*ones) + 0x5f*ones
	slash := (v ^ '\\'*ones) + 0x7f*ones
	m := ^(quote&slash | w) & highs
	return m * 0x0002040810204081 >> 56
}

// digits is how many of the bytes are digits before another one comes.
func digits(w uint64) int {
	// Of a digit the upper half is 3, and is still when 6 is added to the lower half.
	other := (w^0x30*ones)&0xf0f0f0f0f0f0f0f0 | ((w+0x06*ones)^0x30*ones)&0xf0f0f0f0f0f0f0f0
	return bits.TrailingZeros64(other) >> 3
}

// first is the index, in bytes, of the lowest set bit of m.
func first(m uint64) int { return bits.TrailingZeros64(m) >> 3 }

// HasEscape says whether the inside of a literal has an escape. Names, ids and time stamps, which are asked for most, are
// a few words long: less than finding a byte in a long text takes to begin with.
func HasEscape(body []byte) bool {
	if len(body) < 8 {
		for _, c := range body {
			if c == '\\' {
				return true
			}
		}
		return false
	}
	for i := 0; i+8 < len(body); i += 8 {
		if slashes(load(body, i)) != 0 {
			return true
		}
	}
	return slashes(load(body, len(body)-8)) != 0
}

// slashes finds backslashes as stops does.
func slashes(w uint64) uint64 {
	v := w ^ '\\'*ones
	return (v - ones) &^ v & highs
}

// head keeps the first n bytes of w, n < 8.
func head(w uint64, n int) uint64 { return w & (1<<(8*uint(n)&63) - 1) }

// fold takes one more word of a key into its hash.
func fold(h, w uint64) uint64 { return (h ^ w) * 0x9e3779b97f4a7c15 }

// hash is the hash of a decoded key: its whole words, then the rest padded with
// zeros, then its length in bytes.
func hash(key []byte) uint64 {
	var h uint64
	rest := key
	for ; len(rest) >= 8; rest = rest[8:] {
		h = fold(h, load(rest, 0))
	}
	var w uint64
	for k, c := range rest {
		w |= uint64(c) << (8 * uint(k))
	}
	return fold(h, w) ^ uint64(len(key))
}

// bit is the place of a hash in a 64-bit filter.
func bit(h uint64) uint64 { return 1 << (h >> 58) }
