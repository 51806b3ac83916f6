package codex

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// want is what the client's typed reader requires of a member.
type want uint8

const (
	aText      want = iota // a string
	present                // any value
	list                   // a list
	content                // a list of what a message consists of
	letter                 // a list of what one agent tells another
	summary                // a list of summaries
	thoughts               // a list of reasoning
	output                 // a text, or a list of what an output consists of
	shellState             // a state of a shell call
	shellCall              // what a shell call does
	searching              // what a web search does: what has no type is skipped with the search (measured with 0.171.0)
)

type typedMember struct {
	name     string
	field    int // its index in Spans, or notAField
	want     want
	optional bool // may be missing, or null
}

const notAField = -1

// typedItems is what the client requires of each kind of item. Measured with 0.145.0 and 0.169.0, which agree: a record that
// lacks a required member, or has one of another type, is skipped silently. The most frequent kinds come first; of their
// optional members, only those that are decoded anyway are checked.
var typedItems = []struct {
	kind    string
	members []typedMember
}{
	{"function_call_output", []typedMember{{"output", FieldOutput, output, false}, {"call_id", FieldCallID, aText, true}}},
	{"function_call", []typedMember{{"name", FieldName, aText, false}, {"arguments", FieldArguments, present, false}, {"call_id", FieldCallID, aText, false}, {"namespace", FieldNamespace, aText, true}}},
	{"message", []typedMember{{"role", FieldRole, aText, false}, {"content", FieldContent, content, false}}},
	{"reasoning", []typedMember{{"summary", FieldSummary, summary, false}, {"content", FieldContent, thoughts, true}, {"encrypted_content", FieldEncrypted, aText, true}}},
	{"custom_tool_call_output", []typedMember{{"output", FieldOutput, output, false}, {"call_id", FieldCallID, aText, false}}},
	{"custom_tool_call", []typedMember{{"name", FieldName, aText, false}, {"input", FieldInput, aText, false}, {"call_id", FieldCallID, aText, false}}},
	{"agent_message", []typedMember{{"author", notAField, aText, false}, {"recipient", notAField, aText, false}, {"content", FieldContent, letter, false}}},
	{"local_shell_call", []typedMember{{"status", notAField, shellState, false}, {"action", notAField, shellCall, false}}},
	{"tool_search_call", []typedMember{{"execution", FieldExecution, aText, false}, {"arguments", FieldArguments, present, false}, {"status", notAField, aText, true}}},
	{"tool_search_output", []typedMember{{"status", notAField, aText, false}, {"execution", FieldExecution, aText, false}, {"tools", notAField, list, false}}},
	{"web_search_call", []typedMember{{"status", notAField, aText, true}, {"action", notAField, searching, true}}},
	{"image_generation_call", []typedMember{{"status", notAField, aText, false}, {"result", notAField, aText, false}, {"revised_prompt", notAField, aText, true}}},
	{"compaction", []typedMember{{"encrypted_content", FieldEncrypted, aText, false}}},
	{"compaction_summary", []typedMember{{"encrypted_content", FieldEncrypted, aText, false}}},
	{"context_compaction", []typedMember{{"encrypted_content", FieldEncrypted, aText, true}}},
	{"additional_tools", []typedMember{{"role", FieldRole, aText, false}, {"tools", notAField, list, false}}},
}

// ItemKind is the kind of an item, known to the client or not.
func ItemKind(rec *session.Record) string {
	const envelope = "response_item/"
	if len(rec.Type) > len(envelope) && rec.Type[:len(envelope)] == envelope {
		return rec.Type[len(envelope):]
	}
	return string(Text(rec, FieldPayloadType))
}

// Misfit says why the client's typed reader refuses an item, in words; "" if it reads it.
func Misfit(rec *session.Record) string {
	if !textOrNone(Field(rec, FieldID)) {
		return "its id is no text"
	}
	return misfit(rec, membersOf(ItemKind(rec)))
}

// unreadItem says whether the client's typed reader refuses an item in the shape that it has.
func unreadItem(rec *session.Record) bool {
	_, old := Modernize(rec)
	return old != "" || Misfit(rec) != ""
}

// typedRecords is what the client requires of some records that are no items.
var typedRecords = map[string][]typedMember{
	"turn_context":              {{"cwd", notAField, aText, false}, {"model", notAField, aText, false}, {"approval_policy", notAField, present, false}, {"sandbox_policy", notAField, present, false}},
	"event_msg/user_message":    {{"message", FieldMessage, aText, false}},
	"event_msg/agent_message":   {{"message", FieldMessage, aText, false}},
	"event_msg/agent_reasoning": {{"text", notAField, aText, false}},
}

// Skips says whether the newest client's typed reader skips a record, so that its ordinal does not count (measured with 0.171.0). It skips more than
// is known here: of most events and settings, only the type is looked at.
func Skips(rec *session.Record) bool {
	switch {
	case rec.Refused, rec.Type == "":
		return true
	case rec.Type == "event_msg/token_count":
		return unreadTokens(rec.Raw)
	case rec.Model:
		return !rec.Sound && rec.Type != "inter_agent_communication" && unreadItem(rec)
	}
	return misfit(rec, typedRecords[rec.Type]) != ""
}

// membersOf are the members of a kind of item; none if the client does not know it.
func membersOf(kind string) []typedMember {
	for i := range typedItems {
		if t := &typedItems[i]; t.kind == kind {
			return t.members
		}
	}
	return nil
}

