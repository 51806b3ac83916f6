package codex

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Decoder reads rollouts of every era: enveloped lines (0.32 and later), with or without ordinals.
type Decoder struct{}

// Shape are the fields that Decode needs.
func (Decoder) Shape() *jsonl.Shape { return shape }

// Paths is the number of fields in Shape.
func (Decoder) Paths() int { return fieldCount }

// Starts is how every version since 0.32 begins a record: the client's structs put the timestamp first.
func (Decoder) Starts() [][]byte { return starts }

var starts = [][]byte{[]byte(`{"timestamp"`), []byte(`{ "timestamp"`)}

// Envelope says whether the object has a record's members: a type, a payload and a timestamp, in any order. Bare records
// (before 0.32) have none of these.
func (Decoder) Envelope(rec *session.Record) bool {
	return IsString(rec, FieldType) && len(Field(rec, FieldPayload)) > 0 && len(Field(rec, FieldTimestamp)) > 0
}

// Decode fills rec from its fields. A record whose type is unknown is Other: a newer client may have written it.
func (Decoder) Decode(rec *session.Record) {
	rec.Kind, rec.Family, rec.Type = session.Other, session.NoFamily, ""
	rec.ID, rec.CallID, rec.TurnID, rec.Role = nil, nil, nil, nil
	rec.Model, rec.Boundary, rec.Answer, rec.Note, rec.Sound = false, false, false, false, false
	rec.Said, rec.SaidSum, rec.Sum = nothingSaid, 0, 0
	rec.Ordinal = readOrdinal(Field(rec, FieldOrdinal))
	payload := Field(rec, FieldPayload)
	if len(payload) == 0 || payload[0] != '{' || !IsString(rec, FieldTimestamp) {
		return
	}
	if decode := lineTypes.of(rec, FieldType); decode != nil {
		(*decode)(rec)
	}
}

// HandedDown says whether a client copies a record to the file of a sub-agent that inherits the turn: events, and what the client keeps
// of its own state, it does not.
func HandedDown(rec *session.Record) bool {
	switch rec.Kind {
	case session.TurnStart, session.TurnEnd, session.Context, session.Compaction, session.Rollback:
		return true
	}
	return strings.HasPrefix(rec.Type, "response_item/")
}

// lineTypes is what each top-level type means, up to 0.169. A type that only gets a name here holds no history of the model.
var lineTypes = namesOf(map[string]func(*session.Record){
	"session_meta": func(rec *session.Record) {
		rec.Kind, rec.Type = session.Header, "session_meta"
		rec.ID = Text(rec, FieldID)
	},
	"response_item": func(rec *session.Record) {
		decodeItem(rec)
		rec.Sound = rec.Model && sound(rec)
	},
	"event_msg": decodeEvent,
	"compacted": func(rec *session.Record) {
		rec.Kind, rec.Type = session.Compaction, "compacted"
	},
	"turn_context": func(rec *session.Record) {
		rec.Kind, rec.Type = session.Context, "turn_context"
		rec.TurnID = Text(rec, FieldTurnID)
	},
	"inter_agent_communication": func(rec *session.Record) {
		rec.Kind, rec.Type = session.Message, "inter_agent_communication"
		rec.Model, rec.Boundary = true, true
	},
	"inter_agent_communication_metadata": onlyNamed("inter_agent_communication_metadata"),
	"dynamic_tools_updated":              onlyNamed("dynamic_tools_updated"),
	"world_state":                        onlyNamed("world_state"),
	"security_risk_score":                onlyNamed("security_risk_score"),
	"token_usage_record":                 onlyNamed("token_usage_record"),
	"retained_context":                   onlyNamed("retained_context"),
	"realtime_item":                      onlyNamed("realtime_item"),
})

func onlyNamed(kind string) func(*session.Record) {
	return func(rec *session.Record) { rec.Type = kind }
}

