package codex

import (
	"bytes"
	"errors"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// thoughtHead is the beginning of the message that keeps the summary of a lost thought. The thought itself was encrypted, and
// can't be restored: no reasoning item is made of a summary, because the API accepts none without its encrypted content.
const thoughtHead = "[hist: your reasoning at this point was lost from the session; this is the summary of it that was shown]\n"

// ThoughtFrom writes a message to the model that keeps what events show of a thought: one item_completed of reasoning, or one
// or several agent_reasoning.
func ThoughtFrom(events [][]byte) ([]byte, error) {
	var shown []string
	for _, e := range events {
		p := gjson.GetBytes(e, "payload")
		for _, text := range append(p.Get("item.summary_text").Array(), p.Get("text")) {
			if s := strings.TrimSpace(text.String()); s != "" {
				shown = append(shown, s)
			}
		}
	}
	if len(shown) == 0 {
		return nil, errors.New("the event shows nothing of what was thought")
	}
	return tellModel(StampOf(events[0]), thoughtHead+strings.Join(shown, "\n\n")), nil
}

// ShownThought is the first text that an event shows of a thought that ThoughtFrom can keep, or that a reasoning item sums up; "" if there is none.
func ShownThought(record []byte) string {
	for _, path := range []string{"payload.item.summary_text", "payload.text", "payload.summary.#.text"} {
		shown := gjson.GetBytes(record, path)
		for _, text := range append(shown.Array(), shown) {
			if text.Type == gjson.String && strings.TrimSpace(text.Str) != "" {
				return text.Str
			}
		}
	}
	return ""
}

// KeepsThought says whether a message is one that ThoughtFrom wrote.
func KeepsThought(rec *session.Record) bool {
	return string(rec.Role) == "developer" && bytes.HasPrefix(Text(rec, FieldFirstText), []byte(thoughtHead))
}

// thought is the content of a reasoning item whose provider does not encrypt it, as programs that serve a local model do.
func thought(rec *session.Record) string {
	if rec.Type != reasoningType {
		return ""
	}
	text, _ := MessageText(rec)
	return text
}

const reasoningType = "response_item/reasoning"
