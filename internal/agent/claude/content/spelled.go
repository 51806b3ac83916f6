package content

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// inOtherForm reports a message that is all there, and in a form of which nothing is sent. It says whether that is so.
func (n *Facts) inOtherForm(rec *session.Record) bool {
	where, raw := rec.Spans[format.FieldMessage], format.Field(rec, format.FieldMessage)
	message, form, fix, source := spelled(raw), "the message holds an answer's text with each letter as a member of its own", finding.Recovered, "the letters themselves"
	if message == nil {
		message, form = unwrapped(raw, n.Typ)
		fix, source = finding.Exact, ""
	}
	if message == nil {
		return false
	}
	f := n.Fault(faults.BadMessage, where.Start, form+": none of it is sent", finding.Cut{Start: where.Start, End: where.End, New: message})
	if f.Fix, f.Source = fix, source; !format.Begins(raw, '{') {
		f.hollow()
	}
	n.holds(message)
	return true
}

// unwrapped is the message that a program has turned into a text of JSON, some do so twice, or of which it has kept the content alone; nil for
// any other. form says which it is.
func unwrapped(raw []byte, typ string) (message []byte, form string) {
	form = "the message is its content alone, and not an object that holds it"
	if !format.Begins(raw, '"') && !format.Begins(raw, '[') {
		return nil, ""
	}
	level := raw
	for range 4 {
		if message = messageIn(level, typ); message != nil {
			return message, form
		}
		text, quoted := jsonl.Unquote(level)
		if !quoted || !jsonl.Valid([]byte(text)) {
			break
		}
		level, form = []byte(text), "the message is a text, and not the object that is written in it"
	}
	m := gjson.ParseBytes(raw)
	if text := strings.TrimSpace(m.Str); text == "" || text[0] == '{' || strings.HasPrefix(text, "[object ") {
		return nil, ""
	}
	return compact(`{"role":"` + typ + `","content":` + m.Raw + "}"), "the message is its content alone, and not an object that holds it"
}

// messageIn is the message of a record of a type that a value is, or that holds the blocks which it is; nil if it is neither.
func messageIn(value []byte, typ string) []byte {
	m := gjson.ParseBytes(value)
	said := m.Get("content")
	switch role := `{"role":"` + typ + `",`; {
	case m.Get("role").Str == typ && said.Raw != "":
		return compact(m.Raw)
	case m.IsObject() && !m.Get("role").Exists() && (said.IsArray() || said.Type == gjson.String):
		return compact(role + strings.TrimPrefix(strings.TrimSpace(m.Raw), "{"))
	case m.IsArray() && knownBlock(m.Get("0.type").Str):
		return compact(role + `"content":` + m.Raw + "}")
	}
	return nil
}

// compact is a text of JSON without spaces between its values; nil if it is none.
func compact(text string) []byte {
	var line bytes.Buffer
	if json.Compact(&line, []byte(text)) != nil {
		return nil
	}
	return line.Bytes()
}

// listInText reports content of which a program has made a text of JSON. It says whether that is so: a user may type such a text, but then the record
// does not tell what a tool gave.
func (n *Facts) listInText(rec *session.Record) bool {
	where := rec.Spans[format.FieldContent]
	text, _ := jsonl.Unquote(where.Of(rec.Raw))
	list := gjson.Parse(text).Array()
	odd := func(b gjson.Result) bool { return !knownBlock(b.Get("type").Str) }
	var line bytes.Buffer
	if len(list) == 0 || n.Typ == "user" && (list[0].Get("type").Str != "tool_result" || len(format.Field(rec, format.FieldToolResult)) == 0) || slices.ContainsFunc(list, odd) || json.Compact(&line, []byte(text)) != nil {
		return false
	}
	f := n.Fault(faults.BadMessage, where.Start, "the content is a text, and not the list that is written in it: the model is sent no call and no output, but their JSON",
		finding.Cut{Start: where.Start, End: where.End, New: line.Bytes()})
	f.Fix, f.Impact = finding.Exact, faults.OnAll(finding.Loses)
	msg := n.Msg
	n.holds([]byte(`{"content":` + line.String() + "}"))
	n.Msg = msg
	return true
}

