package session

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
)

func quote(s string) []byte { return jsonl.AppendQuote(nil, s) }

// SetMember is the cut that sets the member key of the object at parent to a JSON value. The object must exist.
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

// DropMember is the cut that takes the member key out of the object at parent; the zero Cut if there is no such member. Both are
// paths as gjson reads them, so that what means something in a path must be escaped in a key.
func DropMember(line []byte, parent, key string) Cut {
	v := gjson.GetBytes(line, join(parent, key))
	if !v.Exists() || v.Index == 0 {
		return Cut{}
	}
	return memberCut(line, keyBefore(line, v.Index), v.Index+len(v.Raw))
}

// keyBefore is where the key of the value at an offset begins.
func keyBefore(line []byte, value int) int {
	start := bytes.LastIndexByte(line[:value], ':')
	start = bytes.LastIndexByte(line[:start], '"') // the key ends here
	for {
		start = bytes.LastIndexByte(line[:start], '"')
		if start < 1 || line[start-1] != '\\' { // a quote within the key is escaped
			return start
		}
	}
}

// BlankMember is the cut that replaces the member key of the object at parent by as many spaces.
func BlankMember(line []byte, parent, key string) Cut {
	cut := DropMember(line, parent, key)
	cut.New = bytes.Repeat([]byte{' '}, cut.End-cut.Start)
	return cut
}

// Splice makes one cut in the line that it was made from.
func Splice(line []byte, c Cut) []byte {
	out, err := Apply(line, []Cut{c})
	if err != nil {
		return line // c was made from this very line
	}
	return out
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
