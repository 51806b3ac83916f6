package pi

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// needed are the members without which the client does not find what a record says, by its type. What a message of an unknown role
// is, its members tell; see fact.spelled.
var needed = map[string][]string{
	"message": {"message"}, "custom_message": {"content"}, "compaction": {"summary", "firstKeptEntryId"}, "branch_summary": {"summary"}, "context_edit": {"targetId", "replacement"},
}

// neededIn are those of a block, by its type.
var neededIn = map[string][]string{
	"text": {"text"}, "thinking": {"thinking"}, "toolCall": {"id", "name", "arguments"}, "image": {"data", "mimeType"},
}

// Misspelled finds the one bit that flipped in a key, or in the name of a type: the byte's offset in the record, and its value
// before. ok is false if nothing that the record lacks can be found that way.
func (Decoder) Misspelled(rec *session.Record) (at int, was byte, ok bool) {
	if spelled(rec) {
		return 0, 0, false
	}
	var f session.Flips
	root := gjson.ParseBytes(rec.Raw)
	kind := session.TypeIn(&f, root, types)
	f.Keys(root, "id", "timestamp")
	if kind != "session" {
		f.Keys(root, "parentId")
	}
	f.Keys(root, needed[kind]...)
	message := root.Get("message")
	switch f.Keys(message, "role", "content"); message.Get("role").String() {
	case "toolResult":
		f.Keys(message, "toolCallId", "toolName")
	case "assistant":
		f.Keys(message, "stopReason")
	}
	message.Get("content").ForEach(func(_, block gjson.Result) bool {
		f.Keys(block, neededIn[session.TypeIn(&f, block, neededIn)]...)
		return true
	})
	return f.Only()
}

// spelled is a quick check that most records pass.
func spelled(rec *session.Record) bool {
	kind, role, content := text(rec, fieldType), text(rec, fieldRole), content(rec)
	_, sound := types[kind]
	switch {
	case !sound, text(rec, fieldID) == "", text(rec, fieldTime) == "", kind != "session" && len(raw(rec, fieldParent)) == 0:
		return false
	case kind != "message":
		return needed[kind] == nil
	case !content.Exists(), role == "toolResult" && (text(rec, fieldCall) == "" || text(rec, fieldTool) == ""):
		return false
	}
	if !content.IsArray() {
		return true
	}
	content.ForEach(func(_, block gjson.Result) bool {
		if strings.HasPrefix(block.Raw, `{"type":"text","text":`) || strings.HasPrefix(block.Raw, `{"type":"thinking","thinking":`) {
			return true // as the client writes it: what is long need not be read
		}
		wanted, known := neededIn[block.Get("type").String()]
		sound = known && !slices.ContainsFunc(wanted, func(key string) bool { return !block.Get(key).Exists() })
		return sound
	})
	return sound
}
