package codex

import (
	"sync"

	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// What the API is known to refuse in a call.
var (
	LimitsOfName      = api.LimitsOf("function_call", "name")
	LimitsOfArguments = api.LimitsOf("function_call", "arguments")
	LimitsOfInput     = api.LimitsOf("custom_tool_call", "input")
)

// The longest that the API takes, in characters.
var (
	MaxArguments = LimitsOfArguments.Most("longest")
	MaxToolName  = LimitsOfName.Most("longest")
)

// sound says whether an item, as it stands, is one that the client reads and the API takes, as nearly all are. It is asked when
// the item is decoded, in a long session on several processors, so that the rules need not look for the reasons.
func sound(rec *session.Record) bool {
	if Misfit(rec) != "" { // as every item that Modernize knows
		return false
	}
	return rec.Kind != session.Call || soundName(rec) && soundArguments(rec)
}

func soundName(rec *session.Record) bool {
	_, wrong := LimitsOfName.Wrong("", Field(rec, FieldName))
	return !wrong
}

// soundArguments says whether the arguments of a call are a text that is JSON or empty, and are not too long.
func soundArguments(rec *session.Record) bool {
	if len(Field(rec, FieldInput)) > MaxArguments {
		return false
	}
	raw := Field(rec, FieldArguments)
	if rec.Type != "response_item/function_call" || len(raw) == 0 {
		return true
	}
	if len(raw) > MaxArguments || raw[0] != '"' {
		return false
	}
	r := argumentReaders.Get().(*ArgumentReader)
	defer argumentReaders.Put(r)
	text, ok := r.Read(raw)
	return ok || len(text) == 0
}

// ArgumentReader reads the arguments of calls, one after the other.
type ArgumentReader struct {
	scanner *jsonl.Scanner
	text    []byte
}

var argumentReaders = sync.Pool{New: func() any { return NewArgumentReader() }}

// argumentShape wants nothing of the arguments: they are only to be JSON.
var argumentShape = func() *jsonl.Shape {
	shape, err := jsonl.Compile()
	if err != nil {
		panic("codex: " + err.Error()) // an empty shape
	}
	return shape
}()

// NewArgumentReader makes a reader.
func NewArgumentReader() *ArgumentReader {
	return &ArgumentReader{scanner: jsonl.NewScanner(argumentShape)}
}

// Read returns what a string literal says, valid until the next call, and whether that is JSON.
func (r *ArgumentReader) Read(literal []byte) (text []byte, json bool) {
	r.text, _ = jsonl.AppendUnquoted(r.text[:0], literal)
	return r.text, r.IsJSON(r.text)
}

// IsJSON says whether a text is one JSON value.
func (r *ArgumentReader) IsJSON(text []byte) bool {
	return r.scanner.Scan(text, nil).Fault == jsonl.None
}

// ByteSet is the bytes that may stand somewhere.
type ByteSet [256]bool

// SetOf is the letters and digits of ASCII, and the others given.
func SetOf(others string) *ByteSet {
	var s ByteSet
	for c := range s {
		s[c] = c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
	}
	for i := range len(others) {
		s[others[i]] = true
	}
	return &s
}

// All says whether a text consists of nothing else.
func (s *ByteSet) All(text []byte) bool {
	for _, c := range text {
		if !s[c] {
			return false
		}
	}
	return true
}
