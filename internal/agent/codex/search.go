package codex

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// searchPrefix is how the ids of the provider's own searches begin.
const searchPrefix = "ws_"

// ShowsSearch is the report's name for an event that shows one of the provider's searches, "" if it is not one. The item
// follows directly (measured with 0.137.0 to 0.169.0: 54 searches without an exception). A search that the client makes has the id of
// the call that asked for it, of the model's or of a script's, and the model gets its result from that call: no item is written of it.
func ShowsSearch(rec *session.Record) string {
	name := ""
	switch {
	case rec.Type == "event_msg/item_completed" && string(Text(rec, FieldItemType)) == "WebSearch":
		name = "item_completed WebSearch"
	case rec.Type == "event_msg" && string(Text(rec, FieldPayloadType)) == "web_search_end":
		name = "web_search_end"
	}
	if name != "" && !strings.HasPrefix(SearchID(rec.Raw), searchPrefix) {
		return ""
	}
	return name
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