// neverTooLarge is how many digits any number of 64 bits with a sign can have.
const neverTooLarge = 18

func readOrdinal(raw []byte) session.Ordinal {
	if len(raw) == 0 || raw[0] == 'n' {
		return session.Ordinal{}
	}
	v := int64(0)
	for i, c := range raw {
		digit := c - '0'
		if digit > 9 || i >= neverTooLarge && v > (math.MaxInt64-int64(digit))/10 {
			return session.Ordinal{State: session.BadOrdinal}
		}
		v = 10*v + int64(digit)
	}
	return session.Ordinal{State: session.GoodOrdinal, Value: v}
}

type itemMeaning struct {
	name   string
	kind   session.Kind
	family session.Family
	model  bool
	answer bool
	says   int // the field that other records repeat
}

// itemKinds is what each payload type of a response_item means (source: the client's ResponseItem up to 0.169). The client
// reads any other type as "other", and keeps it out of the history.
var itemKinds = namesOf(map[string]itemMeaning{
	"message":                 {"response_item/message", session.Message, session.NoFamily, true, false, FieldFirstText},
	"agent_message":           {"response_item/agent_message", session.Message, session.NoFamily, true, false, nothingSaid},
	"reasoning":               {"response_item/reasoning", session.Message, session.NoFamily, true, false, FieldEncrypted},
	"function_call":           {"response_item/function_call", session.Call, session.Function, true, true, FieldArguments},
	"local_shell_call":        {"response_item/local_shell_call", session.Call, session.Function, true, true, nothingSaid},
	"custom_tool_call":        {"response_item/custom_tool_call", session.Call, session.Custom, true, true, FieldInput},
	"tool_search_call":        {"response_item/tool_search_call", session.Call, session.Search, true, true, FieldArguments},
	"function_call_output":    {"response_item/function_call_output", session.Output, session.Function, true, false, FieldOutput},
	"custom_tool_call_output": {"response_item/custom_tool_call_output", session.Output, session.Custom, true, false, FieldOutput},
	"tool_search_output":      {"response_item/tool_search_output", session.Output, session.Search, true, false, FieldOutput},
	"web_search_call":         {"response_item/web_search_call", session.Message, session.NoFamily, true, true, nothingSaid},
	"image_generation_call":   {"response_item/image_generation_call", session.Message, session.NoFamily, true, true, nothingSaid},
	"compaction":              {"response_item/compaction", session.Message, session.NoFamily, true, false, FieldEncrypted},
	"compaction_summary":      {"response_item/compaction_summary", session.Message, session.NoFamily, true, false, FieldEncrypted},
	"context_compaction":      {"response_item/context_compaction", session.Message, session.NoFamily, true, false, FieldEncrypted},
	"configuration_update":    {"response_item/configuration_update", session.Message, session.NoFamily, true, false, nothingSaid},
	"additional_tools":        {"response_item/additional_tools", session.Other, session.NoFamily, false, false, nothingSaid},
	"ghost_snapshot":          {"response_item/ghost_snapshot", session.Other, session.NoFamily, false, false, nothingSaid},
})

func decodeItem(rec *session.Record) {
	m := itemKinds.of(rec, FieldPayloadType)
	if m == nil {
		rec.Type = "response_item"
		return
	}
	rec.Kind, rec.Family, rec.Type, rec.Model, rec.Answer = m.kind, m.family, m.name, m.model, m.answer
	rec.ID = Text(rec, FieldID)
	rec.CallID = Text(rec, FieldCallID)
	say(rec, m.says)
	switch m.kind {
	case session.Message:
		PayloadSum(rec)
		if m.name != "response_item/message" {
			rec.Boundary = m.name == "response_item/agent_message"
			return
		}
		rec.Role = Text(rec, FieldRole)
		switch string(rec.Role) {
		case "assistant":
			rec.Answer = true
		case "user":
			rec.Boundary = !contextual(FirstText(rec))
		case "system":
			rec.Model = false
		}
	case session.Call, session.Output:
		// A call without a call_id, or run by the server, has no separate output; such an output has no call.
		if len(rec.CallID) == 0 || string(Text(rec, FieldExecution)) == "server" {
			rec.Kind, rec.Family = session.Message, session.NoFamily
		}
		rec.Note = rec.Kind == session.Output && isNote(rec)
	}
}

