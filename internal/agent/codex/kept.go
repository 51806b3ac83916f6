package codex

import (
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
	return record(p.stamp(), &p.Ordinal, "event_msg", struct {
		Type      string `json:"type"`
		Thread    string `json:"thread_id"`
		Turn      string `json:"turn_id"`
		Item      any    `json:"item"`
		Started   int64  `json:"started_at_ms"`
		Completed int64  `json:"completed_at_ms"`
	}{"item_completed", p.Thread, p.Turn, completed, ms, ms})
}

// completedItem is the item in the rollout's form; nil for a kind without history.
func completedItem(v gjson.Result, cwd string) any {
	switch v.Get("type").String() {
	case "userMessage":
		return keptPrompt(v)
	case "agentMessage":
		return keptMessage(v)
	case "reasoning":
		return keptReasoning(v)
	case "webSearch":
		return keptSearch{Type: "WebSearch", ID: v.Get("id").String(), Query: v.Get("query").String(), Action: searchAction(v.Get("action"))}
	case "commandExecution":
		return keptCommand(v)
	case "mcpToolCall":
		return keptMCP(v)
	case "fileChange":
		return keptChange(v, cwd)
	case "dynamicToolCall":
		return keptTool(v)
	case "imageView":
		return struct {
			Type string `json:"type"`
			ID   string `json:"id"`
			Path string `json:"path"`
		}{"ImageView", v.Get("id").String(), fileURI(v.Get("path").String())}
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
	return record(p.stamp(), &p.Ordinal, "response_item",
		keptSearch{Type: "web_search_call", ID: v.Get("id").String(), Status: "completed", Action: searchAction(v.Get("action"))})
}

// KeptAnswer is the text of an answer in the database, "" if the item is not an answer.
func KeptAnswer(item []byte) string { return gjson.GetBytes(item, "text").String() }
