package jsonl

import (
	"bytes"
	"unicode/utf8"
)

// LooksTorn says whether raw could be the start of a record rather than garbage.
func LooksTorn(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == '{' && (len(raw) == 1 || bytes.IndexByte([]byte("\" \t"), raw[1]) >= 0)
}

// TornEnd is how a torn JSON text could be ended.
type TornEnd struct {
	InText        bool   // the cut is inside a string that is a value
	Closers       []byte // what closes everything open, the string itself not counted
	Member        int    // bytes up to the end of the last whole member or element; 0 if there is none
	MemberClosers []byte // what closes what is open there
	// Object is the number of bytes up to the end of the last whole object in the innermost array that is open at the
	// cut; 0 if there is none. ObjectClosers closes what is open there.
	Object        int
	ObjectClosers []byte
}

// WalkTorn follows the brackets and strings of a JSON text that ends too early. It trusts what it reads: whether
// the closed result is JSON is for the scanner to say.
func WalkTorn(raw []byte) TornEnd {
	var open []byte // closers, outermost first
	var end TornEnd
	value := false // the next string is a value: it stands behind a colon, or in an array
	depth := 0     // of what is open behind the last whole member: no more has been closed since
	whole := func(at int) { end.Member, depth = at, len(open) }
	objects := 0 // depth of the array that end.Object is in
	closed := func() TornEnd {
		end.MemberClosers = reversed(open[:depth])
		if end.Object > 0 {
			end.ObjectClosers = reversed(open[:objects])
		}
		return end
	}
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case '{', '[':
			open = append(open, c+2) // '{'+2 == '}', '['+2 == ']'
			value = c == '['
			if c == '[' {
				end.Object = 0
			}
		case '}', ']':
			if len(open) == 0 {
				return TornEnd{}
			}
			open = open[:len(open)-1]
			whole(i + 1)
			switch {
			case c == '}' && len(open) > 0 && open[len(open)-1] == ']':
				end.Object, objects = i+1, len(open)
			case len(open) < objects:
				end.Object = 0
			}
		case ':':
			value = true
		case ',':
			if value && len(open) > 0 {
				whole(i) // a number or literal ends here
			}
			value = len(open) > 0 && open[len(open)-1] == ']'
		case '"':
			n := stringEnd(raw[i:])
			if n < 0 {
				end.InText = value
				end.Closers = reversed(open)
				return closed()
			}
			i += n
			if value {
				whole(i)
			}
			continue
		}
		i++
	}
	return closed()
}

// stringEnd returns the length of the string literal raw begins with, -1 if it does not end.
func stringEnd(raw []byte) int {
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

func reversed(open []byte) []byte {
	out := make([]byte, len(open))
	for i, c := range open {
		out[len(open)-1-i] = c
	}
	return out
}

// TrimPartial takes off an escape or a character of which only the first bytes were written.
func TrimPartial(raw []byte) []byte {
	out := bytes.Clone(raw)
	if i := bytes.LastIndexByte(out[max(0, len(out)-12):], '\\'); i >= 0 {
		i += max(0, len(out)-12)
		if !Escaped(out, i) && !wholeEscape(out[i:]) {
			out = out[:i]
		}
	}
	for n := 0; n < utf8.UTFMax && len(out) > 0; n++ {
		if r, size := utf8.DecodeLastRune(out); r != utf8.RuneError || size != 1 {
			break
		}
		out = out[:len(out)-1]
	}
	return out
}

// Escaped says whether the byte at i of a string literal belongs to an escape that begins before it.
func Escaped(raw []byte, i int) bool {
	n := 0
	for i--; i >= 0 && raw[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

// wholeEscape says whether raw begins with an escape of which nothing is missing. The first half of a surrogate
// pair is not whole.
func wholeEscape(raw []byte) bool {
	if len(raw) < 2 {
		return false
	}
	if raw[1] != 'u' {
		return true
	}
	if len(raw) < 6 {
		return false
	}
	v, n := hex4(raw, 2)
	return n < 4 || v < 0xD800 || v >= 0xDC00
}