// contextMarks are the beginnings of messages with role user that the client itself wrote: they are not prompts. (Source: the
// client's contextual user fragments; all but the first end with a mark of the same name.)
var contextMarks = [][]byte{
	[]byte("# AGENTS.md instructions"), []byte("<environment_context>"), []byte("<skill>"), []byte("<user_shell_command>"),
	[]byte("<turn_aborted>"), []byte("<subagent_notification>"), []byte("<recommended_plugins>"), []byte("<goal_context>"),
	[]byte("<external_"), []byte("<codex_internal_context>"), []byte("<user_instructions>"), []byte("<hook_prompt"),
}

// contextual says whether the first text of a message's content is one of the client's own.
func contextual(text []byte) bool {
	text = bytes.TrimLeft(text, " \"")
	return slices.ContainsFunc(contextMarks, func(mark []byte) bool { return bytes.HasPrefix(text, mark) })
}

type eventMeaning struct {
	name string
	kind session.Kind
}

// eventKinds is what each payload type of an event_msg means to the rules. Events never reach the model.
var eventKinds = namesOf(map[string]eventMeaning{
	"task_started":                {"event_msg/task_started", session.TurnStart},
	"turn_started":                {"event_msg/turn_started", session.TurnStart},
	"task_complete":               {"event_msg/task_complete", session.TurnEnd},
	"turn_complete":               {"event_msg/turn_complete", session.TurnEnd},
	"turn_aborted":                {"event_msg/turn_aborted", session.TurnEnd},
	"thread_rolled_back":          {"event_msg/thread_rolled_back", session.Rollback},
	"item_completed":              {"event_msg/item_completed", session.Evidence},
	"user_message":                {"event_msg/user_message", session.Evidence},
	"agent_message":               {"event_msg/agent_message", session.Evidence},
	"exec_command_end":            {"event_msg/exec_command_end", session.Evidence},
	"mcp_tool_call_end":           {"event_msg/mcp_tool_call_end", session.Evidence},
	"patch_apply_end":             {"event_msg/patch_apply_end", session.Evidence},
	"dynamic_tool_call_response":  {"event_msg/dynamic_tool_call_response", session.Evidence},
	"dynamic_tool_call_request":   {"event_msg/dynamic_tool_call_request", session.Other},
	"error":                       {"event_msg/error", session.Other},
	"token_count":                 {"event_msg/token_count", session.Other},
	"thread_settings_applied":     {"event_msg/thread_settings_applied", session.Other},
	"thread_goal_updated":         {"event_msg/thread_goal_updated", session.Other},
	"agent_reasoning":             {"event_msg/agent_reasoning", session.Evidence},
	"agent_reasoning_raw_content": {"event_msg/agent_reasoning_raw_content", session.Other},
	"context_compacted":           {"event_msg/context_compacted", session.Other},
})

func decodeEvent(rec *session.Record) {
	m := eventKinds.of(rec, FieldPayloadType)
	if m == nil {
		rec.Type = "event_msg"
		return
	}
	rec.Kind, rec.Type = m.kind, m.name
	rec.TurnID = Text(rec, FieldTurnID)
	switch m.kind {
	case session.TurnEnd:
		say(rec, FieldLastMessage)
	case session.Evidence:
		rec.CallID = Text(rec, FieldCallID)
		if rec.Type == "event_msg/item_completed" {
			rec.CallID = Text(rec, FieldItemID)
		}
		say(rec, toldField(rec))
	}
}
