package codex

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// If a bit flips in a key, or in the name of a type or a role, the record stays valid, but no client finds what it needs of it, and
// skips it without a word (measured with 0.171.0). No client writes a name that differs in one bit from one of these, so what is
// missing was there. Events are left alone: what they show is not sent.

// Misspelled finds the one bit that flipped in a key that a record lacks, or in the name of a type or a role: the byte's offset in the
// record, and its value before. ok is false if nothing is lacking, or what is there instead is not certain.
func (Decoder) Misspelled(rec *session.Record) (at int, was byte, ok bool) {
	if spelled(rec) {
		return 0, 0, false
	}
	var f session.Flips
	root := gjson.ParseBytes(rec.Raw)
	f.Keys(root, "timestamp", "type", "payload")
	kind := root.Get("type")
	if !slices.Contains(conversation, kind.String()) {
		f.Value(kind, conversation...)
	}
	switch payload := root.Get("payload"); {
	case kind.String() == "response_item" && payload.IsObject():
		itemFlips(&f, payload)
	case kind.String() == "session_meta": // what says where a fork's history begins (other members are rebuilt, or nothing depends on them)
		f.Keys(payload, "history_base")
		if base := payload.Get("history_base"); base.Exists() {
			f.Keys(payload, "history_mode")
			f.Keys(base, "thread_id", "end_ordinal_exclusive", "end_byte_offset")
		}
	case kind.String() == "compacted":
		f.Keys(payload, "message", "replacement_history")
		payload.Get("replacement_history").ForEach(func(_, held gjson.Result) bool {
			itemFlips(&f, held)
			return true
		})
	}
	return f.Only()
}

// conversation are the types of lines that hold what is sent.
var conversation = []string{"session_meta", "response_item", "compacted", "turn_context"}

// itemNames are the types of items that are sent.
var itemNames = func() (names []string) {
	for _, t := range typedItems {
		names = append(names, t.kind)
	}
	return names
}()

// spelled is a quick check that nearly all records pass, using fields that are already known.
func spelled(rec *session.Record) bool {
	switch {
	case rec.Kind == session.Header: // neither half of "history_base" is there
		return !bytes.Contains(rec.Raw, []byte(`"history_b`)) && !bytes.Contains(rec.Raw, []byte(`ase":`))
	case rec.Type == "" || rec.Type == "response_item":
		return string(Literal(rec, FieldType)) == "event_msg"
	case !strings.HasPrefix(rec.Type, "response_item/"):
		return rec.Type != "compacted"
	case rec.Type == "response_item/function_call" && len(Field(rec, FieldNamespace)) == 0 && halfNamespace(rec):
		return false
	case rec.Type == "response_item/web_search_call": // one whose kind of search nobody knows is read, and sent without what it says
		return false
	case rec.Type == "response_item/reasoning" && len(Field(rec, FieldEncrypted)) == 0: // what is sealed may be there under another name
		return false
	case rec.Type == "response_item/message" && !slices.Contains(roles, string(rec.Role)), strings.HasSuffix(rec.Type, "_output") && len(rec.CallID) == 0:
		return false
	}
	return rec.Sound || Misfit(rec) == ""
}

// halfNamespace says whether a call holds one half of the key "namespace", which it need not have. Clients write it behind the name.
func halfNamespace(rec *session.Record) bool {
	name, arguments := rec.Spans[FieldName], rec.Spans[FieldArguments]
	if name.End <= arguments.Start && string(rec.Raw[name.End:arguments.Start]) == `,"arguments":` {
		return false
	}
	return bytes.Contains(rec.Raw, []byte(`pace":`)) || bytes.Contains(rec.Raw, []byte(`"names`))
}

// itemFlips checks an item's members, of which the content's parts are one.
func itemFlips(f *session.Flips, payload gjson.Result) {
	f.Keys(payload, "type")
	kind := payload.Get("type")
	if !slices.Contains(itemNames, kind.String()) {
		f.Value(kind, itemNames...)
	}
	for _, m := range membersOf(kind.String()) {
		f.Keys(payload, m.name)
		partFlips(f, payload.Get(m.name), m.want)
	}
	actionFlips(f, payload.Get("action"))
	if role := payload.Get("role"); kind.String() == "message" && !slices.Contains(roles, role.String()) {
		f.Value(role, roles...)
	}
}

// actions are the kinds of what a shell call or a web search does, and actionMembers what such kinds have.
var (
	actions       = []string{"exec", "search", "open_page", "find_in_page"}
	actionMembers = []string{"type", "command", "query", "queries", "url", "pattern"}
)

// actionFlips checks what a shell call or a web search does.
func actionFlips(f *session.Flips, action gjson.Result) {
	f.Keys(action, actionMembers...)
	if kind := action.Get("type"); !slices.Contains(actions, kind.String()) {
		f.Value(kind, actions...)
	}
}

// partFlips checks the parts of a list.
func partFlips(f *session.Flips, parts gjson.Result, of want) {
	if int(of) >= len(partText) || !parts.IsArray() {
		return
	}
	known := slices.Collect(maps.Keys(partText[of]))
	parts.ForEach(func(_, part gjson.Result) bool {
		f.Keys(part, "type")
		kind := part.Get("type")
		switch member, is := partText[of][kind.String()]; {
		case !is:
			f.Value(kind, known...)
		case member != "":
			f.Keys(part, member)
		case !part.Get("file_id").Exists():
			f.Keys(part, "image_url")
		}
		return true
	})
}
