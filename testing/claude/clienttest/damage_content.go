package clienttest

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"
)

// contentDamages break what messages hold.
func contentDamages() []Damage {
	return []Damage{
		{"empty_text", one(Session.midText, content(`[{"type":"text","text":""}]`))},
		{"blank_text", one(Session.midText, content(`[{"type":"text","text":" \n "}]`))},
		{"empty_text_final", one(Session.endOfTurn, content(`[{"type":"text","text":""}]`))},
		{"empty_text_last", one(Session.lastText, content(`[{"type":"text","text":""}]`))},
		{"empty_user", one(Session.second, content(`""`))},
		{"blank_user", one(Session.second, content(`"  "`))},
		{"empty_user_block", one(Session.second, content(`[{"type":"text","text":""}]`))},
		{"content_list_empty", one(Session.midText, content(`[]`))},
		{"content_null", one(Session.midText, content(`null`))},
		{"content_missing_user", one(Session.second, dropField("message", "content"))},
		{"message_missing", one(Session.midText, dropField("", "message"))},
		{"block_without_type", one(Session.midText, content(`[{"text":"Now the file."}]`))},
		{"block_null", one(Session.midText, content(`[null]`))},
		{"unknown_block", one(Session.midText, content(`[{"type":"text","text":"Now the file."},{"type":"hologram","x":1}]`))},
		{"extra_block_key", one(Session.midText, content(`[{"type":"text","text":"Now the file.","mood":"good"}]`))},
		{"output_empty_text", one(Session.firstOut, setField("message.content.0", "content", `[{"type":"text","text":""}]`))},
		{"output_error_empty", one(Session.firstOut, func(l []byte) []byte {
			return Set(Set(l, "message.content.0", "content", `""`), "message.content.0", "is_error", "true")
		})},
		{"input_string", one(Session.readCall, func(l []byte) []byte {
			in := gjson.GetBytes(l, "message.content.0.input").Raw
			quoted, err := json.Marshal(in)
			if err != nil {
				panic(err)
			}
			return Set(l, "message.content.0", "input", string(quoted))
		})},
		{"input_missing", one(Session.readCall, dropField("message.content.0", "input"))},
		{"tool_name_empty", one(Session.readCall, setField("message.content.0", "name", `""`))},
		{"tool_id_bad", at(Session.readCall, func(s Session, i int) []byte {
			j := s.readOut()
			return s.with(i, Set(s[i], "message.content.0", "id", `"toolu 01/r1"`)).with(j, Set(s[j], "message.content.0", "tool_use_id", `"toolu 01/r1"`)).Bytes()
		})},
		{"dup_tool_id", at(Session.readCall, func(s Session, i int) []byte {
			j, id := s.readOut(), `"`+get(s[s.firstCall()], "message.content.0.id")+`"`
			return s.with(i, Set(s[i], "message.content.0", "id", id)).with(j, Set(s[j], "message.content.0", "tool_use_id", id)).Bytes()
		})},
		{"dup_tool_id_call_only", at(Session.readCall, func(s Session, i int) []byte {
			return s.with(i, Set(s[i], "message.content.0", "id", `"`+get(s[s.firstCall()], "message.content.0.id")+`"`)).Bytes()
		})},
		{"output_twice", at(Session.readOut, func(s Session, i int) []byte {
			again := Set(Set(s[i], "", "uuid", `"`+otherID+`"`), "", "parentUuid", `"`+get(s[i], "uuid")+`"`)
			out := slices.Insert(slices.Clone(s), i+1, again)
			for k := i + 2; k < len(out); k++ {
				if get(out[k], "parentUuid") == get(s[i], "uuid") {
					out[k] = Set(out[k], "", "parentUuid", `"`+otherID+`"`)
				}
			}
			return out.Bytes()
		})},
		{"output_wrong_id", one(Session.readOut, setField("message.content.0", "tool_use_id", `"toolu_01zz"`))},
		{"text_before_output", one(Session.readOut, func(l []byte) []byte {
			return bytes.Replace(l, []byte(`"content":[{`), []byte(`"content":[{"type":"text","text":"see what came"},{`), 1)
		})},
		{"text_between", at(Session.readOut, func(s Session, i int) []byte { return s.between(i, "user").Bytes() })},
		{"late_output", at(Session.readOut, func(s Session, i int) []byte { return s.between(i, "assistant").Bytes() })},
		{"synthetic_tail", at(Session.lastText, func(s Session, i int) []byte {
			return append(slices.Clone(s), synthetic(s[i], get(s[i], "uuid"))).Bytes()
		})},
	}
}
