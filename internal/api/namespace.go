package api

import (
	"slices"

	"github.com/tidwall/gjson"
)

// namespace says whether an item is a call of the tool that the refusal names, without the namespace that another call of it or a search for
// tools has. Where none has one, the call becomes text.
func (l *locator) namespace(content gjson.Result) (Fault, bool) {
	name := content.Get("name").Str
	if !slices.Contains(l.r.IDs, name) || content.Get("type").Str != "function_call" || content.Get("namespace").Str != "" {
		return Fault{}, false
	}
	for i := range l.sent.Items {
		other := gjson.ParseBytes(l.sent.Items[i].Content)
		if space := other.Get("namespace").Str; space != "" && other.Get("name").Str == name {
			return Fault{"namespace", "it lacks the namespace that another call of its tool has", "set", space}, true
		}
		for _, group := range other.Get("tools").Array() {
			for _, tool := range group.Get("tools").Array() {
				if tool.Get("name").Str == name {
					return Fault{"namespace", "it lacks the namespace in which its tool was found", "set", group.Get("name").Str}, true
				}
			}
		}
	}
	return Fault{Path: "type", What: "it names no namespace, and nothing in the session does: it becomes text", Mend: "tell"}, true
}
