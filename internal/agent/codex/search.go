package codex

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// ShowsSearch is the report's name for an event that shows one of the provider's searches, "" if it is not one. The item
// follows directly (measured with 0.137.0 to 0.169.0: 54 searches without an exception).
func ShowsSearch(rec *session.Record) string {
	switch {
	case rec.Type == "event_msg/item_completed" && string(Text(rec, FieldItemType)) == "WebSearch":
		return "item_completed WebSearch"
	case rec.Type == "event_msg" && string(Text(rec, FieldPayloadType)) == "web_search_end":
		return "web_search_end"
	}
	return ""
}

// ScriptSearch says whether an event shows a search that a script made. The model gets its result from the script, and the client
// writes no item of it.
func ScriptSearch(rec *session.Record) bool {
	return ShowsSearch(rec) != "" && strings.HasPrefix(SearchID(rec.Raw), nestedPrefix)
}

// IsSearch says whether a record is the item of such a search.
func IsSearch(rec *session.Record) bool { return rec.Type == "response_item/web_search_call" }

// SearchID is the id of the search that an event shows.
func SearchID(event []byte) string {
	ev := gjson.GetBytes(event, "payload")
	return cmp.Or(ev.Get("item.id").String(), ev.Get("call_id").String())
}

// Searched is what was searched, according to an event or an item: the same text for both.
func Searched(raw []byte) string {
	p := gjson.GetBytes(raw, "payload")
	if item := p.Get("item"); item.Exists() {
		p = item
	}
	return string(searchAction(p.Get("action")))
}

// SearchFrom writes the item of a search again from the event that shows it.
func SearchFrom(event []byte) ([]byte, error) {
	ev := gjson.GetBytes(event, "payload")
	id := SearchID(event)
	if item := ev.Get("item"); item.Exists() {
		ev = item
	}
	action := ev.Get("action")
	if id == "" || !action.IsObject() {
		return nil, fmt.Errorf("this event does not show what was searched")
	}
	return newSearch(StampOf(event), nil, id, action), nil
}
