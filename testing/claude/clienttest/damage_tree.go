package clienttest

import (
	"bytes"
	"fmt"
	"slices"
	"time"
)

// lostDamages take whole records out of the session.
func lostDamages() []Damage {
	return []Damage{
		{"lost_output", lose(Session.readOut)},
		{"lost_output_parallel", lose(Session.firstOut)},
		{"lost_output_parallel_last", lose(func(s Session) int { return s.resultOf(s.nextCall()) })},
		{"lost_output_edit", lose(Session.editOut)},
		{"lost_output_last", func(s Session) []byte {
			i := s.resultOf(s.lastCall())
			if i < 0 {
				return nil
			}
			return s[:i].Bytes()
		}},
		{"lost_call", lose(Session.readCall)},
		{"lost_call_edit", lose(Session.editCall)},
		{"lost_call_bash", lose(Session.lastCall)},
		{"lost_call_parallel", lose(Session.firstCall)},
		{"lost_call_parallel_last", lose(Session.nextCall)},
		{"lost_text_record", lose(Session.midText)},
		{"lost_user", lose(Session.second)},
		{"lost_assistant", lose(Session.endOfTurn)},
		{"lost_first", lose(Session.first)},
		{"lost_pair", func(s Session) []byte {
			if s.readCall() < 0 {
				return nil
			}
			return s.without(s.readCall(), s.readOut()).Bytes()
		}},
		{"lost_last", func(s Session) []byte { return s[:s.lastText()].Bytes() }},
		{"lost_attachment", lose(Session.attachment)},
		{"messages_only", only(func(l []byte) bool { return get(l, "type") == "user" || get(l, "type") == "assistant" })},
		{"no_bookkeeping", only(inTree)},
		{"lost_last_prompt", lose(Session.lastPrompt)},
		{"last_prompt_early_leaf", one(Session.lastPrompt, func(l []byte) []byte { return l })},
		{"last_prompt_dangling", one(Session.lastPrompt, setField("", "leafUuid", `"`+otherID+`"`))},
		{"cut_after_call", func(s Session) []byte { return s[:s.readCall()+1].Bytes() }},
		{"cut_after_first_result", func(s Session) []byte { return s[:s.firstOut()+1].Bytes() }},
	}
}

// treeDamages break which record hangs on which.
func treeDamages() []Damage {
	return []Damage{
		{"dangling_parent", one(Session.nextCall, setField("", "parentUuid", `"`+otherID+`"`))},
		{"dangling_parent_user", one(Session.second, setField("", "parentUuid", `"`+otherID+`"`))},
		{"null_parent_middle", one(Session.second, setField("", "parentUuid", "null"))},
		{"no_parent_key", one(Session.second, dropField("", "parentUuid"))},
		{"parent_cycle", at(Session.second, func(s Session, i int) []byte {
			return s.with(i, Set(s[i], "", "parentUuid", `"`+get(s[s.lastText()], "uuid")+`"`)).Bytes()
		})},
		{"self_parent", one(Session.second, func(l []byte) []byte { return Set(l, "", "parentUuid", `"`+get(l, "uuid")+`"`) })},
		{"uuid_missing", one(Session.readOut, dropField("", "uuid"))},
		{"uuid_not_string", one(Session.readOut, setField("", "uuid", "17"))},
		{"dup_line_user", twice(Session.second)},
		{"dup_line_call", twice(Session.readCall)},
		{"dup_line_output", twice(Session.readOut)},
		{"dup_all_appended", func(s Session) []byte { return append(s.Bytes(), s.Bytes()...) }},
		{"dup_uuid_other", at(Session.second, func(s Session, i int) []byte {
			return s.with(i, Set(s[i], "", "uuid", `"`+get(s[s.midText()], "uuid")+`"`)).Bytes()
		})},
		{"branch_at_end", at(Session.endOfTurn, func(s Session, i int) []byte {
			p, a := branch(s[i], 10*time.Minute, "1")
			return append(slices.Clone(s), p, a).Bytes()
		})},
		{"branch_at_end_old_time", at(Session.endOfTurn, func(s Session, i int) []byte {
			p, a := branch(s[i], -30*time.Second, "2")
			return append(slices.Clone(s), p, a).Bytes()
		})},
		{"branch_in_middle", at(Session.endOfTurn, func(s Session, i int) []byte {
			p, a := branch(s[i], -30*time.Second, "3")
			return slices.Insert(slices.Clone(s), i+1, p, a).Bytes()
		})},
		{"root_at_end", at(Session.endOfTurn, func(s Session, i int) []byte {
			p, a := branch(s[s.lastText()], 10*time.Minute, "4")
			return append(slices.Clone(s), Set(p, "", "parentUuid", "null"), a).Bytes()
		})},
		{"progress_at_end", at(Session.lastText, func(s Session, i int) []byte {
			return append(slices.Clone(s), []byte(fmt.Sprintf(`{"type":"progress","uuid":%q,"parentUuid":%q,"timestamp":%q,"data":{}}`, otherID, get(s[i], "uuid"), get(s[i], "timestamp")))).Bytes()
		})},
		{"progress_between", at(Session.second, func(s Session, i int) []byte {
			p := fmt.Sprintf(`{"type":"progress","isSidechain":false,"uuid":%q,"parentUuid":%q,"timestamp":%q,"version":%q,"data":{"type":"hook_progress"}}`, otherID, get(s[i], "parentUuid"), get(s[i], "timestamp"), get(s[i], "version"))
			out := slices.Insert(slices.Clone(s), i, []byte(p))
			out[i+1] = Set(out[i+1], "", "parentUuid", `"`+otherID+`"`)
			return out.Bytes()
		})},
		{"unknown_between", at(Session.second, func(s Session, i int) []byte {
			p := fmt.Sprintf(`{"type":"something_new","isSidechain":false,"uuid":%q,"parentUuid":%q,"timestamp":%q,"version":%q,"data":{}}`, otherID, get(s[i], "parentUuid"), get(s[i], "timestamp"), get(s[i], "version"))
			out := slices.Insert(slices.Clone(s), i, []byte(p))
			out[i+1] = Set(out[i+1], "", "parentUuid", `"`+otherID+`"`)
			return out.Bytes()
		})},
	}
}

