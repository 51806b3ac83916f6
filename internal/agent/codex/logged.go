package codex

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Request is what a client sent to the model, as its log tells it.
type Request struct {
	Turn    string            // id of the turn in which it was sent
	Turns   bool              // it goes on with a turn; otherwise it asks for something else, such as a summary
	Window  string            // changes with each compaction; "" if the client does not say
	History []json.RawMessage // the items of the conversation
}

// What comes before a request in the log. The spans are those of clients 0.117 to 0.145; older ones write none.
const (
	logThread  = "session_loop{thread_id="
	logRunTurn = ":run_turn:run_sampling_request{turn_id="
	logPost    = ": POST to "
	logBody    = ": {"
	logEvent   = "SSE event: "
)

// RequestFromLog reads a request that a client sent in a thread from a row of its log. It is nil if the row is about something
// else; ok is false if the row holds a request in an unknown form. Nothing else of the row is kept: it also holds addresses,
// and the client's own instructions.
func RequestFromLog(thread, row string) (*Request, bool) {
	rest, bare := strings.CutPrefix(row, logPost[len(": "):])
	var spans string
	if !bare {
		var sent bool
		if spans, rest, sent = strings.Cut(row, logPost); !sent {
			return nil, true
		}
	}
	at := strings.Index(rest, logBody)
	if at < 0 || !bare && !strings.HasPrefix(spans, logThread+thread+"}") {
		return nil, false
	}
	body := rest[at+len(logBody)-1:]
	if !soundObject(body) {
		return nil, false
	}
	v := gjson.Parse(body)
	if bare {
		return bareRequest(thread, rest[:at], v)
	}
	told := v.Get("client_metadata")
	if of := told.Get("thread_id"); !v.Get("input").IsArray() || of.Exists() && of.Str != thread {
		return nil, false
	}
	r := &Request{Window: told.Get("x-codex-window-id").Str}
	_, turn, _ := strings.Cut(spans, logRunTurn)
	r.Turn, _, r.Turns = strings.Cut(turn, " ")
	if id := told.Get("turn_id"); id.Exists() && id.Str != r.Turn {
		r.Turns = false
	}
	r.History = itemsOf(v)
	return r, true
}

// bareRequest is a request of a client that does not log the turn in which it is sent (0.110 to 0.114). A request for a summary
// offers no tools, or goes to another address. The thread's id is the key of the cache.
func bareRequest(thread, url string, v gjson.Result) (*Request, bool) {
	if !v.Get("input").IsArray() || !v.Get("tools").IsArray() || v.Get("prompt_cache_key").Str != thread {
		return nil, false
	}
	path, _, _ := strings.Cut(url, "?")
	return &Request{Turns: strings.HasSuffix(path, "/responses") && v.Get("tools.#").Int() > 0, History: itemsOf(v)}, true
}

func itemsOf(request gjson.Result) (items []json.RawMessage) {
	request.Get("input").ForEach(func(_, item gjson.Result) bool {
		items = append(items, json.RawMessage(item.Raw))
		return true
	})
	return items
}

// AnswerFromLog reads an item of the model's answer from a row of the client's log, and gives it the form that requests have;
// nil if the row is about something else.
func AnswerFromLog(row string) json.RawMessage {
	event, ok := strings.CutPrefix(row, logEvent)
	if !ok || !strings.Contains(event, `"response.output_item.done"`) || !soundObject(event) {
		return nil
	}
	v := gjson.Parse(event)
	item := v.Get("item")
	if v.Get("type").Str != "response.output_item.done" || !item.IsObject() {
		return nil
	}
	return said(item)
}

// saidMembers are the members of a model's item that a client keeps.
var saidMembers = map[string][]string{
	"message":          {"type", "role", "content", "phase"},
	"reasoning":        {"type", "summary", "content", "encrypted_content"},
	"function_call":    {"type", "name", "namespace", "arguments", "call_id"},
	"custom_tool_call": {"type", "status", "call_id", "name", "input"},
	"web_search_call":  {"type", "status", "action"},
}

func said(item gjson.Result) json.RawMessage {
	out := []byte{'{'}
	for _, name := range saidMembers[item.Get("type").Str] {
		value := item.Get(name)
		if !value.Exists() {
			continue
		}
		raw := value.Raw
		if name == "content" && value.IsArray() {
			raw = saidText(value)
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quote(name)...), ':'), raw...)
	}
	if len(out) == 1 {
		return nil // an unknown type
	}
	return append(out, '}')
}

// saidText is the content of an answer without members that the client does not keep, such as annotations.
func saidText(content gjson.Result) string {
	parts := []string{}
	for _, c := range content.Array() {
		parts = append(parts, `{"type":`+string(quote(c.Get("type").Str))+`,"text":`+string(cmp.Or(c.Get("text").Raw, `""`))+`}`)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// ItemRecord writes the record of an item that a request held.
func ItemRecord(at time.Time, item json.RawMessage) []byte {
	return record(at.UTC().Format(TimeForm), nil, "response_item", item)
}

// CompactedRecord writes the record of a compaction that has left the items of a request as the history.
func CompactedRecord(at time.Time, history []json.RawMessage) []byte {
	return record(at.UTC().Format(TimeForm), nil, "compacted", jsonObject{"message", "", "replacement_history", history})
}

// ItemEvent writes the event with which the client shows a prompt or an answer of a single text; nil for any other item. The
// event comes after a prompt's record, and before an answer's.
func ItemEvent(at time.Time, rec *session.Record) []byte {
	content := gjson.ParseBytes(Field(rec, FieldContent)).Array()
	if len(content) != 1 || content[0].Get("text").Type != gjson.String {
		return nil
	}
	text := content[0].Get("text").String()
	switch {
	case rec.Type == "response_item/message" && rec.Boundary:
		return NewPromptEvent(at, "", "", text, false)
	case rec.Type == "response_item/message" && rec.Answer:
		return answerEvent(at.UTC().Format(TimeForm), text, gjson.GetBytes(rec.Raw, "payload.phase").String())
	}
	return nil
}

// IsFilledIn says whether an output in a request is what clients write in place of one that they don't have.
func IsFilledIn(rec *session.Record) bool {
	return rec.Kind == session.Output && string(Field(rec, FieldOutput)) == `"aborted"`
}

// soundObject says whether a text is one JSON object that every reader understands alike.
func soundObject(text string) bool {
	var spans [fieldCount]jsonl.Span
	v := shape.ScanOne([]byte(text), spans[:])
	return v.Fault == jsonl.None && v.Object && v.Duplicate < 0 && v.Depth < maxLogDepth
}

// maxLogDepth is how deep a request may be nested, in brackets.
const maxLogDepth = 128
