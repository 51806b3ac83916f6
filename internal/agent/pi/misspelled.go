package pi

import (
	"maps"
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

var recordNames, blockNames = slices.Collect(maps.Keys(types)), slices.Collect(maps.Keys(neededIn))

// Misspelled finds the one bit that flipped in a key, or in the name of a type: the byte's offset in the record, and its value
// before. ok is false if nothing that the record lacks can be found that way.
func (Decoder) Misspelled(rec *session.Record) (at int, was byte, ok bool) {
	if spelled(rec) {
		return 0, 0, false
	}
	var f session.Flips
	root := gjson.ParseBytes(rec.Raw)
	f.Keys(root, "type", "id", "timestamp")
	if rec.Kind != session.Header {
		f.Keys(root, "parentId")
	}
	kind := root.Get("type")
	if _, known := types[kind.String()]; !known {
		f.Value(kind, recordNames...)
	}
	f.Keys(root, needed[kind.String()]...)
	message := root.Get("message")
	switch f.Keys(message, "role", "content"); message.Get("role").String() {
	case "toolResult":
		f.Keys(message, "toolCallId", "toolName")
	case "assistant":
		f.Keys(message, "stopReason")
	}
	message.Get("content").ForEach(func(_, block gjson.Result) bool {
		f.Keys(block, "type")
		kind := block.Get("type")
		wanted, known := neededIn[kind.String()]
		if !known {
			f.Value(kind, blockNames...)
		}
		f.Keys(block, wanted...)
		return true
	})
	return f.Only()
}

// spelled is a quick check that most records pass.
func spelled(rec *session.Record) bool {
	kind := text(rec, fieldType)
	if _, known := types[kind]; !known || text(rec, fieldID) == "" || text(rec, fieldTime) == "" {
		return false
	}
	if kind != "session" && len(raw(rec, fieldParent)) == 0 {
		return false
	}
	if kind != "message" {
		return len(needed[kind]) == 0
	}
	content := gjson.ParseBytes(raw(rec, fieldContent))
	if !content.IsArray() {
		return content.Exists()
	}
	sound := true
	content.ForEach(func(_, block gjson.Result) bool {
		if strings.HasPrefix(block.Raw, `{"type":"text","text":`) || strings.HasPrefix(block.Raw, `{"type":"thinking","thinking":`) {
			return true // as the client writes it: what is long need not be read
		}
		wanted, known := neededIn[block.Get("type").String()]
		sound = known && !slices.ContainsFunc(wanted, func(key string) bool { return !block.Get(key).Exists() })
		return sound
	})
	return sound && (text(rec, fieldRole) != "toolResult" || text(rec, fieldCall) != "" && text(rec, fieldTool) != "")
}
