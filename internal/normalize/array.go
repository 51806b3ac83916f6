package normalize

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
)

// A session that went through a program that makes one list of its lines, as jq -s does, is a single JSON array: its members
// are the records. Programs that export a session often put the array into an object, as its only member.

var arrayStart = []byte("[")

// wrapStart is how an object begins whose first member is an array of objects.
var wrapStart = regexp.MustCompile(`^\{\s*"[A-Za-z_-]+"\s*:\s*\[\s*\{`)

// isWrapped says whether a text begins with an object whose only member is an array of records, the first of them whole. A record
// may begin with an array of objects as well, but with smaller ones, and goes on behind it.
func isWrapped(head []byte) bool {
	if !wrapStart.Match(head) {
		return false
	}
	m := members{r: bytes.NewReader(head), wrapped: true}
	lines, _ := io.ReadAll(&m)
	first, _, whole := bytes.Cut(lines, []byte{'\n'})
	var record map[string]json.RawMessage
	return whole && !m.more && json.Unmarshal(first[bytes.IndexByte(first, '[')+1:], &record) == nil && len(record) >= fewestMembers
}

// fewestMembers is how many members any record has at least.
const fewestMembers = 3

// isArray says whether a text begins with an array of objects, or of such in quotes, the first of them whole. What is left of a line whose start is
// lost may begin so, too, but goes on behind the array.
func isArray(head []byte) bool {
	if len(head) == 0 || head[0] != '[' {
		return false
	}
	m := members{r: bytes.NewReader(head)}
	lines, _ := io.ReadAll(&m)
	first, _, whole := bytes.Cut(lines, []byte{'\n'})
	member := bytes.TrimPrefix(first, arrayStart)
	if text := unquoted(member); text != nil {
		member = text
	}
	return whole && bytes.HasPrefix(member, []byte("{")) && json.Valid(member) && !m.more
}

// members reads the members of an array, each on a line of its own and without blanks, and what follows the array as it is. The
// bracket in front of the first one is left: whether that mend is chosen is asked where the line is read.
type members struct {
	r               io.Reader
	wrapped         bool // the array stands in an object: what is in front of it is left, and the object's end taken away
	depth           int  // of brackets; the array's own is the first
	inText, escaped bool
	over            bool // the array has ended
	more            bool // something other than blanks has followed it
}

// Read never gives more bytes than it takes.
func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.r.Read(p)
		out := p[:0]
		for _, c := range p[:n] {
			if c, ok := m.next(c); ok {
				out = append(out, c)
			}
		}
		if len(out) > 0 || err != nil || len(p) == 0 {
			return len(out), err
		}
	}
}

// next returns what a byte of the array becomes, false if nothing.
func (m *members) next(c byte) (byte, bool) {
	blank := c == ' ' || c == '\t' || c == '\r' || c == '\n'
	switch {
	case m.over && m.wrapped && c == '}':
		m.wrapped = false
		return 0, false
	case m.over:
		m.more = m.more || !blank
		return c, m.more
	case m.inText:
		m.inText = m.escaped || c != '"'
		m.escaped = c == '\\' && !m.escaped
		return c, true
	case blank:
		return 0, false
	}
	if m.wrapped && m.depth == 0 && c != '[' {
		m.inText = c == '"'
		return c, true
	}
	switch c {
	case '"':
		m.inText = true
	case '{', '[':
		m.depth++
		return c, true
	case '}', ']':
		m.depth--
		if m.depth <= 0 {
			m.over = true
			return '\n', true
		}
	case ',':
		if m.depth == 1 {
			return '\n', true
		}
	}
	return c, true
}
