package codex

import (
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"
)

// The client keeps a second copy of what it writes into a rollout in a database, thread_history_1.sqlite (0.145 to 0.169). The
// content is the same, but members have other names. The functions of this file write a rollout's lines anew from that copy.

// KeptPlace says to which thread and turn an item of that database belongs, and when and with which ordinal it was written.
type KeptPlace struct {
	Thread, Turn string
	CWD          string // of the session
	At           time.Time
	Ordinal      int64
}

func (p KeptPlace) stamp() string { return p.At.UTC().Format(TimeForm) }

// EventFromKept writes the event from which the database's item was made; nil if items of this kind hold no history.
func EventFromKept(p KeptPlace, item []byte) []byte {
	completed := completedItem(gjson.ParseBytes(item), p.CWD)
	if completed == nil {
		return nil
	}
	ms := p.At.UnixMilli()
	return record(p.stamp(), &p.Ordinal, "event_msg", jsonObject{
		"type", "item_completed", "thread_id", p.Thread, "turn_id", p.Turn, "item", completed, "started_at_ms", ms, "completed_at_ms", ms,
	})
}

// completedItem is the item in the rollout's form; nil for a kind without history.
func completedItem(v gjson.Result, cwd string) jsonObject {
	id := v.Get("id").String()
	switch v.Get("type").String() {
	case "userMessage":
		return jsonObject{"type", "UserMessage", "id", id, "content", keptInput(v.Get("content"))}
	case "agentMessage":
		return jsonObject{
			"type", "AgentMessage", "id", id, "content",
			[]jsonObject{{"type", "Text", "text", rawOr(v.Get("text"), `""`)}},
			"phase?", snake(v.Get("phase").String()),
		}
	case "reasoning":
		return jsonObject{"type", "Reasoning", "id", id, "summary_text", rawOr(v.Get("summary"), "[]"), "raw_content", rawOr(v.Get("content"), "[]")}
	case "webSearch":
		return jsonObject{"type", "WebSearch", "id", id, "query?", v.Get("query").String(), "action", searchAction(v.Get("action"))}
	case "commandExecution":
		return keptCommand(v)
	case "mcpToolCall":
		return keptMCP(v)
	case "fileChange":
		return keptChange(v, cwd)
	case "dynamicToolCall":
		return jsonObject{
			"type", "DynamicToolCall", "id", id, "tool", v.Get("tool").String(), "arguments?", json.RawMessage(v.Get("arguments").Raw),
			"status", snake(v.Get("status").String()), "content_items?", json.RawMessage(v.Get("contentItems").Raw),
			"success?", json.RawMessage(v.Get("success").Raw),
		}
	case "imageView":
		return jsonObject{"type", "ImageView", "id", id, "path", fileURI(v.Get("path").String())}
	}
	return nil
}

// SearchFromKept writes the item of a web search that the provider ran, which follows its event directly (clients 0.150 to
// 0.169); nil if the database's item is of another kind.
func SearchFromKept(p KeptPlace, item []byte) []byte {
	v := gjson.ParseBytes(item)
	if v.Get("type").String() != "webSearch" || !v.Get("action").IsObject() {
		return nil
	}
	p.Ordinal++
	return newSearch(p.stamp(), &p.Ordinal, v.Get("id").String(), v.Get("action"))
}

// KeptAnswer is the text of an answer in the database, "" if the item is not an answer.
func KeptAnswer(item []byte) string { return gjson.GetBytes(item, "text").String() }
