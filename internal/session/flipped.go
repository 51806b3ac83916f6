package session

import (
	"math/bits"

	"github.com/tidwall/gjson"
)

// Flips collects the bits that may have flipped in the names of a record.
type Flips []flip

// flip is a byte of a record, and its value before one of its bits flipped.
type flip struct {
	at  int
	was byte
}

// Only is the bit that has flipped: the byte's offset in the record, and its value before. ok is false if there is none, or if there are
// several, of which nobody knows which it was.
func (f Flips) Only() (at int, was byte, ok bool) {
	if len(f) != 1 {
		return 0, 0, false
	}
	return f[0].at, f[0].was, true
}

// Keys looks for keys that an object lacks.
func (f *Flips) Keys(object gjson.Result, wanted ...string) {
	if !object.IsObject() {
		return
	}
	for _, key := range wanted {
		if object.Get(key).Exists() {
			continue
		}
		object.ForEach(func(k, _ gjson.Result) bool {
			f.Value(k, key)
			return true
		})
	}
}

// TypeIn is the type of an object, "" if it is none of some types; one in whose name a bit flipped is noted, and a flipped key of it.
func TypeIn[T any](f *Flips, object gjson.Result, types map[string]T) string {
	f.Keys(object, "type")
	typ := object.Get("type")
	if _, known := types[typ.Str]; known {
		return typ.Str
	}
	for name := range types {
		f.Value(typ, name)
	}
	return ""
}

// LostByte stands for a byte of a name that is not known: any other one may have been there.
const LostByte = 0x7f

// Value notes a text that differs from one of several words in one bit, or has lost bytes of it.
func (f *Flips) Value(text gjson.Result, words ...string) {
	if text.Type != gjson.String {
		return
	}
	for _, word := range words {
		if i := FlippedAt(text.Raw, `"`+word+`"`); i > 0 {
			*f = append(*f, flip{text.Index + i, word[i-1]})
		}
	}
}

// FlippedAt is the 0-based index of the only byte in which two words differ, if that is by one bit, or of the first lost one of a, if it
// differs in nothing else; otherwise -1.
func FlippedAt(a, b string) int {
	if len(a) != len(b) {
		return -1
	}
	at := -1
	for i := range len(a) {
		switch {
		case a[i] == b[i], a[i] == LostByte && at >= 0 && a[at] == LostByte:
		case a[i] == LostByte && at < 0:
			at = i
		case at >= 0 || bits.OnesCount8(a[i]^b[i]) != 1:
			return -1
		default:
			at = i
		}
	}
	return at
}
