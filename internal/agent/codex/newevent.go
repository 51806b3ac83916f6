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
		return record(stamp, nil, "event_msg", struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		}{"user_message", text})
	}
	type part struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	type item struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		Content []part `json:"content"`
	}
	return record(stamp, nil, "event_msg", struct {
		Type   string `json:"type"`
		Thread string `json:"thread_id"`
		Turn   string `json:"turn_id"`
		Item   item   `json:"item"`
		Done   int64  `json:"completed_at_ms"`
	}{"item_completed", thread, turn, item{"UserMessage", uuid.NewSHA1(uuid.NameSpaceOID, []byte(thread+stamp+text)).String(), []part{{"text", text}}}, at.UnixMilli()})
}

// NewTurnStarted writes the event with which a turn begins. A negative ordinal is left out.
func NewTurnStarted(p KeptPlace) []byte {
	ordinal := &p.Ordinal
	if p.Ordinal < 0 {
		ordinal = nil
	}
	return record(p.stamp(), ordinal, "event_msg", struct {
		Type    string `json:"type"`
		Turn    string `json:"turn_id"`
		Started int64  `json:"started_at"`
	}{"task_started", p.Turn, p.At.Unix()})
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
	stamp := p.stamp()
	type failure struct {
		Message string          `json:"message"`
		Info    json.RawMessage `json:"codex_error_info,omitempty"`
	}
	var failed *failure
	switch end.Status {
	case "interrupted":
		return record(stamp, &p.Ordinal, "event_msg", json.RawMessage(gjson.GetBytes(NewTurnAborted(p.Turn, stamp), "payload").Raw))
	case "failed":
		info := gjson.Get(end.Error, "codexErrorInfo")
		failed = &failure{gjson.Get(end.Error, "message").String(), json.RawMessage(`"other"`)}
		if info.Type == gjson.String {
			failed.Info = quote(snake(info.String()))
		}
	case "completed":
	default:
		return nil
	}
	var last *string
	if end.Last != "" {
		last = &end.Last
	}
	return record(stamp, &p.Ordinal, "event_msg", struct {
		Type      string   `json:"type"`
		Turn      string   `json:"turn_id"`
		Last      *string  `json:"last_agent_message"`
		Error     *failure `json:"error,omitempty"`
		Started   int64    `json:"started_at"`
		Completed int64    `json:"completed_at"`
		Took      int64    `json:"duration_ms"`
	}{"task_complete", p.Turn, last, failed, end.Started.Unix(), p.At.Unix(), end.Took.Milliseconds()})
}
