package claude

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// value is a content block, or a part of one, cut into its members in one pass over its bytes: an output may be megabytes long,
// and is decoded only if its words are needed. It is valid as long as the record is.
type value struct {
	text    []byte
	members []entry // empty if it is not an object
	keys    keySet  // of the members
}

// entry is a member of an object: where its key and its value begin and end in the object.
type entry struct {
	keyAt, keyEnd, at, end int
	key                    key
}

// valueOf cuts a value that is valid JSON.
func valueOf(raw []byte) value { return cutInto(make([]entry, 0, usualMembers), raw) }

// cutInto is valueOf for the value with which a text begins. It appends the members to room.
func cutInto(room []entry, text []byte) value {
	if len(text) == 0 || text[0] != '{' {
		return value{text: text[:pastValue(text, 0)]}
	}
	members, end := cutObject(room[len(room):], text)
	v := value{text: text[:end], members: members}
	for i := range members {
		m := &members[i]
		m.key = keyOf(v.name(m))
		v.keys |= 1 << m.key
	}
	return v
}

// cutObject appends the members of the object with which a text begins, and returns where the object ends.
func cutObject(members []entry, raw []byte) ([]entry, int) {
	i := pastSpace(raw, 1)
	for ; i < len(raw) && raw[i] == '"'; i = pastSpace(raw, i) {
		m := entry{keyAt: i, keyEnd: pastString(raw, i)}
		m.at = pastSpace(raw, min(len(raw), pastSpace(raw, m.keyEnd)+1)) // behind the colon
		m.end = pastValue(raw, m.at)
		members = append(members, m)
		if i = pastSpace(raw, m.end); i < len(raw) && raw[i] == ',' {
			i++
		}
	}
	return members, min(len(raw), i+1)
}

// usualMembers is how many members an ordinary block has at most.
const usualMembers = 8

// cutter cuts the blocks of one record after the other into the same memory.
type cutter struct {
	values  []value
	entries []entry
}

// room makes room for the members of the next block.
func (c *cutter) room() {
	if cap(c.entries)-len(c.entries) < usualMembers {
		c.entries = make([]entry, 0, 8*usualMembers)
	}
}

// cut cuts the block with which a text begins. It is valid until done.
func (c *cutter) cut(text []byte) *value {
	c.room()
	v := c.next()
	*v = cutInto(c.entries, text)
	c.add(v)
	return v
}

// only is cut for a message with a single block: the scanner has already found that block's members. It is nil unless these are
// all members of the block.
func (c *cutter) only(rec *session.Record) *value {
	at, list := rec.Spans[fieldBlock], rec.Spans[fieldContent]
	if at.Start != list.Start+1 || at.End != list.End-1 || rec.Raw[at.Start] != '{' {
		return nil
	}
	c.room()
	v := c.next()
	v.text, v.members = at.Of(rec.Raw), c.entries[len(c.entries):]
	rest := len(v.text) - len("{")
	for _, f := range fieldsOf(text(rec, fieldBlockType)) {
		s, name := rec.Spans[f.field], len(keys[f.key])
		if s.End == 0 {
			continue
		}
		rest -= len(`"":`) + name + s.End - s.Start + len(",") // or the last bracket
		s.Start, s.End = s.Start-at.Start, s.End-at.Start
		v.members = append(v.members, entry{keyAt: s.Start - name - len(`"":`), keyEnd: s.Start - len(":"), at: s.Start, end: s.End, key: f.key})
		v.keys |= 1 << f.key
	}
	if rest != 0 {
		c.values = c.values[:len(c.values)-1]
		return nil
	}
	c.add(v)
	return v
}

// next is the value of the next block.
func (c *cutter) next() *value {
	c.values = append(c.values, value{})
	return &c.values[len(c.values)-1]
}

// add adds the members of a block that is cut.
func (c *cutter) add(v *value) {
	if end := len(c.entries) + len(v.members); end <= cap(c.entries) {
		c.entries = c.entries[:end]
	}
}

// done forgets the blocks, so that nothing keeps their text alive.
func (c *cutter) done() {
	clear(c.values)
	c.values, c.entries = c.values[:0], c.entries[:0]
}

func (v *value) isObject() bool { return begins(v.text, '{') }

// parsed is the value as gjson has it, in memory of its own.
func (v *value) parsed() gjson.Result { return gjson.ParseBytes(v.text) }

// name is the name of a member.
func (v *value) name(m *entry) []byte { return wordOf(v.text[m.keyAt:m.keyEnd]) }

// member is the first member with a name, nil if there is none.
func (v *value) member(name key) *entry {
	for i := range v.members {
		if m := &v.members[i]; m.key == name {
			return m
		}
	}
	return nil
}

// raw is the bytes of a member's value, nil if there is none.
func (v *value) raw(name key) []byte {
	if m := v.member(name); m != nil {
		return v.text[m.at:m.end]
	}
	return nil
}

// at is where a member's value begins.
func (v *value) at(name key) int {
	if m := v.member(name); m != nil {
		return m.at
	}
	return 0
}

// word is a member's value, decoded.
func (v *value) word(name key) []byte { return wordOf(v.raw(name)) }

// isTrue says whether a member's value is true, or something that a client takes for it.
func (v *value) isTrue(name key) bool {
	raw := v.raw(name)
	return len(raw) > 0 && raw[0] != 'f' && gjson.ParseBytes(raw).Bool()
}

// begins says whether a value begins with a byte, which shows its type.
func begins(raw []byte, with byte) bool { return len(raw) > 0 && raw[0] == with }

// wordOf is the text of a value. It is not copied if the value is a string without escapes.
func wordOf(raw []byte) []byte {
	switch {
	case len(raw) == 0:
		return nil
	case len(raw) > 1 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0:
		return raw[1 : len(raw)-1]
	}
	return []byte(gjson.ParseBytes(raw).String())
}

// hasWords says whether a value is a string that holds more than white space. It looks at no more of it than it must.
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

// pastString is where the string that begins at i ends. Most are short: for these, no search is started.
func pastString(s []byte, i int) int {
	for at := i + 1; at < min(len(s), i+shortString) && s[at] != '\\'; at++ {
		if s[at] == '"' {
			return at + 1
		}
	}
	return jsonl.PastString(s, i)
}

// shortString is the longest such string, in bytes with its quotes.
const shortString = 16

// pastValue is where the value that begins at i ends.
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
		if depth < 0 { // the end of the object or array around a number or literal
			return i
		}
		i++
	}
	return i
}
