package codex

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// want is what the client's typed reader asks of a member.
type want uint8

const (
	aText   want = iota // a string
	present             // any value
	parts               // a list of what a message or an output consists of
	output              // a text, or such a list
	list                // a list
)

type needed struct {
	name  string
	field int // its index in Spans, or notAField
	want  want
}

const notAField = -1

// typedItems is what each kind of item can't do without. Measured with 0.145.0 and 0.169.0, which read alike: a
// record that lacks one of these, or has null or another type there, is skipped without a word. The most frequent kinds
// stand first.
var typedItems = []struct {
	kind  string
	needs []needed
}{
	{"function_call_output", []needed{{"output", FieldOutput, output}}},
	{"function_call", []needed{{"name", FieldName, aText}, {"arguments", FieldArguments, present}, {"call_id", FieldCallID, aText}}},
	{"message", []needed{{"role", FieldRole, aText}, {"content", FieldContent, parts}}},
	{"reasoning", []needed{{"summary", FieldSummary, parts}}},
	{"custom_tool_call_output", []needed{{"output", FieldOutput, output}, {"call_id", FieldCallID, aText}}},
	{"custom_tool_call", []needed{{"name", FieldName, aText}, {"input", FieldInput, aText}, {"call_id", FieldCallID, aText}}},
	{"agent_message", []needed{{"author", notAField, aText}, {"recipient", notAField, aText}, {"content", FieldContent, parts}}},
	{"local_shell_call", []needed{{"status", notAField, aText}, {"action", notAField, present}}},
	{"tool_search_call", []needed{{"execution", FieldExecution, aText}, {"arguments", FieldArguments, present}}},
	{"tool_search_output", []needed{{"status", notAField, aText}, {"execution", FieldExecution, aText}, {"tools", notAField, list}}},
	{"image_generation_call", []needed{{"status", notAField, aText}, {"result", notAField, aText}}},
	{"compaction", []needed{{"encrypted_content", FieldEncrypted, aText}}},
	{"compaction_summary", []needed{{"encrypted_content", FieldEncrypted, aText}}},
}

// Misfit says why the client's typed reader refuses an item, in words; "" if it reads it.
func Misfit(rec *session.Record) string {
	if !textOrNone(Field(rec, FieldID)) {
		return "its id is no text"
	}
	kind := Text(rec, FieldPayloadType)
	for _, t := range typedItems {
		if t.kind == string(kind) {
			return missing(rec, t.needs)
		}
	}
	return ""
}

// textOrNone says whether a member that may be missing is a text where it is there.
func textOrNone(raw []byte) bool { return len(raw) == 0 || raw[0] == '"' || raw[0] == 'n' }

func missing(rec *session.Record, needs []needed) string {
	for _, m := range needs {
		var raw []byte
		if m.field == notAField {
			raw = []byte(gjson.GetBytes(Field(rec, FieldPayload), m.name).Raw)
		} else {
			raw = Field(rec, m.field)
		}
		switch {
		case len(raw) == 0 || raw[0] == 'n':
			return "it has no " + m.name
		case !m.want.fits(raw):
			return fmt.Sprintf("its %s is not what the client reads", m.name)
		}
	}
	return ""
}

func (w want) fits(raw []byte) bool {
	switch w {
	case aText:
		return raw[0] == '"'
	case list:
		return raw[0] == '['
	case parts:
		return raw[0] == '[' && readableParts(raw)
	case output:
		return raw[0] == '"' || raw[0] == '[' && readableParts(raw)
	}
	return true
}

// plainParts are how the client begins parts of a content, without the bracket and the quote in front.
var plainParts = [][]byte{
	[]byte(`type":"input_text","text":"`), []byte(`type":"output_text","text":"`), []byte(`type":"summary_text","text":"`),
	[]byte(`type":"input_image","image_url":"`),
}

// betweenParts can't stand inside a JSON text, where its last quote would be escaped.
var betweenParts = []byte(`"},{"`)

// maxSearched is how long a list of another form may be, in bytes, to be searched for its parts.
const maxSearched = 1 << 20

// readableParts says whether the client can read every part of a list. A long one that the client has not written
// itself is taken to be readable.
func readableParts(raw []byte) bool {
	if plain(raw) || len(raw) > maxSearched {
		return true
	}
	readable := true
	gjson.ParseBytes(raw).ForEach(func(_, part gjson.Result) bool {
		readable = readablePart(part)
		return readable
	})
	return readable
}

// plain says, without looking into them, whether a list holds nothing but parts as the client writes them.
func plain(raw []byte) bool {
	rest, ok := bytes.CutPrefix(raw, []byte(`[{"`))
	for ok && len(rest) > 0 {
		var part []byte
		part, rest, _ = bytes.Cut(rest, betweenParts)
		ok = slices.ContainsFunc(plainParts, func(start []byte) bool { return bytes.HasPrefix(part, start) })
	}
	return ok && bytes.HasSuffix(raw, []byte(`"}]`))
}

// partText is the member that each kind of part must have as a text.
var partText = map[string]string{
	"input_text": "text", "output_text": "text", "summary_text": "text", "reasoning_text": "text",
	"encrypted_content": "encrypted_content", "input_audio": "audio_url",
}

func readablePart(part gjson.Result) bool {
	kind := part.Get("type").String()
	if kind == "input_image" {
		return part.Get("image_url").Type == gjson.String || part.Get("file_id").Type == gjson.String
	}
	name, known := partText[kind]
	return known && part.Get(name).Type == gjson.String
}
