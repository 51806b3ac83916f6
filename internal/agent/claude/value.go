package claude

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// value is a content block, or a part of one, cut into its members by one look at its bytes: an output may be megabytes long,
// and is decoded only where its words are asked for.
type value struct {
	gjson.Result
	members []entry // none if it is no object
}

// entry is a member of an object, and where in it its key and its value begin.
type entry struct {
	key       string
	keyAt, at int
	raw       string
}

// valueOf cuts a value that is valid JSON.
func valueOf(raw string) value { return cutInto(make([]entry, 0, usualMembers), raw) }

// cutInto is valueOf of the value with which a text begins, with the members behind others, in whose memory there may be room
// for them.
func cutInto(room []entry, text string) value {
	if text == "" {
		return value{}
	}
	if text[0] != '{' {
		return value{Result: gjson.Parse(text[:pastValue(text, 0)])}
	}
	members, end := cutObject(room[len(room):], text)
	return value{Result: gjson.Result{Type: gjson.JSON, Raw: text[:end]}, members: members}
}

// cutObject adds the members of the object with which a text begins, and says where the object is over.
func cutObject(members []entry, raw string) ([]entry, int) {
	i := pastSpace(raw, 1)
	for ; i < len(raw) && raw[i] == '"'; i = pastSpace(raw, i) {
		m := entry{keyAt: i}
		end := pastString(raw, i)
		m.key = raw[i+1 : max(i+1, end-1)]
		if strings.IndexByte(m.key, '\\') >= 0 {
			m.key = gjson.Parse(raw[i:end]).String()
		}
		m.at = pastSpace(raw, min(len(raw), pastSpace(raw, end)+1)) // behind the colon
		i = pastValue(raw, m.at)
		m.raw = raw[m.at:i]
		members = append(members, m)
		if i = pastSpace(raw, i); i < len(raw) && raw[i] == ',' {
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
func (c *cutter) cut(text string) *value {
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
	clear(c.entries)
	c.values, c.entries = c.values[:0], c.entries[:0]
}

// member is the first of a name, a zero one if there is none: as clients read it.
func (v *value) member(key string) entry {
	for _, m := range v.members {
		if m.key == key {
			return m
		}
	}
	return entry{}
}

// raw is a member's value as it stands there, "" if there is none.
func (v *value) raw(key string) string { return v.member(key).raw }

// at is where a member's value begins.
func (v *value) at(key string) int { return v.member(key).at }

// get is a member's value, decoded.
func (v *value) get(key string) gjson.Result {
	m := v.member(key)
	if m.raw == "" {
		return gjson.Result{}
	}
	r := gjson.Parse(m.raw)
	r.Index = m.at
	return r
}

// hasWords says whether a value is a string that holds more than space. Only as much of it is looked at as that takes.
func hasWords[T string | []byte](raw T) bool {
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
			r, size := utf8.DecodeRuneInString(string(raw[i:min(i+utf8.UTFMax, len(raw))]))
			if !unicode.IsSpace(r) {
				return true
			}
			i += size
		}
	}
	return false
}

func pastSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// pastString is where the string that begins at i is over.
func pastString(s string, i int) int {
	for i++; i < len(s); i++ {
		n := strings.IndexByte(s[i:], '"')
		if n < 0 {
			return len(s)
		}
		i += n
		slashes := 0
		for s[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return len(s)
}

// pastValue is where the value that begins at i is over.
func pastValue(s string, i int) int {
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
