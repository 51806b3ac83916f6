package claude

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
)

// value is a content block, or a part of one, cut into its members by one look at its bytes: an output may be megabytes long,
// and is decoded only where its words are asked for. It is good as long as the record is.
type value struct {
	text    []byte
	members []entry // none if it is no object
}

// entry is a member of an object: where in it its key and its value begin and end.
type entry struct {
	keyAt, keyEnd, at, end int
	escaped                bool // something in the key is
}

// valueOf cuts a value that is valid JSON.
func valueOf(raw []byte) value { return cutInto(make([]entry, 0, usualMembers), raw) }

// cutInto is valueOf of the value with which a text begins, with the members behind others, in whose memory there may be room
// for them.
func cutInto(room []entry, text []byte) value {
	if len(text) == 0 || text[0] != '{' {
		return value{text: text[:pastValue(text, 0)]}
	}
	members, end := cutObject(room[len(room):], text)
	return value{text: text[:end], members: members}
}

// cutObject adds the members of the object with which a text begins, and says where the object is over.
func cutObject(members []entry, raw []byte) ([]entry, int) {
	i := pastSpace(raw, 1)
	for ; i < len(raw) && raw[i] == '"'; i = pastSpace(raw, i) {
		m := entry{keyAt: i, keyEnd: pastString(raw, i)}
		m.escaped = slices.Contains(raw[i:m.keyEnd], '\\')
		m.at = pastSpace(raw, min(len(raw), pastSpace(raw, m.keyEnd)+1)) // behind the colon
		m.end = pastValue(raw, m.at)
		members = append(members, m)
		if i = pastSpace(raw, m.end); i < len(raw) && raw[i] == ',' {
			i++
		}
	}
	return members, min(len(raw), i+1)
}

// usualMembers is how many members a block has at most, but for odd ones.
const usualMembers = 8

// cutter cuts the blocks of one record after the other, all in the same memory.
type cutter struct {
	values  []value
	entries []entry
}

// cut adds the block with which a text begins. It is good until done.
func (c *cutter) cut(text []byte) *value {
	if cap(c.entries)-len(c.entries) < usualMembers {
		c.entries = make([]entry, 0, 8*usualMembers)
	}
	v := cutInto(c.entries, text)
	if end := len(c.entries) + len(v.members); end <= cap(c.entries) {
		c.entries = c.entries[:end]
	}
	c.values = append(c.values, v)
	return &c.values[len(c.values)-1]
}

// done forgets the blocks: nothing may hold what was said in them.
func (c *cutter) done() {
	clear(c.values)
	c.values, c.entries = c.values[:0], c.entries[:0]
}

func (v *value) isObject() bool { return begins(v.text, '{') }

// parsed is the value as gjson has it, in memory of its own.
func (v *value) parsed() gjson.Result { return gjson.ParseBytes(v.text) }

// key is the name of a member.
func (v *value) key(m *entry) []byte {
	if m.escaped {
		return wordOf(v.text[m.keyAt:m.keyEnd])
	}
	return v.text[m.keyAt+1 : m.keyEnd-1]
}

// member is the first of a name, a zero one if there is none: as clients read it.
func (v *value) member(key string) entry {
	for i := range v.members {
		if m := &v.members[i]; string(v.key(m)) == key {
			return *m
		}
	}
	return entry{}
}

// raw is a member's value as it stands there, nil if there is none.
func (v *value) raw(key string) []byte {
	if m := v.member(key); m.end > 0 {
		return v.text[m.at:m.end]
	}
	return nil
}

// at is where a member's value begins.
func (v *value) at(key string) int { return v.member(key).at }

// word is a member's value, decoded.
func (v *value) word(key string) []byte { return wordOf(v.raw(key)) }

// isTrue says whether a member's value is true, or what else a client takes for it.
func (v *value) isTrue(key string) bool {
	raw := v.raw(key)
	return len(raw) > 0 && raw[0] != 'f' && gjson.ParseBytes(raw).Bool()
}

// begins says with which byte a value begins, which tells its kind.
func begins(raw []byte, with byte) bool { return len(raw) > 0 && raw[0] == with }

// wordOf is what a value says, without a copy where it is a string without escapes.
func wordOf(raw []byte) []byte {
	switch {
	case len(raw) == 0:
		return nil
	case len(raw) > 1 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0:
		return raw[1 : len(raw)-1]
	}
	return []byte(gjson.ParseBytes(raw).String())
}

// hasWords says whether a value is a string that holds more than space. Only as much of it is looked at as that takes.
func hasWords(raw []byte) bool {
	if len(raw) < 2 || raw[0] != '"' {
		return false
	}
	for i := 1; i < len(raw)-1; {
		switch c := raw[i]; {
		case c == '\\' && raw[i+1] == 'u':
			return strings.TrimSpace(gjson.Parse(string(raw)).String()) != ""
		case c == '\\' && strings.IndexByte("ntrf", raw[i+1]) < 0:
			return true
		case c == '\\':
			i += 2
		default:
			r, size := utf8.DecodeRune(raw[i:])
			if !unicode.IsSpace(r) {
				return true
			}
			i += size
		}
	}
	return false
}

func pastSpace(s []byte, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// pastString is where the string that begins at i is over. Most are short: for them no search is begun.
func pastString(s []byte, i int) int {
	for at := i + 1; at < min(len(s), i+shortString) && s[at] != '\\'; at++ {
		if s[at] == '"' {
			return at + 1
		}
	}
	return jsonl.PastString(s, i)
}

// shortString is how long such a string is at most, with its quotes.
const shortString = 16

// pastValue is where the value that begins at i is over.
func pastValue(s []byte, i int) int {
	if i < len(s) && s[i] == '"' {
		return pastString(s, i)
	}
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			i = pastString(s, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		if depth < 0 { // the end of what the number or literal stands in
			return i
		}
		i++
	}
	return i
}
