package clienttest

import (
	"slices"

	"github.com/tidwall/gjson"
)

// fieldDamages break members that every record has.
func fieldDamages() []Damage {
	return []Damage{
		{"session_id_all_other", each(func(l []byte) []byte {
			if !gjson.GetBytes(l, "sessionId").Exists() {
				return l
			}
			return Set(l, "", "sessionId", `"`+otherID+`"`)
		})},
		{"sidechain_one", one(Session.readOut, setField("", "isSidechain", "true"))},
		{"sidechain_all", each(func(l []byte) []byte {
			if !inTree(l) {
				return l
			}
			return Set(l, "", "isSidechain", "true")
		})},
		{"timestamp_missing", each(dropField("", "timestamp"))},
		{"timestamp_bad_one", one(Session.second, setField("", "timestamp", `"yesterday"`))},
		{"type_unknown_one", one(Session.readOut, setField("", "type", `"something_new"`))},
		{"type_missing", one(Session.readOut, dropField("", "type"))},
		{"type_of_a_prompt", one(Session.readCall, setField("", "type", `"user"`))},
		{"type_of_an_answer", one(Session.readOut, setField("", "type", `"assistant"`))},
		{"role_of_an_answer", one(Session.second, setField("message", "role", `"assistant"`))},
		{"unknown_record", insertBehind(Session.readOut, `{"type":"something_new","sessionId":"x"}`)},
		{"no_tool_use_result", each(dropField("", "toolUseResult"))},
	}
}

// orderDamages put records elsewhere.
func orderDamages() []Damage {
	return []Damage{
		{"swapped_call_output", at(Session.readCall, func(s Session, i int) []byte {
			out := slices.Clone(s)
			j := s.readOut()
			out[i], out[j] = out[j], out[i]
			return out.Bytes()
		})},
		{"reversed", func(s Session) []byte {
			out := slices.Clone(s)
			slices.Reverse(out)
			return out.Bytes()
		}},
		{"last_moved_first", at(Session.lastText, func(s Session, i int) []byte {
			return slices.Insert(s.without(i), 0, s[i]).Bytes()
		})},
	}
}