// branch is a prompt and an answer that hang on another record.
func branch(on []byte, shift time.Duration, tag string) (prompt, answer []byte) {
	at, err := time.Parse(time.RFC3339, get(on, "timestamp"))
	if err != nil {
		panic(err)
	}
	stamp := func(d time.Duration) string { return at.Add(shift + d).Format("2006-01-02T15:04:05.000Z") }
	p, a := "aaaaaaaa-0000-4000-8000-00000000000"+tag, "bbbbbbbb-0000-4000-8000-00000000000"+tag
	base := fmt.Sprintf(`"isSidechain":false,"sessionId":%q,"version":%q,"cwd":"/home/dev/demo","userType":"external"`, get(on, "sessionId"), get(on, "version"))
	prompt = []byte(fmt.Sprintf(`{"parentUuid":%q,%s,"type":"user","message":{"role":"user","content":"branch prompt"},"uuid":%q,"timestamp":%q}`, get(on, "uuid"), base, p, stamp(time.Minute)))
	answer = []byte(fmt.Sprintf(`{"parentUuid":%q,%s,"type":"assistant","message":{"id":"msg_branch%s","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"branch answer"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}},"uuid":%q,"timestamp":%q}`, p, base, tag, a, stamp(68*time.Second)))
	return prompt, answer
}

// synthetic is what the client says about an error of the API.
func synthetic(like []byte, parent string) []byte {
	l := Set(bytes.Clone(like), "message", "content", `[{"type":"text","text":"API Error: 500"}]`)
	l = Set(Set(l, "message", "model", `"<synthetic>"`), "message", "id", `"`+otherID+`"`)
	return Set(Set(Set(l, "", "isApiErrorMessage", "true"), "", "uuid", `"`+otherID+`"`), "", "parentUuid", `"`+parent+`"`)
}

// between puts a message between the output at i and its call.
func (s Session) between(i int, role string) Session {
	msg := `{"role":"user","content":"by the way"}`
	if role == "assistant" {
		msg = `{"id":"msg_between","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"By the way."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`
	}
	l := fmt.Sprintf(`{"parentUuid":%q,"isSidechain":false,"sessionId":%q,"version":%q,"cwd":"/home/dev/demo","userType":"external","type":%q,"message":%s,"uuid":%q,"timestamp":%q}`,
		get(s[i], "parentUuid"), get(s[i], "sessionId"), get(s[i], "version"), role, msg, otherID, get(s[i], "timestamp"))
	out := slices.Insert(slices.Clone(s), i, []byte(l))
	out[i+1] = Set(out[i+1], "", "parentUuid", `"`+otherID+`"`)
	return out
}
