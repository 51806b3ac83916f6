package evidence

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/jsonl"
)

const (
	MaxPieceLine  = 4 << 20  // length of a line, in bytes, up to which it is searched for pieces
	MaxPieceTries = 16       // how many places of a line that look like a piece are tried
	MaxPieces     = 32 << 20 // how many bytes of pieces are kept for a file
	PieceSource   = "what is left of its line in this file"
)

// Pieces are the messages found in unreadable lines, by the ids of their records, and the blocks, by the ids of their calls.
type Pieces struct {
	Messages       map[string]format.Made
	Lines          map[string]int64 // the lines of the messages; the others are in the client's record of a request
	calls, outputs map[string]piece
	sent           map[string]piece // calls and outputs that the client has recorded as it sent them, by their kinds and the calls' ids
	CallsAt        map[string]piece // calls whose own ids are lost, by the ids of their records
	OutputsFrom    map[string]piece // outputs that name no call, by the ids of the records with the calls
	OutputsAt      map[string]piece // outputs taken from the tool's own result, by the ids of their records
	outputsIn      []toldLine       // the same without any id, in the order of the file: only their place shows whose they are
	Size           int
}

// Keep keeps a record of a length in bytes.
func (p *Pieces) Keep(m format.Made, size int) {
	if p.Messages == nil {
		p.Messages, p.Lines = map[string]format.Made{}, map[string]int64{}
	}
	p.Messages[m.UUID] = m
	p.Size += size
}

// KeepOf is Keep for a record that was found in a line.
func (p *Pieces) KeepOf(m format.Made, line int64, size int) {
	p.Keep(m, size)
	p.Lines[m.UUID] = line
}

// piece is a block of a call, or of its output.
type piece struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Call    string          `json:"tool_use_id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Content json.RawMessage `json:"content"`
	IsError *bool           `json:"is_error"`
}

// Take keeps the block with which some bytes begin, and returns its length; 0 if they begin with none.
func (p *Pieces) Take(raw []byte) int {
	var b piece
	value := valueAt(raw)
	if value == nil || json.Unmarshal(value, &b) != nil {
		return 0
	}
	switch {
	case b.Type == "tool_use" && b.ID != "" && b.isCall():
		p.calls = kept(p.calls, b.ID, b)
	case b.Type == "tool_result" && b.Call != "" && b.isOutput():
		p.outputs = kept(p.outputs, b.Call, b)
	}
	p.Size += len(value)
	return len(value)
}

// isCall says whether a piece holds all of a call but for its id.
func (b *piece) isCall() bool { return b.Name != "" && bytes.HasPrefix(b.Input, []byte("{")) }

// isOutput says whether a piece holds an output.
func (b *piece) isOutput() bool {
	return len(b.Content) > 0 && (b.Content[0] == '"' || b.Content[0] == '[')
}

// valueAt is the JSON value with which some bytes begin, white space in front of it included, in their memory; nil if it is not whole, or can't be read by
// a client.
func valueAt(raw []byte) json.RawMessage {
	var value json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(raw))
	if dec.Decode(&value) != nil || !sound(value) {
		return nil
	}
	return raw[:dec.InputOffset()]
}

// SentSource is where such blocks are.
const SentSource = "the api-request-blob record of this file"

// TakeSent keeps the calls and outputs in a message that the client has recorded whole, as it does for what a compaction has kept.
func (p *Pieces) TakeSent(message []byte) {
	if !bytes.Contains(message, []byte(`"tool_use`)) && !bytes.Contains(message, []byte(`"tool_result"`)) {
		return
	}
	gjson.GetBytes(message, "content").ForEach(func(_, v gjson.Result) bool {
		var b piece
		if p.Size >= MaxPieces || json.Unmarshal([]byte(v.Raw), &b) != nil || b.Type != "tool_use" && b.Type != "tool_result" {
			return p.Size < MaxPieces
		}
		p.sent = kept(p.sent, b.Type+" "+b.ID+b.Call, b)
		p.Size += len(v.Raw)
		return true
	})
}

// Call is what is known of a lost call, and where it is; the source is "" if nothing is.
func (p *Pieces) Call(id string) (piece, string) {
	if left, ok := p.calls[id]; ok {
		return left, PieceSource
	}
	if left, ok := p.sent["tool_use "+id]; ok && left.isCall() {
		return left, SentSource
	}
	return piece{}, ""
}

// Output is what is known of a lost output, and where it is; the source is "" if nothing is.
func (p *Pieces) Output(callID string) (piece, string) {
	if left, ok := p.outputs[callID]; ok {
		return left, PieceSource
	}
	if left, ok := p.sent["tool_result "+callID]; ok && left.isOutput() {
		return left, SentSource
	}
	return piece{}, ""
}

// sound says whether a client can read a value as it stands, because a piece is restored unchanged.
func sound(value []byte) bool {
	v := format.Shape.ScanOne(value, make([]jsonl.Span, format.FieldCount))
	return v.Fault == jsonl.None && v.Surrogate < 0
}

// PromptIn is the text of the prompt whose record a line was, if it is still whole.
func PromptIn(raw []byte) (words string, ok bool) {
	for _, start := range []string{`"message":{"role":"user","content":"`, `"message":{"role":"user","content":[{"type":"text","text":"`} {
		at := bytes.Index(raw, []byte(start))
		if at < 0 || bytes.Contains(raw, []byte(`"isMeta":true`)) || bytes.Contains(raw, []byte(`"isCompactSummary":true`)) {
			continue
		}
		if value := valueAt(raw[at+len(start)-1:]); json.Unmarshal(value, &words) == nil && strings.TrimSpace(words) != "" && !strings.ContainsRune(words, 0) {
			return words, true
		}
	}
	return "", false
}

