package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/surgery"
)

// newest is the client that the form of a session that is handed over was measured with.
const newest = "0.171.0"

// Compose writes a rollout that says what another agent's session said, in the form in which Codex itself keeps what it imports.
func (Surgeon) Compose(h *surgery.Handoff, thread, cwd string, now time.Time) []byte {
	w := &composer{now: now.Add(-time.Duration(len(h.Steps)*4+8) * time.Millisecond)}
	w.put("session_meta", map[string]any{
		"id": thread, "timestamp": w.stamp(), "cwd": cwd, "originator": "hist", "cli_version": newest, "source": "cli",
	})
	turn, answer, open := "", "", false
	end := func() {
		if open {
			w.put("event_msg", map[string]any{"type": "task_complete", "turn_id": turn, "last_agent_message": answer})
		}
	}
	asked := false // whether the turn has a prompt only
	for i, s := range h.Steps {
		prompt := s.User && s.Call == ""
		if !open || prompt && !asked && s.Turn != h.Steps[i-1].Turn {
			end()
			turn, answer, open = uuid.NewString(), "", true
			w.put("event_msg", map[string]any{"type": "task_started", "turn_id": turn, "model_context_window": nil})
		}
		asked = prompt
		switch {
		case s.Output:
			w.put("response_item", map[string]any{"type": "function_call_output", "call_id": s.Call, "output": outputOf(s)})
		case s.Call != "":
			args, err := json.Marshal(map[string]string{"cmd": s.Command})
			if err != nil {
				panic(fmt.Sprint("handoff: ", err)) // a text
			}
			w.put("response_item", map[string]any{"type": "function_call", "name": "exec_command", "arguments": string(args), "call_id": s.Call})
		case s.User:
			w.put("event_msg", map[string]any{"type": "user_message", "message": s.Text, "images": []string{}, "local_images": []string{}, "text_elements": []string{}})
			w.put("response_item", map[string]any{"type": "message", "role": "user", "content": contentOf(s, "input_text")})
		default:
			answer = s.Text
			w.put("event_msg", map[string]any{"type": "agent_message", "message": s.Text})
			w.put("response_item", map[string]any{"type": "message", "role": "assistant", "content": contentOf(s, "output_text")})
		}
	}
	end()
	return w.b.Bytes()
}

// composer writes records one after the other, each a little later.
type composer struct {
	b   bytes.Buffer
	now time.Time
}

func (w *composer) stamp() string { return w.now.UTC().Format(codex.TimeForm) }

func (w *composer) put(typ string, payload map[string]any) {
	w.b.Write(append(surgery.JSON(struct {
		Timestamp string         `json:"timestamp"`
		Type      string         `json:"type"`
		Payload   map[string]any `json:"payload"`
	}{w.stamp(), typ, payload}), '\n'))
	w.now = w.now.Add(time.Millisecond)
}

// contentOf are a step's words and images.
func contentOf(s surgery.Step, kind string) (list []any) {
	if s.Text != "" {
		list = append(list, map[string]any{"type": kind, "text": s.Text})
	}
	for _, p := range s.Images {
		list = append(list, map[string]any{"type": "input_image", "image_url": "data:" + p.Type + ";base64," + p.Image})
	}
	return list
}

// outputOf is an output: a text, or a list if there are images.
func outputOf(s surgery.Step) any {
	if len(s.Images) == 0 {
		return s.Text
	}
	return contentOf(s, "input_text")
}
