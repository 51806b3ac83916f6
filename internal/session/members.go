package session

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
)

func quote(s string) []byte { return jsonl.AppendQuote(nil, s) }

// SetMember is the cut that gives the member key of the object at parent the JSON value; the object must be there.
func SetMember(line []byte, parent, key string, value []byte) Cut {
	if v := gjson.GetBytes(line, join(parent, key)); v.Exists() && v.Index > 0 {
		return Cut{Start: v.Index, End: v.Index + len(v.Raw), New: value}
	}
	at := 1
	if parent != "" {
		at = gjson.GetBytes(line, parent).Index + 1
	}
	member := append(append(quote(key), ':'), value...)
	if !emptyObject(line[at:]) {
		member = append(member, ',')
	}
	return Cut{Start: at, End: at, New: member}
}

func join(parent, key string) string {
	if parent == "" {
		return key
	}
	return parent + "." + key
}

func emptyObject(inside []byte) bool {
	for _, c := range inside {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c == '}'
		}
	}
	return true
}

// DropMember is the cut that takes the member key out of the object at parent; a zero Cut if it is not there.
func DropMember(line []byte, parent, key string) Cut {
	v := gjson.GetBytes(line, join(parent, key))
	if !v.Exists() || v.Index == 0 {
		return Cut{}
	}
	start, end := v.Index, v.Index+len(v.Raw)
	for start > 0 && line[start] != ':' {
		start--
	}
	start -= len(quote(key))
	for start > 0 && line[start] != '"' {
		start--
	}
	// With it goes the comma behind it, or else the one in front.
	if i := skipSpace(line, end, 1); i < len(line) && line[i] == ',' {
		return Cut{Start: start, End: i + 1}
	}
	if i := skipSpace(line, start-1, -1); i > 0 && line[i] == ',' {
		return Cut{Start: i, End: end}
	}
	return Cut{Start: start, End: end}
}

func skipSpace(line []byte, i, step int) int {
	for i >= 0 && i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i += step
	}
	return i
}

// Splice makes one cut in the line that it was made from.
func Splice(line []byte, c Cut) []byte {
	out, err := Apply(line, []Cut{c})
	if err != nil {
		return line // c was made from this very line
	}
	return out
}

// ObjectAround returns the range of the object in which the key at a place stands, and which begins not before from; ok
// is false if it is not found.
func ObjectAround(line []byte, from, key int) (start, end int, ok bool) {
	level := enclosing(line[from:], key-from)
	if level < 0 {
		return 0, 0, false
	}
	return from + level, containerEnd(line, from+level), true
}

// TextBehind returns the range of the text, without its quotes, that is the value of the key which ends at a place; ok is
// false if its value is none.
func TextBehind(line []byte, key int) (start, end int, ok bool) {
	colon := skipSpace(line, key, 1)
	if colon >= len(line) || line[colon] != ':' {
		return 0, 0, false
	}
	quote := skipSpace(line, colon+1, 1)
	if quote >= len(line) || line[quote] != '"' {
		return 0, 0, false
	}
	return quote + 1, quote + LiteralEnd(line[quote:]) - 1, true
}

// containerEnd is the offset behind the object or array that starts at a place of the line.
func containerEnd(line []byte, start int) int {
	depth := 0
	for i := start; i < len(line); i++ {
		switch line[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			i += LiteralEnd(line[i:]) - 1
		}
	}
	return len(line)
}

// BlankMember is the cut that takes the member key out of the object at parent, and leaves as many spaces.
func BlankMember(line []byte, parent, key string) Cut {
	cut := DropMember(line, parent, key)
	cut.New = bytes.Repeat([]byte{' '}, cut.End-cut.Start)
	return cut
}

// LiteralEnd is the length of the string literal that b begins with.
func LiteralEnd(b []byte) int {
	for i := 1; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n + 1
		slashes := 0
		for b[i-2-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

// enclosing is the offset of the innermost object or array that is open at a place of the line, -1 if there is none.
func enclosing(line []byte, at int) int {
	var open []int
	for i := 0; i < at; {
		switch line[i] {
		case '{', '[':
			open = append(open, i)
		case '}', ']':
			open = open[:max(0, len(open)-1)]
		case '"':
			i += LiteralEnd(line[i:])
			continue
		}
		i++
	}
	if len(open) == 0 {
		return -1
	}
	return open[len(open)-1]
}

// FirstOfTwo returns the cut that takes the first of two members with the same key out of their object; at is the
// offset of the second key. same says whether both have the same value; ok is false if no such pair is found.
func FirstOfTwo(line []byte, at int) (cut Cut, same, ok bool) {
	object := enclosing(line, at)
	if object < 0 {
		return Cut{}, false, false
	}
	second := gjson.ParseBytes(line[at:])
	gjson.ParseBytes(line[object:]).ForEach(func(k, v gjson.Result) bool {
		if k.String() != second.String() || object+k.Index == at {
			return true
		}
		end := skipSpace(line, object+v.Index+len(v.Raw), 1)
		if end < len(line) && line[end] == ',' {
			end++
		}
		colon := skipSpace(line, at+len(second.Raw), 1)
		other := gjson.ParseBytes(line[min(colon+1, len(line)):])
		cut, same, ok = Cut{Start: object + k.Index, End: end}, other.Raw == v.Raw, true
		return false
	})
	return cut, same, ok
}