// spelled returns the answer from which a client made a message by mistake, taking a text for an object: each UTF-16 unit of
// the text became a member named for its index, and the content an empty list. This was reported of clients of February 2026
// that fell back from a broken stream to a whole answer, and seen behind a proxy that streams although a whole answer was asked for. For
// any other message it returns nil.
func spelled(message []byte) []byte {
	letters, next := []byte{'"'}, 0
	gjson.ParseBytes(message).ForEach(func(place, letter gjson.Result) bool {
		if place.String() != strconv.Itoa(next) || letter.Type != gjson.String {
			return false
		}
		letters = append(letters, letter.Raw[1:len(letter.Raw)-1]...)
		next++
		return true
	})
	if next == 0 {
		return nil
	}
	answer, _ := jsonl.Unquote(append(letters, '"'))
	if strings.HasPrefix(answer, "event:") || strings.HasPrefix(answer, "data:") {
		answer = streamed(answer)
	}
	var line bytes.Buffer
	if json.Compact(&line, []byte(answer)) != nil {
		return nil
	}
	if m := gjson.ParseBytes(line.Bytes()); m.Get("role").String() != "assistant" || len(m.Get("content").Array()) == 0 {
		return nil
	}
	return line.Bytes()
}

// holds notes the blocks and the id of the answer that stands in a record in another form. Where they stand in the record is not known.
func (n *Facts) holds(answer []byte) {
	v := gjson.ParseBytes(bytes.Clone(answer))
	n.Msg = v.Get("id").Str
	for _, b := range v.Get("content").Array() { // a text is an array of one
		one := Block{Kind: BlockOther}
		switch b.Get("type").Str {
		case "text":
			one.Kind = BlockText
		case "thinking", "redacted_thinking":
			one.Kind = BlockThinking
		case "tool_use":
			one = Block{Kind: BlockCall, ID: b.Get("id").Str, Name: b.Get("name").Str}
		case "tool_result":
			one, n.Role = Block{Kind: BlockResult, ID: b.Get("tool_use_id").Str}, RoleResult
		case "":
			one.Kind = BlockText
		}
		n.Blocks = append(n.Blocks, one)
	}
}

// streamed is the answer that the events of a stream make together; "" if they do not begin one. An event that can't be read is left out,
// and so are a call whose input is not whole then, and thinking without its signature: the API would refuse them.
func streamed(events string) string {
	var message format.Object
	var blocks []format.Object
	inputs := map[int]string{}
	for line := range strings.Lines(events) {
		data, ok := strings.CutPrefix(line, "data:")
		if !ok || !jsonl.Valid([]byte(data)) {
			continue
		}
		e := gjson.Parse(data)
		i := int(e.Get("index").Int())
		switch kind := e.Get("type").Str; {
		case kind == "message_start":
			message = ObjectOf(e.Get("message"))
		case kind == "content_block_start" && i == len(blocks):
			blocks = append(blocks, ObjectOf(e.Get("content_block")))
		case kind == "content_block_delta" && i >= 0 && i < len(blocks):
			e.Get("delta").ForEach(func(key, v gjson.Result) bool {
				switch key.Str {
				case "text", "thinking", "signature":
					was, _ := blocks[i][key.Str].(string)
					blocks[i][key.Str] = was + v.Str
				case "partial_json":
					inputs[i] += v.Str
				}
				return true
			})
		case kind == "message_delta" && message != nil:
			for key, v := range ObjectOf(e.Get("delta")) {
				message[key] = v
			}
			if usage := e.Get("usage"); usage.IsObject() {
				message["usage"] = json.RawMessage(usage.Raw)
			}
		}
	}
	if message == nil {
		return ""
	}
	content := []format.Object{}
	for i, b := range blocks {
		if words, called := inputs[i]; called {
			if !jsonl.Valid([]byte(words)) || !gjson.Parse(words).IsObject() {
				continue
			}
			b["input"] = json.RawMessage(words)
		}
		if b["type"] != "thinking" || b["signature"] != "" {
			content = append(content, b)
		}
	}
	message["content"] = content
	return string(message.JSON())
}

// ObjectOf is a JSON object as its members.
func ObjectOf(v gjson.Result) format.Object {
	o := format.Object{}
	if json.Unmarshal([]byte(v.Raw), &o) != nil {
		return nil
	}
	return o
}
