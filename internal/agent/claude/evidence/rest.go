package evidence

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/format"
)

// rest is the end of a record whose beginning was damaged: everything from some member on, of the record's message or of its
// last block, is whole.
type rest struct {
	Type    string `json:"type"`
	UUID    string `json:"uuid"`
	When    string `json:"timestamp"`
	Source  string `json:"sourceToolAssistantUUID"`
	Message struct {
		Content json.RawMessage `json:"content"`
		Stop    any             `json:"stop_reason"`
		Usage   json.RawMessage `json:"usage"`
	} `json:"message"`
	Result json.RawMessage `json:"toolUseResult"`
	flags  format.Object
}

// restStarts are the members at which a rest may begin, and what stands in front of them in a whole record.
var restStarts = []struct{ member, front string }{
	{`"content":[{"`, `{"message":{`},
	{`"content":"`, `{"message":{`},
	{`"tool_use_id":"`, inBlock},
	{`"id":"toolu_`, inBlock},
	{`"name":"`, inBlock},
	{`"input":{`, inBlock},
	{`"text":"`, inBlock},
	{`"thinking":"`, inBlock},
	{`"content":[{"`, inBlock},
	{`"content":"`, inBlock},
}

const inBlock = `{"message":{"content":[{`

// RestOf is the rest of a record in an unreadable line; false if there is none that holds an id and content.
func RestOf(raw []byte) (r rest, ok bool) {
	raw = bytes.TrimRight(raw, "\r\n\x00")
	tries := 0
	for _, s := range restStarts {
		for at := 0; tries < MaxPieceTries; tries++ {
			next := bytes.Index(raw[at:], []byte(s.member))
			if next < 0 {
				break
			}
			at += next
			whole := append([]byte(s.front), raw[at:]...)
			at += len(s.member)
			r = rest{}
			if !sound(whole) || json.Unmarshal(whole, &r) != nil || r.UUID == "" || len(r.Message.Content) == 0 {
				continue
			}
			if r.Type == "" { // up to 1.0.17 the type stands in front of the message
				if r.Type = "user"; r.Message.Stop != nil || len(r.Message.Usage) > 0 {
					r.Type = "assistant"
				}
			}
			r.flags = flagsIn(whole)
			return r, r.Type == "user" || r.Type == "assistant"
		}
	}
	return r, false
}

// TakeRest keeps what a rest holds: a message, or a call or an output without its id.
func (p *Pieces) TakeRest(r rest, line int64, size int) {
	content, ok := p.completed(r)
	if !ok {
		return
	}
	m := format.Made{UUID: r.UUID, Typ: r.Type, Source: r.Source, When: format.MillisOf([]byte(r.When)), Message: format.Object{"role": r.Type, "content": content}, More: r.flags}
	if len(r.Result) > 0 && r.Result[0] == '{' {
		m.More["toolUseResult"] = r.Result
	}
	if r.Type == "assistant" {
		m.Message = AnswerOf(content, r.Message.Stop)
		if len(r.Message.Usage) > 0 {
			m.Message["usage"] = r.Message.Usage
		}
	}
	p.KeepOf(m, line, size)
}

// AnswerOf is a message of the model's. Its id is missing.
func AnswerOf(content, stop any) format.Object {
	return format.Object{
		"type": "message", "role": "assistant", "model": "claude", "content": content, "stop_reason": stop, "stop_sequence": nil,
		"usage": format.Object{"input_tokens": 0, "output_tokens": 0},
	}
}

// AnswerID is an id for an answer that has lost its own, by a record of it.
func AnswerID(uuid string) string { return "msg_" + format.NewID("message", uuid)[:8] + "hist" }

// completed is the content of a message, with the beginning of its first block restored. A call or an output without its id is
// kept apart, to be placed by the ids of other records.
func (p *Pieces) completed(r rest) (content json.RawMessage, ok bool) {
	if r.Message.Content[0] == '"' {
		return r.Message.Content, r.Type == "user"
	}
	var blocks []json.RawMessage
	var first piece
	members := map[string]json.RawMessage{}
	if json.Unmarshal(r.Message.Content, &blocks) != nil || len(blocks) == 0 || json.Unmarshal(blocks[0], &members) != nil || json.Unmarshal(blocks[0], &first) != nil {
		return nil, false
	}
	typ := ""
	switch {
	case first.Type != "":
		return r.Message.Content, true
	case len(members["text"]) > 0:
		typ = "text"
	case len(members["thinking"]) > 0 && len(members["signature"]) > 0:
		typ = "thinking"
	case len(first.Input) > 0 && r.Type == "assistant":
		if first.ID == "" || first.Name == "" {
			p.CallsAt = kept(p.CallsAt, r.UUID, first)
			return nil, false
		}
		typ = "tool_use"
	case len(first.Content) > 0 && r.Type == "user":
		if first.Call == "" {
			if r.Source != "" && len(blocks) == 1 {
				p.OutputsFrom = kept(p.OutputsFrom, r.Source, first)
			}
			return nil, false
		}
		typ = "tool_result"
	default:
		return nil, false
	}
	whole := slices.Concat([]byte(`[{"type":"`+typ+`",`), blocks[0][1:])
	for _, b := range blocks[1:] {
		whole = append(append(whole, ','), b...)
	}
	return append(whole, ']'), true
}

func kept(in map[string]piece, id string, b piece) map[string]piece {
	if in == nil {
		in = map[string]piece{}
	}
	in[id] = b
	return in
}
