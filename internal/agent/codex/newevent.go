package codex

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"
)

// NewPromptEvent writes the event that shows a prompt, as a legacy session or a paginated one has it.
func NewPromptEvent(at time.Time, thread, turn, text string, paginated bool) []byte {
	stamp := at.UTC().Format(TimeForm)
	if !paginated || turn == "" {
		return record(stamp, nil, "event_msg", jsonObject{"type", "user_message", "message", text})
	}
	id := uuid.NewSHA1(uuid.NameSpaceOID, []byte(thread+stamp+text)).String()
	return record(stamp, nil, "event_msg", jsonObject{
		"type", "item_completed", "thread_id", thread, "turn_id", turn,
		"item",
		jsonObject{"type", "UserMessage", "id", id, "content", []jsonObject{{"type", "text", "text", text}}},
		"completed_at_ms", at.UnixMilli(),
	})
}

// NewTurnStarted writes the event with which a turn begins. A negative ordinal is left out.
func NewTurnStarted(p KeptPlace) []byte {
	ordinal := &p.Ordinal
	if p.Ordinal < 0 {
		ordinal = nil
	}
	return record(p.stamp(), ordinal, "event_msg", jsonObject{"type", "task_started", "turn_id", p.Turn, "started_at", p.At.Unix()})
}

// KeptEnd is how the client says that a turn ended.
type KeptEnd struct {
	Status  string // completed, interrupted, failed
	Error   string // JSON, "" if there is none
	Last    string // the last answer, "" if it is not known
	Started time.Time
	Took    time.Duration
}

// NewTurnEnded writes the event with which a turn ends; nil if the status is not known.
func NewTurnEnded(p KeptPlace, end KeptEnd) []byte {
	var last, failed any
	switch end.Status {
	case "interrupted":
		return record(p.stamp(), &p.Ordinal, "event_msg", turnAborted(p.Turn))
	case "failed":
		info := json.RawMessage(`"other"`)
		if v := gjson.Get(end.Error, "codexErrorInfo"); v.Type == gjson.String {
			info = quote(snake(v.String()))
		}
		failed = jsonObject{"message", gjson.Get(end.Error, "message").String(), "codex_error_info", info}
	case "completed":
	default:
		return nil
	}
	if end.Last != "" {
		last = end.Last
	}
	return record(p.stamp(), &p.Ordinal, "event_msg", jsonObject{
		"type", "task_complete", "turn_id", p.Turn, "last_agent_message", last, "error?", failed,
		"started_at", end.Started.Unix(), "completed_at", p.At.Unix(), "duration_ms", end.Took.Milliseconds(),
	})
}