// textOrNone says whether an optional member is absent, null or a text.
func textOrNone(raw []byte) bool { return len(raw) == 0 || raw[0] == '"' || raw[0] == 'n' }

func misfit(rec *session.Record, members []typedMember) string {
	for _, m := range members {
		var raw []byte
		if m.field == notAField {
			raw = []byte(gjson.GetBytes(Field(rec, FieldPayload), m.name).Raw)
		} else {
			raw = Field(rec, m.field)
		}
		switch missing := len(raw) == 0 || raw[0] == 'n'; {
		case missing && m.optional:
		case missing:
			return "it has no " + m.name
		case m.want == content && m.field == FieldContent && OneText(rec):
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
	case content, letter, summary, thoughts:
		return raw[0] == '[' && readableParts(raw, w)
	case output:
		return raw[0] == '"' || raw[0] == '[' && readableParts(raw, w)
	case shellState:
		return slices.Contains([]string{`"completed"`, `"in_progress"`, `"incomplete"`}, string(raw))
	case shellCall:
		return readableShellCall(raw)
	case searching:
		return gjson.GetBytes(raw, "type").Type == gjson.String
	}
	return true
}

func readableShellCall(raw []byte) bool {
	action := gjson.ParseBytes(raw)
	command, timeout := action.Get("command"), action.Get("timeout_ms")
	if action.Get("type").String() != "exec" || !command.IsArray() {
		return false
	}
	texts := true
	command.ForEach(func(_, word gjson.Result) bool {
		texts = word.Type == gjson.String
		return texts
	})
	_, err := strconv.ParseUint(timeout.Raw, 10, 64)
	return texts && (err == nil || timeout.Type == gjson.Null)
}

// partText is, for each kind of list, the member that each kind of part in it must have as a text.
var partText = [...]map[string]string{
	content:  {"input_text": "text", "output_text": "text", "input_image": "", "input_audio": "audio_url"},
	output:   {"input_text": "text", "encrypted_content": "encrypted_content", "input_image": "", "input_audio": "audio_url"},
	letter:   {"input_text": "text", "encrypted_content": "encrypted_content"},
	summary:  {"summary_text": "text"},
	thoughts: {"reasoning_text": "text", "text": "text"},
}

// plainParts are how the client begins parts of a list, up to the text.
var plainParts = [...][][]byte{
	content:  {[]byte(`{"type":"input_text","text":`), []byte(`{"type":"output_text","text":`), []byte(`{"type":"input_image","image_url":`)},
	output:   {[]byte(`{"type":"input_text","text":`), []byte(`{"type":"input_image","image_url":`)},
	letter:   {[]byte(`{"type":"input_text","text":`)},
	summary:  {[]byte(`{"type":"summary_text","text":`)},
	thoughts: {[]byte(`{"type":"reasoning_text","text":`)},
}

// maxSearched is up to how many bytes a list in another form than the client's is searched for its parts.
const maxSearched = 1 << 20

// readableParts says whether the client can read every part of a list. A longer one that the client did not write itself is
// taken to be readable.
func readableParts(raw []byte, of want) bool {
	if string(raw) == "[]" || plain(raw, plainParts[of]) || len(raw) > maxSearched {
		return true
	}
	readable := true
	gjson.ParseBytes(raw).ForEach(func(_, part gjson.Result) bool {
		readable = readablePart(part, partText[of])
		return readable
	})
	return readable
}

// OneText says whether the content of a message is a single text in the client's own form, as it nearly always is: then it is
// known where the text ends, and it need not be searched again.
func OneText(rec *session.Record) bool {
	list, text := rec.Spans[FieldContent], rec.Spans[FieldFirstText]
	if text.End <= text.Start || rec.Raw[text.Start] != '"' || string(rec.Raw[text.End:list.End]) != "}]" {
		return false
	}
	head := rec.Raw[list.Start+1 : text.Start]
	return bytes.Equal(head, plainParts[content][0]) || bytes.Equal(head, plainParts[content][1])
}

// plain says whether a list holds only parts that begin like this, each with a text and nothing else.
func plain(raw []byte, starts [][]byte) bool {
	rest := raw[1:]
	for {
		i := slices.IndexFunc(starts, func(start []byte) bool { return bytes.HasPrefix(rest, start) })
		if i < 0 {
			return false
		}
		if rest = rest[len(starts[i]):]; len(rest) == 0 || rest[0] != '"' {
			return false
		}
		rest = rest[session.LiteralEnd(rest):]
		switch {
		case bytes.HasPrefix(rest, []byte("},")):
			rest = rest[2:]
		default:
			return string(rest) == "}]"
		}
	}
}

func readablePart(part gjson.Result, texts map[string]string) bool {
	kind := part.Get("type").String()
	name, known := texts[kind]
	if kind == "input_image" && known {
		detail := part.Get("detail")
		if detail.Exists() && detail.Type != gjson.Null && !slices.Contains([]string{"auto", "low", "high", "original"}, detail.String()) {
			return false
		}
		return part.Get("image_url").Type == gjson.String || part.Get("file_id").Type == gjson.String
	}
	uploaded := kind == "input_audio" && part.Get("file_id").Type == gjson.String // read since 0.171
	return known && (uploaded || part.Get(name).Type == gjson.String)
}
