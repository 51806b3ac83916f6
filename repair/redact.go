package repair

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/jsonl"
)

// outlines say which members and words belong to the agents' formats.
var outlines = all.Outlines()

// shownIn says whether a word belongs to one of the agents' formats, in the part that pick selects.
func shownIn(pick func(*agent.Outline) map[string]bool, word string) bool {
	return slices.ContainsFunc(outlines, func(o *agent.Outline) bool { return pick(o)[word] })
}

func valuesShown(o *agent.Outline) map[string]bool { return o.Values }
func keysShown(o *agent.Outline) map[string]bool   { return o.Keys }
func typesShown(o *agent.Outline) map[string]bool  { return o.Types }

// inBody says whether a member holds the body of a record.
func inBody(key string) bool {
	return slices.ContainsFunc(outlines, func(o *agent.Outline) bool { return o.Body == key })
}

// recordDepth is how deep the members of a record's body are nested. Deeper members may be a tool's own.
const recordDepth = 2

// Redact shows the outline of a line: its structure, the names of members and short technical values of the format; of any other
// text, it shows only the length in bytes. It reads the line as far as that is JSON, and only counts the rest.
func Redact(line []byte) string {
	o := outline{line: line, want: aRecord}
	for o.at < len(line) && o.step() {
	}
	if rest := len(line) - o.at; rest > 0 {
		o.hide(rest)
	}
	return o.b.String()
}

// outline is the state of a walk through a line, and what may be shown of it.
type outline struct {
	line []byte
	at   int
	b    strings.Builder
	key  string // of the value in hand, "" in a list
	want token
	open []byte   // brackets
	keys []string // the keys of the objects and lists around
}

// token is what may come next in a line.
type token uint8

const (
	aRecord token = iota
	aKey          // or the end of its object
	aColon
	aValue // or the end of its list
	aNext  // a comma, or the end
)

// step takes the next token; false if the line is not JSON from here on.
func (o *outline) step() bool {
	c := o.line[o.at]
	switch {
	case c == 0:
		n := len(o.line[o.at:]) - len(bytes.TrimLeft(o.line[o.at:], "\x00"))
		o.at += n
		fmt.Fprintf(&o.b, "‹%d NUL bytes›", n)
		return true
	case c == ' ' || c == '\t':
	case c == '"' && (o.want == aKey || o.want == aValue):
		o.text()
		return true
	case c == '{' && (o.want == aRecord || o.want == aValue):
		o.open, o.keys = append(o.open, c), append(o.keys, o.key)
		o.key, o.want = "", aKey
	case c == '[' && o.want == aValue:
		o.open, o.keys = append(o.open, c), append(o.keys, o.key)
		o.key, o.want = "", aValue
	case len(o.open) > 0 && c == o.open[len(o.open)-1]+2 && o.want != aColon: // in ASCII, a closing bracket is its opening one plus 2
		o.open, o.keys = o.open[:len(o.open)-1], o.keys[:len(o.keys)-1]
		o.key, o.want = "", aNext
	case c == ':' && o.want == aColon:
		o.want = aValue
	case c == ',' && o.want == aNext && len(o.open) > 0:
		o.want = aValue
		if o.open[len(o.open)-1] == '{' {
			o.want = aKey
		}
	case o.want == aValue:
		return o.scalar()
	default:
		return false
	}
	o.b.WriteByte(c)
	o.at++
	return true
}

// scalar takes a number or a literal. Deep in a record, a number is replaced by its length.
func (o *outline) scalar() bool {
	n := scalar(o.line[o.at:])
	if n == 0 {
		return false
	}
	raw := o.line[o.at : o.at+n]
	o.at, o.want = o.at+n, aNext
	if len(o.open) > recordDepth && raw[0] <= '9' {
		o.hide(n)
	} else {
		o.b.Write(raw)
	}
	return true
}

// text takes a string.
func (o *outline) text() {
	n := literal(o.line[o.at:])
	raw := o.line[o.at : o.at+n]
	words := bytes.TrimSuffix(raw[1:], []byte{'"'})
	show := false
	if o.want == aValue {
		switch deep := len(o.open) > recordDepth; {
		case deep:
			show = o.key == "type" && shownIn(typesShown, string(words))
		case shownIn(valuesShown, o.key) && (len(o.open) < recordDepth || inBody(o.keys[recordDepth-1])):
			show = len(words) <= 64 && !bytes.ContainsFunc(words, notTechnical)
		}
		o.want = aNext
	} else {
		o.key, o.want = string(words), aColon
		show = shownIn(valuesShown, o.key) || shownIn(keysShown, o.key) || isName(o.key)
	}
	o.at += n
	if show {
		o.b.WriteString(safe(raw, 80))
	} else {
		o.hide(len(words))
	}
}

// maxName is how long the name of a member may be to be shown, and maxDigits how many digits it may have: more look like a number of
// a card, an account or a key.
const maxName, maxDigits = 32, 4

// isName says whether a key reads like the name of a member. Where a tool's own data has questions, paths or addresses as keys, these
// are content.
func isName(key string) bool {
	digits := 0
	for i := range len(key) {
		switch c := key[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		case i > 0 && c >= '0' && c <= '9':
			digits++
		case i > 0 && c == '-':
		default:
			return false
		}
	}
	return key != "" && len(key) <= maxName && digits <= maxDigits
}

// notTechnical says whether a character can't be in an id, name or time.
func notTechnical(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-.:+/@#", r)
}

func (o *outline) hide(n int) { fmt.Fprintf(&o.b, "‹%d bytes›", n) }

// scalar returns the length of the number or literal that raw begins with, 0 if it begins with none.
func scalar(raw []byte) int {
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(raw, []byte(word)) {
			return len(word)
		}
	}
	return len(number.Find(raw))
}

var number = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?`)

// literal returns the length of the string literal that line begins with, or all of it if it does not end.
func literal(line []byte) int {
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(line)
}

// safe escapes bytes that could do something to a terminal.
func safe(b []byte, limit int) string {
	text := string(b[:min(len(b), limit)])
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7F || r >= 0x80 && r < 0xA0 || r == utf8.RuneError {
			return '·'
		}
		return r
	}, text)
}

// ownForm is what hist itself says in a session in the place of what is lost, without what may follow it.
var ownForm = regexp.MustCompile(`^(\[hist: [^\]]*\]|(Script o|O)utcome unknown: .*)(\n|$)`)

// Placeholders are the texts of hist's own that the edit puts in: words of the conversation are not among them.
func (e *Entry) Placeholders() (list []string) {
	var walk func(v gjson.Result)
	walk = func(v gjson.Result) {
		if v.IsObject() || v.IsArray() {
			v.ForEach(func(_, in gjson.Result) bool { walk(in); return true })
			return
		}
		had := func(x Excerpt) bool { return bytes.Contains(x.Text, []byte(v.Raw)) }
		if own := ownForm.FindStringSubmatch(v.Str); own != nil && !slices.ContainsFunc(e.Before, had) && !slices.Contains(list, own[1]) {
			list = append(list, own[1])
		}
	}
	for _, x := range e.After {
		if jsonl.Valid(x.Text) { // which is not nested too deeply
			walk(gjson.ParseBytes(x.Text))
		}
	}
	return list
}
