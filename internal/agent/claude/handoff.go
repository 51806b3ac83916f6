package claude

import (
	"bytes"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/surgery"
)

// Compose writes a session of Claude Code that says what another agent's said: the records that its client needs, and no more.
func (Surgeon) Compose(h *surgery.Handoff, thread, cwd string, now time.Time) []byte {
	type message struct {
		user            bool
		results, blocks []any
	}
	var list []*message
	at := func(user bool) *message {
		if n := len(list); n > 0 && list[n-1].user == user {
			return list[n-1]
		}
		list = append(list, &message{user: user})
		return list[len(list)-1]
	}
	ids := map[string]string{}
	prompt := ""
	for _, s := range h.Steps {
		m := at(s.User)
		content := blocksOf(s)
		switch {
		case s.Output:
			m.results = append(m.results, map[string]any{"type": "tool_result", "tool_use_id": ids[s.Call], "content": content})
		case s.Call != "":
			ids[s.Call] = "toolu_" + plainID(thread, s.Call)
			m.blocks = append(m.blocks, map[string]any{"type": "tool_use", "id": ids[s.Call], "name": "Bash", "input": map[string]any{"command": s.Command, "description": "Run a command"}})
		default:
			m.blocks = append(m.blocks, content...)
			if s.User && s.Text != "" {
				prompt = s.Text
			}
		}
	}
	if len(list) > 0 && !list[0].user {
		list = append([]*message{{user: true, blocks: []any{map[string]any{"type": "text", "text": "(The conversation goes on from one with " + h.From + ".)"}}}}, list...)
	}
	var b bytes.Buffer
	parent := any(nil)
	last := ""
	for i, m := range list {
		id := uuid.NewString()
		rec := map[string]any{
			"type": "assistant", "uuid": id, "parentUuid": parent, "isSidechain": false, "userType": "external", "sessionId": thread, "cwd": cwd,
			"timestamp": stamp(now.Add(time.Duration(i-len(list)) * time.Millisecond)),
		}
		content := append(m.results, m.blocks...) // the API wants results first
		if m.user {
			rec["type"], rec["message"] = "user", map[string]any{"role": "user", "content": content}
		} else {
			rec["message"] = map[string]any{
				"id": "msg_" + plainID(thread, id), "type": "message", "role": "assistant", "model": "<handed-over>", "content": content,
				"stop_reason": stopReason(content), "stop_sequence": nil, "usage": map[string]int{"input_tokens": 0, "output_tokens": 0},
			}
		}
		put(&b, rec)
		parent, last = id, id
	}
	put(&b, map[string]any{"type": "last-prompt", "lastPrompt": prompt, "leafUuid": last, "sessionId": thread})
	return b.Bytes()
}

// stopReason is why an answer ended.
func stopReason(content []any) string {
	if m, ok := content[len(content)-1].(map[string]any); ok && m["type"] == "tool_use" {
		return "tool_use"
	}
	return "end_turn"
}

func put(b *bytes.Buffer, rec map[string]any) { b.Write(append(surgery.JSON(rec), '\n')) }

// BlocksOf are a step's words and images.
func blocksOf(s surgery.Step) (list []any) {
	if s.Text != "" {
		list = append(list, map[string]any{"type": "text", "text": s.Text})
	}
	for _, p := range s.Images {
		list = append(list, map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": p.Type, "data": p.Image}})
	}
	if list == nil {
		list = append(list, map[string]any{"type": "text", "text": "(no output)"})
	}
	return list
}

// plainID is an id without hyphens, as the API gives them.
func plainID(parts ...string) string { return strings.ReplaceAll(format.NewID(parts...), "-", "")[:24] }
