package api

import (
	"slices"

	"github.com/tidwall/gjson"
)

// namespace says whether an item is a call of the tool that the refusal names, without the namespace that another call of it or a search for
// tools has. Where none has one, or tools of that name stand in several, the call becomes text.
func (l *locator) namespace(content gjson.Result) (Fault, bool) {
	name := content.Get("name").Str
	if !slices.Contains(l.r.IDs, name) || content.Get("type").Str != "function_call" || content.Get("namespace").Str != "" {
		return Fault{}, false
	}
	spaces := map[string]string{} // what has told each
	for i := range l.sent.Items {
		other := gjson.ParseBytes(l.sent.Items[i].Content)
		if space := other.Get("namespace").Str; space != "" && other.Get("name").Str == name {
			spaces[space] = "it lacks the namespace that another call of its tool has"
		}
		for _, group := range other.Get("tools").Array() {
			if slices.ContainsFunc(group.Get("tools").Array(), func(tool gjson.Result) bool { return tool.Get("name").Str == name }) {
				spaces[group.Get("name").Str] = "it lacks the namespace in which its tool was found"
			}
		}
	}
	if len(spaces) == 1 {
		for space, what := range spaces {
			return Fault{"namespace", what, "set", space}, true
		}
	}
	return Fault{Path: "type", What: "it names no namespace, and nothing in the session says which: it becomes text", Mend: "tell"}, true
}
