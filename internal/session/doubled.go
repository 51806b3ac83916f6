package session

import (
	"bytes"

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
