package format

import (
	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// If a bit flips in a key, the record stays valid, but no client finds the member: the record seems to lack it. So what a
// record lacks is looked for under a key that differs from the right one in a single bit. No client writes such a key.

// needed are the members that clients require in a record of the conversation, by its type, and what they look for in records
// of other types.
var needed = map[string][]string{
	"user":        {"uuid", "parentUuid", "message", "timestamp"},
	"assistant":   {"uuid", "parentUuid", "message", "timestamp"},
	"system":      {"uuid", "parentUuid", "timestamp", "subtype"},
	"attachment":  {"uuid", "parentUuid", "timestamp"},
	"last-prompt": {"leafUuid", "lastPrompt"},
}

// neededIn are the members of content blocks, by their types.
var neededIn = map[string][]string{
	"text":              {"text"},
	"tool_use":          {"id", "name", "input"},
	"tool_result":       {"tool_use_id", "content"},
	"thinking":          {"thinking", "signature"},
	"redacted_thinking": {"data"},
	"image":             {"source"},
	"document":          {"source"},
}

// Misspelled finds the one bit that flipped in a key, or in the name of a type: the byte's offset in the record, and its value
// before. ok is false if nothing that the record lacks can be found that way.
func (Decoder) Misspelled(rec *session.Record) (at int, was byte, ok bool) {
	if lacksNothing(rec) {
		return 0, 0, false
	}
	var f session.Flips
	root := gjson.ParseBytes(rec.Raw)
	typ := session.TypeIn(&f, root, needed)
	f.Keys(root, needed[typ]...)
	subtype := root.Get("subtype")
	if subtype.Str == compactBoundary {
		f.Keys(root, "compactMetadata", "logicalParentUuid")
	}
	if typ == "system" {
		f.Value(subtype, compactBoundary)
	}
	if message := root.Get("message"); typ == "user" || typ == "assistant" {
		f.Keys(message, "content")
		message.Get("content").ForEach(func(_, block gjson.Result) bool {
			f.Keys(block, neededIn[session.TypeIn(&f, block, neededIn)]...)
			return block.IsObject()
		})
	}
	return f.Only()
}

// lacksNothing is a quick check that nearly all records pass, using fields that are already known.
func lacksNothing(rec *session.Record) bool {
	has := func(fields ...int) bool {
		for _, f := range fields {
			if rec.Spans[f].End == 0 {
				return false
			}
		}
		return true
	}
	switch string(Text(rec, FieldType)) {
	case "user", "assistant":
		if !has(FieldUUID, FieldParent, FieldTimestamp, FieldContent) {
			return false
		}
		if Field(rec, FieldContent)[0] != '[' || !has(FieldBlock) {
			return true
		}
		switch string(Text(rec, FieldBlockType)) {
		case "text":
			return has(FieldBlockText)
		case "tool_use":
			return has(FieldBlockID, FieldBlockName, FieldBlockInput)
		case "tool_result":
			return has(FieldResultID, FieldBlockContent)
		case "thinking":
			return has(FieldBlockThinking, FieldBlockSignature)
		case "redacted_thinking", "image", "document":
			return true
		}
		return false
	case "system":
		return has(FieldUUID, FieldParent, FieldTimestamp, FieldSubtype) && (string(Text(rec, FieldSubtype)) != compactBoundary || has(FieldCompact, FieldLogicalParent))
	case "attachment":
		return has(FieldUUID, FieldParent, FieldTimestamp)
	case "last-prompt":
		return has(FieldLeaf, FieldLastPrompt)
	case "":
		return !has(FieldParent)
	}
	for name := range needed {
		if session.FlippedAt(string(Text(rec, FieldType)), name) >= 0 {
			return false
		}
	}
	return true
}

const compactBoundary = "compact_boundary"
