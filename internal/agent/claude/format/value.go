package format

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Value is a content block, or a part of one, cut into its members in one pass over its bytes: an output may be megabytes long,
// and is decoded only if its words are needed. It is valid as long as the record is.
type Value struct {
	Text    []byte
	Members []Entry // empty if it is not an object
	Keys    KeySet  // of the members
}

// Entry is a member of an object: where its key and its value begin and end in the object.
type Entry struct {
	KeyAt, keyEnd, At, end int
	Key                    Key
}

// ValueOf cuts a value that is valid JSON.
func ValueOf(raw []byte) Value { return cutInto(make([]Entry, 0, usualMembers), raw) }

// cutInto is ValueOf for the value with which a text begins. It appends the members to room.
func cutInto(room []Entry, text []byte) Value {
	if len(text) == 0 || text[0] != '{' {
		return Value{Text: text[:pastValue(text, 0)]}
	}
	members, end := cutObject(room[len(room):], text)
	v := Value{Text: text[:end], Members: members}
	for i := range members {
		m := &members[i]
		m.Key = KeyOf(v.Name(m))
		v.Keys |= 1 << m.Key
	}
	return v
}

// cutObject appends the members of the object with which a text begins, and returns where the object ends.
func cutObject(members []Entry, raw []byte) ([]Entry, int) {
	i := PastSpace(raw, 1)
	for ; i < len(raw) && raw[i] == '"'; i = PastSpace(raw, i) {
		m := Entry{KeyAt: i, keyEnd: pastString(raw, i)}
		m.At = PastSpace(raw, min(len(raw), PastSpace(raw, m.keyEnd)+1)) // behind the colon
		m.end = pastValue(raw, m.At)
		members = append(members, m)
		if i = PastSpace(raw, m.end); i < len(raw) && raw[i] == ',' {
			i++
		}
	}
	return members, min(len(raw), i+1)
}

// usualMembers is how many members an ordinary block has at most.
const usualMembers = 8

// Cutter cuts the blocks of one record after the other into the same memory.
type Cutter struct {
	Values  []Value
	entries []Entry
}

// room makes room for the members of the next block.
func (c *Cutter) room() {
	if cap(c.entries)-len(c.entries) < usualMembers {
		c.entries = make([]Entry, 0, 8*usualMembers)
	}
}

// Cut cuts the block with which a text begins. It is valid until done.
func (c *Cutter) Cut(text []byte) *Value {
	c.room()
	v := c.next()
	*v = cutInto(c.entries, text)
	c.add(v)
	return v
}

// Only is cut for a message with a single block: the scanner has already found that block's members. It is nil unless these are
// all members of the block.
func (c *Cutter) Only(rec *session.Record) *Value {
	at, list := rec.Spans[FieldBlock], rec.Spans[FieldContent]
	if at.Start != list.Start+1 || at.End != list.End-1 || rec.Raw[at.Start] != '{' {
		return nil
	}
	c.room()
	v := c.next()
	v.Text, v.Members = at.Of(rec.Raw), c.entries[len(c.entries):]
	rest := len(v.Text) - len("{")
	for _, f := range fieldsOf(Text(rec, FieldBlockType)) {
		s, name := rec.Spans[f.field], len(keys[f.key])
		if s.End == 0 {
			continue
		}
		rest -= len(`"":`) + name + s.End - s.Start + len(",") // or the last bracket
		s.Start, s.End = s.Start-at.Start, s.End-at.Start
		v.Members = append(v.Members, Entry{})
		m := &v.Members[len(v.Members)-1] // written where it stays: what has just been put together can't be copied at once
		m.KeyAt, m.keyEnd, m.At, m.end, m.Key = s.Start-name-len(`"":`), s.Start-len(":"), s.Start, s.End, f.key
		v.Keys |= 1 << f.key
	}
	if rest != 0 {
		c.Values = c.Values[:len(c.Values)-1]
		return nil
	}
	c.add(v)
	return v
}

// next is the value of the next block.
func (c *Cutter) next() *Value {
	c.Values = append(c.Values, Value{})
	return &c.Values[len(c.Values)-1]
}

// add adds the members of a block that is cut.
func (c *Cutter) add(v *Value) {
	if end := len(c.entries) + len(v.Members); end <= cap(c.entries) {
		c.entries = c.entries[:end]
	}
}

// Done forgets the blocks, so that nothing keeps their text alive.
func (c *Cutter) Done() {
	clear(c.Values)
	c.Values, c.entries = c.Values[:0], c.entries[:0]
}

// IsObject says whether the value is an object.
func (v *Value) IsObject() bool { return Begins(v.Text, '{') }

// Parsed is the value as gjson has it, in memory of its own.
func (v *Value) Parsed() gjson.Result { return gjson.ParseBytes(v.Text) }

// Name is the name of a member.
func (v *Value) Name(m *Entry) []byte { return WordOf(v.Text[m.KeyAt:m.keyEnd]) }

// member is the first member with a name, nil if there is none.
func (v *Value) member(name Key) *Entry {
	for i := range v.Members {
		if m := &v.Members[i]; m.Key == name {
			return m
		}
	}
	return nil
}

// Raw is the bytes of a member's value, nil if there is none.
func (v *Value) Raw(name Key) []byte {
	if m := v.member(name); m != nil {
		return v.Text[m.At:m.end]
	}
	return nil
}

// At is where a member's value begins.
func (v *Value) At(name Key) int {
	if m := v.member(name); m != nil {
		return m.At
	}
	return 0
}

// Word is a member's value, decoded.
func (v *Value) Word(name Key) []byte { return WordOf(v.Raw(name)) }

// IsTrue says whether a member's value is true, or something that a client takes for it.
func (v *Value) IsTrue(name Key) bool {
	raw := v.Raw(name)
	return len(raw) > 0 && raw[0] != 'f' && gjson.ParseBytes(raw).Bool()
}

// Begins says whether a value begins with a byte, which shows its type.
func Begins(raw []byte, with byte) bool { return len(raw) > 0 && raw[0] == with }

// WordOf is the text of a value. It is not copied if the value is a string without escapes.
func WordOf(raw []byte) []byte {
	switch {
	case len(raw) == 0:
		return nil
	case len(raw) > 1 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0:
		return raw[1 : len(raw)-1]
	}
	return []byte(gjson.ParseBytes(raw).String())
}

// HasWords says whether a value is a string that holds more than white space. It looks at no more of it than it must.
func HasWords(raw []byte) bool {
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

// PastSpace is the index of the first byte at or behind i that is no white space.
func PastSpace(s []byte, i int) int {
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
