package session

import (
	"bytes"
	"slices"

	"github.com/tidwall/gjson"
)

// Doubled are two members of one object with the same key, without the comma between what stands around them.
type Doubled struct{ First, Last Cut }

// maxDoubled is how many such pairs of one line are looked at.
const maxDoubled = 16

// DoubledMembers lists the members that stand twice in an object of a line, the outermost first, as cuts that take one of them out.
// Of more than two members with one key, each but the last is the first of a pair.
func DoubledMembers(line []byte) []Doubled {
	var found []Doubled
	level := []gjson.Result{gjson.ParseBytes(line)}
	for len(level) > 0 && len(found) < maxDoubled {
		var below []gjson.Result
		for _, v := range level {
			last := map[string]Cut{}
			v.ForEach(func(k, member gjson.Result) bool {
				if v.IsObject() {
					one := memberCut(line, k.Index, member.Index+len(member.Raw))
					if first, twice := last[k.String()]; twice && len(found) < maxDoubled {
						found = append(found, Doubled{first, one})
					}
					last[k.String()] = one
				}
				if member.IsObject() || member.IsArray() {
					below = append(below, member)
				}
				return true
			})
		}
		level = below
	}
	return found
}

// DoubledInList is the offset of the first key that an object of a list, or of a list in one of these, has for the second time; -1 if
// there is none. Clients write such objects three lists deep, with few keys; what lies deeper, or behind more, is not looked at.
func DoubledInList(raw []byte) int { return doubledIn(gjson.ParseBytes(raw), 4) }

// manyKeys is more than clients give an object of a list.
const manyKeys = 64

func doubledIn(list gjson.Result, depth int) int {
	at := -1
	list.ForEach(func(_, part gjson.Result) bool {
		var room [16]string
		keys := room[:0]
		part.ForEach(func(key, value gjson.Result) bool {
			switch {
			case !part.IsObject() || len(keys) == manyKeys:
				return false
			case slices.Contains(keys, key.Str):
				at = key.Index
			case value.IsArray() && depth > 1:
				at = doubledIn(value, depth-1)
			}
			keys = append(keys, key.Str)
			return at < 0
		})
		return at < 0
	})
	return at
}

// Tells counts what stands in a record that holds a message: of the members that its type must have, of its id, role and content, and
// of those that the content's blocks must have by their types. What is null or empty does not count, and an object counts twice.
func Tells(record gjson.Result, needed, neededIn map[string][]string) (n int) {
	count := func(in gjson.Result, members ...string) {
		for _, m := range members {
			v := in.Get(m)
			if len(v.Raw) > len(`""`) && v.Type != gjson.Null {
				n++
			}
			if v.IsObject() {
				n++
			}
		}
	}
	count(record, needed[record.Get("type").String()]...)
	message := record.Get("message")
	count(message, "id", "role", "content")
	message.Get("content").ForEach(func(_, block gjson.Result) bool {
		wanted, known := neededIn[block.Get("type").String()]
		if count(block, wanted...); known {
			n++
		}
		return true
	})
	return n
}

// Texts are the texts in a member as a Doubled cuts it, as they are in the line, quotes included; names, which are no texts, are left out.
func Texts(member []byte, isName func(key []byte) bool) (list [][]byte) {
	var add func(of gjson.Result)
	add = func(of gjson.Result) {
		of.ForEach(func(key, v gjson.Result) bool {
			switch {
			case v.IsObject() || v.IsArray():
				add(v)
			case v.Type == gjson.String && len(v.Str) > 0 && !isName([]byte(key.Str)):
				list = append(list, []byte(v.Raw))
			}
			return true
		})
	}
	add(objectOf(member))
	return list
}

// Alike says whether both values are of one kind of JSON: where the client wants another kind than the first one's, no one has read that.
func (d Doubled) Alike(line []byte) bool {
	var kinds []gjson.Type
	for _, c := range []Cut{d.First, d.Last} {
		objectOf(line[c.Start:c.End]).ForEach(func(_, v gjson.Result) bool {
			kinds = append(kinds, v.Type)
			return true
		})
	}
	return len(kinds) == 2 && kinds[0] == kinds[1]
}

// objectOf is a member, as a Doubled cuts it, in an object of its own.
func objectOf(member []byte) gjson.Result {
	return gjson.ParseBytes(slices.Concat([]byte{'{'}, bytes.Trim(member, ", \t\r\n"), []byte{'}'}))
}

// memberCut takes out the member at line[start:end], with the comma behind it or else the one in front.
func memberCut(line []byte, start, end int) Cut {
	if i := skipSpace(line, end, 1); i < len(line) && line[i] == ',' {
		return Cut{Start: start, End: i + 1}
	}
	if i := skipSpace(line, start-1, -1); i > 0 && line[i] == ',' {
		return Cut{Start: i, End: end}
	}
	return Cut{Start: start, End: end}
}

// Blanked is a line of the same length in which spaces stand for what the cuts take out.
func Blanked(line []byte, cuts ...Cut) []byte {
	out := bytes.Clone(line)
	for _, c := range cuts {
		for i := c.Start; i < c.End; i++ {
			out[i] = ' '
		}
	}
	return out
}