// MessageIn is the record that a line was, with what a client needs of it. The message and the id must be whole, and nothing
// between them may be damaged: otherwise they may be of two records.
func MessageIn(raw []byte) (m format.Made, ok bool) {
	const key = `"message":`
	at := bytes.Index(raw, []byte(key+"{"))
	id, idEnd := textMember(raw, max(at, 0), "uuid")
	if at < 0 || id == "" || !wholeMembers(raw[at:idEnd]) {
		return m, false
	}
	var message struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	all := format.Object{}
	value := valueAt(raw[at+len(key):])
	if json.Unmarshal(value, &message) != nil || json.Unmarshal(value, &all) != nil || message.Role != "user" && message.Role != "assistant" || len(message.Content) == 0 {
		return m, false
	}
	m = format.Made{UUID: id, Typ: message.Role, Message: all}
	if parent, _ := textMember(raw, 0, "parentUuid"); parent != "" {
		if from := bytes.Index(raw, []byte(`"parentUuid":`)); from < at && wholeMembers(raw[from:idEnd]) {
			m.Parent = parent
		}
	}
	if when, end := textMember(raw, at, "timestamp"); when != "" && wholeMembers(raw[at:end]) {
		m.When = format.MillisOf([]byte(when))
	}
	if source, end := textMember(raw, at, "sourceToolAssistantUUID"); source != "" && wholeMembers(raw[at:end]) {
		m.Source = source
	}
	m.More = flagsIn(raw)
	if result := resultIn(raw[at:]); result != nil {
		m.More["toolUseResult"] = result
	}
	return m, true
}

// BeginningIn is the record that a line was of which everything up to the end of its message's content is whole, and a flaw stands behind
// that: a character that was changed or lost. Its id must be whole, and nothing of another record may stand in between.
func BeginningIn(raw []byte) (m format.Made, ok bool) {
	const key, member = `"message":`, `"content":`
	at := bytes.Index(raw, []byte(key+"{"))
	if at < 0 || !bytes.HasPrefix(raw, []byte("{")) {
		return m, false
	}
	from := at + len(key)
	words := bytes.Index(raw[from:], []byte(member))
	if words < 0 {
		return m, false
	}
	words += from + len(member)
	value := valueAt(raw[words:])
	end := words + len(value)
	whole := append(bytes.Clone(raw[:end]), "}}"...)
	id, idEnd := textMember(raw, end, "uuid")
	if value == nil || !sound(whole) || uuid.Validate(id) != nil || bytes.Contains(raw[end:idEnd], []byte(`"parentUuid"`)) || bytes.Contains(raw[end:idEnd], []byte(key)) {
		return m, false
	}
	v := gjson.ParseBytes(whole)
	message := content.ObjectOf(v.Get("message"))
	m = format.Made{UUID: id, Typ: v.Get("message.role").Str, Parent: v.Get("parentUuid").Str, Message: message, More: flagsIn(raw)}
	switch {
	case m.Typ == "user": // an output's record names more behind its message
	case m.Typ == "assistant" && v.Get("message.id").Str != "":
		stop, _ := textMember(raw, end, "stop_reason")
		for member, value := range AnswerOf(message["content"], stop) {
			if _, has := message[member]; !has {
				message[member] = value
			}
		}
		if stop == "" {
			message["stop_reason"] = nil
		}
	default:
		return m, false
	}
	if when, whenEnd := textMember(raw, end, "timestamp"); when != "" && whenEnd > 0 {
		m.When = format.MillisOf([]byte(when))
	}
	m.Source, _ = textMember(raw, end, "sourceToolAssistantUUID")
	return m, true
}

// flagsIn are those members of a line that change what a client makes of its record.
func flagsIn(raw []byte) format.Object {
	set := format.Object{}
	for _, flag := range []string{"isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage"} {
		if bytes.Contains(raw, []byte(`"`+flag+`":true`)) {
			set[flag] = true
		}
	}
	return set
}

// resultIn is the tool's own result that follows the message of a record, if nothing between them was hit; nil if there is none.
func resultIn(raw []byte) json.RawMessage {
	const key = `"toolUseResult":`
	at := bytes.Index(raw, []byte(key+"{"))
	if at < 0 {
		return nil
	}
	value := valueAt(raw[at+len(key):])
	if value == nil || !wholeMembers(raw[:at+len(key)+len(value)]) {
		return nil
	}
	return bytes.Clone(value)
}

// wholeMembers says whether some bytes are a list of whole members of an object.
func wholeMembers(raw []byte) bool {
	return json.Valid(append(append([]byte("{"), raw...), '}'))
}

// textMember is the text of the first member with a key, from an offset on, and where it ends.
func textMember(raw []byte, from int, key string) (value string, end int) {
	start := []byte(`"` + key + `":"`)
	at := bytes.Index(raw[from:], start)
	if at < 0 {
		return "", 0
	}
	at += from + len(start)
	n := bytes.IndexByte(raw[at:], '"')
	if n < 0 {
		return "", 0
	}
	return string(raw[at : at+n]), at + n + 1
}
