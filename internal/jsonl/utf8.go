package jsonl

import "unicode/utf8"

// Three bytes of a character from U+1000 on, as they lie in a word, and twice as
// many.
const (
	threeMask, threeBytes = 0x0000c0c0f0, 0x0000_8080e0
	sixMask, sixBytes     = threeMask<<24 | threeMask, threeBytes<<24 | threeBytes
)

// badUTF8 is the offset of the first byte that is no part of valid UTF-8, -1 if
// there is none. Runs of ASCII and most of Chinese, Japanese and Korean are passed
// by words.
func badUTF8(b []byte) int {
	i := 0
	if wide {
		i = wideUTF8(b)
	}
	for i+8 <= len(b) {
		w := load(b, i)
		if high := w & highs; high == 0 {
			i += 8
			for i+32 <= len(b) && (load(b, i)|load(b, i+8)|load(b, i+16)|load(b, i+24))&highs == 0 {
				i += 32
			}
		} else if n := first(high); n > 0 {
			i += n
		} else if w&sixMask == sixBytes && plainLead(w) && plainLead(w>>24) {
			i += 6
		} else if w&threeMask == threeBytes && plainLead(w) {
			i += 3
		} else if _, size := utf8.DecodeRune(b[i:]); size > 1 {
			i += size
		} else {
			return i
		}
	}
	for i < len(b) {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// plainLead says whether any two continuation bytes may follow a first byte of
// three: behind 0xe0 and 0xed not all may.
func plainLead(w uint64) bool { return w&0x0f != 0 && w&0x0f != 0x0d }
