package clienttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Session is the lines of a session file, to be damaged.
type Session [][]byte

// Lines cuts a file into its lines.
func Lines(data []byte) Session {
	var s Session
	for _, l := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		s = append(s, bytes.Clone(l))
	}
	return s
}

// Bytes is the file.
func (s Session) Bytes() []byte {
	if len(s) == 0 {
		return nil
	}
	return append(bytes.Join(s, []byte("\n")), '\n')
}

// Damage breaks a session in one way. It returns the file's bytes, nil if the session has nothing to break so.
type Damage struct {
	Name string
	Do   func(s Session) []byte
}

func get(line []byte, path string) string { return gjson.GetBytes(line, path).String() }

// Set gives a member of a line a JSON value.
func Set(line []byte, parent, key, value string) []byte {
	return session.Splice(line, session.SetMember(line, parent, key, []byte(value)))
}

func drop(line []byte, parent, key string) []byte {
	return session.Splice(line, session.DropMember(line, parent, key))
}

func inTree(line []byte) bool {
	switch get(line, "type") {
	case "user", "assistant", "system", "attachment":
		return get(line, "uuid") != ""
	}
	return false
}

// Retime lays the times of a session anew, as in life: a prompt comes a minute after what stands before it, an answer
// eight seconds, an output a fifth of a second, and what belongs to one answer milliseconds.
func Retime(s Session) Session {
	at := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	last := ""
	out := make(Session, len(s))
	for i, l := range s {
		out[i] = l
		switch {
		case !inTree(l):
		case get(l, "type") == "assistant" && get(l, "message.id") == last && last != "":
			at = at.Add(4 * time.Millisecond)
		case get(l, "type") == "assistant":
			at = at.Add(8 * time.Second)
		case get(l, "message.content.0.type") == "tool_result":
			at = at.Add(200 * time.Millisecond)
		case get(l, "type") == "user":
			at = at.Add(time.Minute)
		default:
			at = at.Add(time.Millisecond)
		}
		if inTree(l) {
			last = get(l, "message.id")
		}
		if gjson.GetBytes(l, "timestamp").Exists() {
			out[i] = Set(l, "", "timestamp", `"`+at.Format("2006-01-02T15:04:05.000Z")+`"`)
		}
	}
	return out
}

// find is the n-th line (from 0, from the end if negative) that a test accepts, -1 if there is none.
func (s Session) find(n int, ok func(l []byte) bool) int {
	var hits []int
	for i, l := range s {
		if !gjson.GetBytes(l, "isSidechain").Bool() && ok(l) {
			hits = append(hits, i)
		}
	}
	if n < 0 {
		n += len(hits)
	}
	if n < 0 || n >= len(hits) {
		return -1
	}
	return hits[n]
}

func isPrompt(l []byte) bool {
	return get(l, "type") == "user" && !isResult(l) && !gjson.GetBytes(l, "isMeta").Bool() && !gjson.GetBytes(l, "isCompactSummary").Bool()
}
func isCall(l []byte) bool { return get(l, "message.content.0.type") == "tool_use" }
func isResult(l []byte) bool {
	return get(l, "message.content.0.type") == "tool_result"
}

func isText(l []byte) bool {
	return get(l, "type") == "assistant" && get(l, "message.content.0.type") == "text"
}

func isTool(name string) func([]byte) bool {
	return func(l []byte) bool { return isCall(l) && get(l, "message.content.0.name") == name }
}

// resultOf is the line with the output of the call at i.
func (s Session) resultOf(i int) int {
	if i < 0 {
		return -1
	}
	id := get(s[i], "message.content.0.id")
	return s.find(0, func(l []byte) bool { return get(l, "message.content.0.tool_use_id") == id })
}

func (s Session) without(at ...int) Session {
	var out Session
	for i, l := range s {
		if !slices.Contains(at, i) {
			out = append(out, l)
		}
	}
	return out
}

func (s Session) with(i int, l []byte) Session {
	out := slices.Clone(s)
	out[i] = l
	return out
}

// The places that damages are done to: the read in the first turn, its output, the second prompt and so on.
func (s Session) readCall() int { return s.find(0, isTool("Read")) }
func (s Session) readOut() int  { return s.resultOf(s.readCall()) }
func (s Session) second() int   { return s.find(1, isPrompt) }
func (s Session) midText() int  { return s.find(1, isText) }
func (s Session) lastText() int { return s.find(-1, isText) }
func (s Session) endOfTurn() int {
	at := s.second()
	last := -1
	for i := 0; i < at; i++ {
		if isText(s[i]) {
			last = i
		}
	}
	return last
}

// one does something to one line.
func one(place func(Session) int, do func(l []byte) []byte) func(Session) []byte {
	return func(s Session) []byte {
		i := place(s)
		if i < 0 {
			return nil
		}
		l := do(bytes.Clone(s[i]))
		if l == nil {
			return s.without(i).Bytes()
		}
		return s.with(i, l).Bytes()
	}
}

func lose(place func(Session) int) func(Session) []byte {
	return one(place, func([]byte) []byte { return nil })
}

func setField(parent, key, value string) func([]byte) []byte {
	return func(l []byte) []byte { return Set(l, parent, key, value) }
}

func content(value string) func([]byte) []byte { return setField("message", "content", value) }

// insertBehind puts a line behind the place.
func insertBehind(place func(Session) int, line string) func(Session) []byte {
	return func(s Session) []byte {
		i := place(s)
		if i < 0 {
			return nil
		}
		return slices.Insert(slices.Clone(s), i+1, []byte(line)).Bytes()
	}
}

const otherID = "99999999-9999-4999-8999-999999999999"

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

func half(l []byte) []byte { return l[:len(l)/2] }

// Damages are the ways of claude-behaviour's matrix: each breaks a clean session in one way.
func Damages() []Damage {
	readOut, readCall, second, midText := Session.readOut, Session.readCall, Session.second, Session.midText
	firstCall := func(s Session) int { return s.find(0, isCall) }
	firstOut := func(s Session) int { return s.resultOf(s.find(0, isCall)) }
	lastCall := func(s Session) int { return s.find(-1, isCall) }
	editCall := func(s Session) int { return s.find(0, isTool("Edit")) }
	editOut := func(s Session) int { return s.resultOf(s.find(0, isTool("Edit"))) }
	first := func(s Session) int { return s.find(0, isPrompt) }
	attachment := func(s Session) int { return s.find(2, func(l []byte) bool { return get(l, "type") == "attachment" }) }
	lastPrompt := func(s Session) int { return s.find(-1, func(l []byte) bool { return get(l, "type") == "last-prompt" }) }
	raw := func(place func(Session) int, do func(s Session, i int) []byte) func(Session) []byte {
		return func(s Session) []byte {
			i := place(s)
			if i < 0 {
				return nil
			}
			return do(s, i)
		}
	}
	replaceText := func(old, new string) func([]byte) []byte {
		return func(l []byte) []byte {
			at := bytes.Index(l, []byte(`"content":`))
			return append(bytes.Clone(l[:at]), bytes.Replace(l[at:], []byte(old), []byte(new), 1)...)
		}
	}
	list := []Damage{
		{"lost_output", lose(readOut)},
		{"lost_output_parallel", lose(firstOut)},
		{"lost_output_parallel_last", lose(func(s Session) int { return s.resultOf(s.find(1, isCall)) })},
		{"lost_output_edit", lose(editOut)},
		{"lost_output_last", func(s Session) []byte {
			i := s.resultOf(lastCall(s))
			if i < 0 {
				return nil
			}
			return s[:i].Bytes()
		}},
		{"lost_call", lose(readCall)},
		{"lost_call_edit", lose(editCall)},
		{"lost_call_bash", lose(lastCall)},
		{"lost_call_parallel", lose(firstCall)},
		{"lost_call_parallel_last", lose(func(s Session) int { return s.find(1, isCall) })},
		{"lost_text_record", lose(midText)},
		{"lost_user", lose(second)},
		{"lost_assistant", lose(Session.endOfTurn)},
		{"lost_first", lose(first)},
		{"lost_pair", func(s Session) []byte {
			if s.readCall() < 0 {
				return nil
			}
			return s.without(s.readCall(), s.readOut()).Bytes()
		}},
		{"lost_last", func(s Session) []byte { return s[:s.lastText()].Bytes() }},
		{"lost_attachment", lose(attachment)},
		{"messages_only", func(s Session) []byte {
			var out Session
			for _, l := range s {
				if t := get(l, "type"); t == "user" || t == "assistant" {
					out = append(out, l)
				}
			}
			return out.Bytes()
		}},
		{"no_bookkeeping", func(s Session) []byte {
			var out Session
			for _, l := range s {
				if inTree(l) {
					out = append(out, l)
				}
			}
			return out.Bytes()
		}},
		{"lost_last_prompt", lose(lastPrompt)},
		{"last_prompt_early_leaf", one(lastPrompt, func(l []byte) []byte { return l })},
		{"last_prompt_dangling", one(lastPrompt, setField("", "leafUuid", `"`+otherID+`"`))},
		{"cut_after_call", func(s Session) []byte { return s[:s.readCall()+1].Bytes() }},
		{"cut_after_first_result", func(s Session) []byte { return s[:firstOut(s)+1].Bytes() }},

		{"dangling_parent", one(func(s Session) int { return s.find(1, isCall) }, setField("", "parentUuid", `"`+otherID+`"`))},
		{"dangling_parent_user", one(second, setField("", "parentUuid", `"`+otherID+`"`))},
		{"null_parent_middle", one(second, setField("", "parentUuid", "null"))},
		{"no_parent_key", one(second, func(l []byte) []byte { return drop(l, "", "parentUuid") })},
		{"parent_cycle", raw(second, func(s Session, i int) []byte {
			return s.with(i, Set(s[i], "", "parentUuid", `"`+get(s[s.lastText()], "uuid")+`"`)).Bytes()
		})},
		{"self_parent", one(second, func(l []byte) []byte { return Set(l, "", "parentUuid", `"`+get(l, "uuid")+`"`) })},
		{"uuid_missing", one(readOut, func(l []byte) []byte { return drop(l, "", "uuid") })},
		{"uuid_not_string", one(readOut, setField("", "uuid", "17"))},
		{"dup_line_user", raw(second, func(s Session, i int) []byte { return slices.Insert(slices.Clone(s), i+1, s[i]).Bytes() })},
		{"dup_line_call", raw(readCall, func(s Session, i int) []byte { return slices.Insert(slices.Clone(s), i+1, s[i]).Bytes() })},
		{"dup_line_output", raw(readOut, func(s Session, i int) []byte { return slices.Insert(slices.Clone(s), i+1, s[i]).Bytes() })},
		{"dup_all_appended", func(s Session) []byte { return append(s.Bytes(), s.Bytes()...) }},
		{"dup_uuid_other", raw(second, func(s Session, i int) []byte {
			return s.with(i, Set(s[i], "", "uuid", `"`+get(s[s.midText()], "uuid")+`"`)).Bytes()
		})},
		{"branch_at_end", raw(Session.endOfTurn, func(s Session, i int) []byte {
			p, a := branch(s[i], 10*time.Minute, "1")
			return append(slices.Clone(s), p, a).Bytes()
		})},
		{"branch_at_end_old_time", raw(Session.endOfTurn, func(s Session, i int) []byte {
			p, a := branch(s[i], -30*time.Second, "2")
			return append(slices.Clone(s), p, a).Bytes()
		})},
		{"branch_in_middle", raw(Session.endOfTurn, func(s Session, i int) []byte {
			p, a := branch(s[i], -30*time.Second, "3")
			return slices.Insert(slices.Clone(s), i+1, p, a).Bytes()
		})},
		{"root_at_end", raw(Session.endOfTurn, func(s Session, i int) []byte {
			p, a := branch(s[s.lastText()], 10*time.Minute, "4")
			return append(slices.Clone(s), Set(p, "", "parentUuid", "null"), a).Bytes()
		})},
		{"progress_at_end", raw(Session.lastText, func(s Session, i int) []byte {
			return append(slices.Clone(s), []byte(fmt.Sprintf(`{"type":"progress","uuid":%q,"parentUuid":%q,"timestamp":%q,"data":{}}`, otherID, get(s[i], "uuid"), get(s[i], "timestamp")))).Bytes()
		})},
		{"progress_between", raw(second, func(s Session, i int) []byte {
			p := fmt.Sprintf(`{"type":"progress","isSidechain":false,"uuid":%q,"parentUuid":%q,"timestamp":%q,"version":%q,"data":{"type":"hook_progress"}}`, otherID, get(s[i], "parentUuid"), get(s[i], "timestamp"), get(s[i], "version"))
			out := slices.Insert(slices.Clone(s), i, []byte(p))
			out[i+1] = Set(out[i+1], "", "parentUuid", `"`+otherID+`"`)
			return out.Bytes()
		})},
		{"unknown_between", raw(second, func(s Session, i int) []byte {
			p := fmt.Sprintf(`{"type":"something_new","isSidechain":false,"uuid":%q,"parentUuid":%q,"timestamp":%q,"version":%q,"data":{}}`, otherID, get(s[i], "parentUuid"), get(s[i], "timestamp"), get(s[i], "version"))
			out := slices.Insert(slices.Clone(s), i, []byte(p))
			out[i+1] = Set(out[i+1], "", "parentUuid", `"`+otherID+`"`)
			return out.Bytes()
		})},

		{"session_id_all_other", func(s Session) []byte {
			out := slices.Clone(s)
			for i, l := range out {
				if gjson.GetBytes(l, "sessionId").Exists() {
					out[i] = Set(l, "", "sessionId", `"`+otherID+`"`)
				}
			}
			return out.Bytes()
		}},
		{"sidechain_one", one(readOut, setField("", "isSidechain", "true"))},
		{"sidechain_all", func(s Session) []byte {
			out := slices.Clone(s)
			for i, l := range out {
				if inTree(l) {
					out[i] = Set(l, "", "isSidechain", "true")
				}
			}
			return out.Bytes()
		}},
		{"timestamp_missing", func(s Session) []byte {
			out := slices.Clone(s)
			for i, l := range out {
				out[i] = drop(l, "", "timestamp")
			}
			return out.Bytes()
		}},
		{"timestamp_bad_one", one(second, setField("", "timestamp", `"yesterday"`))},
		{"type_unknown_one", one(readOut, setField("", "type", `"something_new"`))},
		{"type_missing", one(readOut, func(l []byte) []byte { return drop(l, "", "type") })},
		{"type_of_a_prompt", one(readCall, setField("", "type", `"user"`))},
		{"type_of_an_answer", one(readOut, setField("", "type", `"assistant"`))},
		{"role_of_an_answer", one(second, setField("message", "role", `"assistant"`))},
		{"unknown_record", insertBehind(readOut, `{"type":"something_new","sessionId":"x"}`)},
		{"no_tool_use_result", func(s Session) []byte {
			out := slices.Clone(s)
			for i, l := range out {
				out[i] = drop(l, "", "toolUseResult")
			}
			return out.Bytes()
		}},

		{"swapped_call_output", raw(readCall, func(s Session, i int) []byte {
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
		{"last_moved_first", raw(Session.lastText, func(s Session, i int) []byte {
			return slices.Insert(s.without(i), 0, s[i]).Bytes()
		})},

		{"torn_tail", raw(Session.lastText, func(s Session, i int) []byte { return append(s[:i].Bytes(), half(s[i])...) })},
		{"torn_at_output", raw(readOut, func(s Session, i int) []byte { return append(s[:i].Bytes(), s[i][:len(s[i])*2/3]...) })},
		{"no_final_newline", func(s Session) []byte { return bytes.TrimSuffix(s.Bytes(), []byte("\n")) }},
		{"no_final_newline_message", raw(Session.lastText, func(s Session, i int) []byte { return bytes.TrimSuffix(s[:i+1].Bytes(), []byte("\n")) })},
		{"garbage_line", insertBehind(readOut, `%%% garbage %%%`)},
		{"garbage_replaces_output", one(readOut, func([]byte) []byte { return []byte("%%% garbage %%%") })},
		{"torn_start_glued", one(readOut, func(l []byte) []byte { return append(bytes.Clone(half(l)), l...) })},
		{"glued_two", raw(readOut, func(s Session, i int) []byte {
			return s.with(i-1, append(bytes.Clone(s[i-1]), s[i]...)).without(i).Bytes()
		})},
		{"glued_three", raw(readOut, func(s Session, i int) []byte {
			return s.with(i-1, append(append(bytes.Clone(s[i-1]), s[i]...), s[i+1]...)).without(i, i+1).Bytes()
		})},
		{"split_newline", one(readOut, replaceText(`\n`, "\n"))},
		{"raw_tab_in_string", one(second, replaceText(" ", "\t"))},
		{"nul_line", insertBehind(readOut, strings.Repeat("\x00", 64))},
		{"nul_tail", func(s Session) []byte { return append(s.Bytes(), make([]byte, 512)...) }},
		{"nul_before_record", one(readOut, func(l []byte) []byte { return append(make([]byte, 64), l...) })},
		{"nul_inside_record", one(readOut, func(l []byte) []byte { return slices.Insert(l, len(l)/2, 0, 0, 0) })},
		{"bom", func(s Session) []byte { return append([]byte("\xef\xbb\xbf"), s.Bytes()...) }},
		{"utf16", func(s Session) []byte {
			out := []byte{0xff, 0xfe}
			for _, u := range utf16.Encode([]rune(string(s.Bytes()))) {
				out = append(out, byte(u), byte(u>>8))
			}
			return out
		}},
		{"invalid_utf8", one(second, replaceText(" ", " \xff"))},
		{"lone_surrogate", one(midText, replaceText(" ", ` \ud83d `))},
		{"lone_surrogate_user", one(second, replaceText(" ", ` \ud83d `))},
		{"array_line", insertBehind(readOut, `[1,2]`)},
		{"null_line", insertBehind(readOut, `null`)},
		{"null_first", func(s Session) []byte { return append([]byte("null\n"), s.Bytes()...) }},
		{"empty_object_line", insertBehind(readOut, `{}`)},
		{"crlf", func(s Session) []byte { return bytes.ReplaceAll(s.Bytes(), []byte("\n"), []byte("\r\n")) }},
		{"blank_lines", insertBehind(readOut, "")},
		{"empty", func(Session) []byte { return []byte{} }},
		{"only_summary", func(s Session) []byte {
			return []byte(`{"type":"summary","summary":"a title","leafUuid":"` + otherID + `"}` + "\n")
		}},
		{"deep_3000", insertBehind(readOut, `{"type":"something_new","x":`+strings.Repeat("[", 3000)+strings.Repeat("]", 3000)+"}")},

		{"empty_text", one(midText, content(`[{"type":"text","text":""}]`))},
		{"blank_text", one(midText, content(`[{"type":"text","text":" \n "}]`))},
		{"empty_text_final", one(Session.endOfTurn, content(`[{"type":"text","text":""}]`))},
		{"empty_text_last", one(Session.lastText, content(`[{"type":"text","text":""}]`))},
		{"empty_user", one(second, content(`""`))},
		{"blank_user", one(second, content(`"  "`))},
		{"empty_user_block", one(second, content(`[{"type":"text","text":""}]`))},
		{"content_list_empty", one(midText, content(`[]`))},
		{"content_null", one(midText, content(`null`))},
		{"content_missing_user", one(second, func(l []byte) []byte { return drop(l, "message", "content") })},
		{"message_missing", one(midText, func(l []byte) []byte { return drop(l, "", "message") })},
		{"block_without_type", one(midText, content(`[{"text":"Now the file."}]`))},
		{"block_null", one(midText, content(`[null]`))},
		{"unknown_block", one(midText, content(`[{"type":"text","text":"Now the file."},{"type":"hologram","x":1}]`))},
		{"extra_block_key", one(midText, content(`[{"type":"text","text":"Now the file.","mood":"good"}]`))},
		{"output_empty_text", one(firstOut, setField("message.content.0", "content", `[{"type":"text","text":""}]`))},
		{"output_error_empty", one(firstOut, func(l []byte) []byte {
			return Set(Set(l, "message.content.0", "content", `""`), "message.content.0", "is_error", "true")
		})},
		{"input_string", one(readCall, func(l []byte) []byte {
			in := gjson.GetBytes(l, "message.content.0.input").Raw
			quoted, err := json.Marshal(in)
			if err != nil {
				panic(err)
			}
			return Set(l, "message.content.0", "input", string(quoted))
		})},
		{"input_missing", one(readCall, func(l []byte) []byte { return drop(l, "message.content.0", "input") })},
		{"tool_name_empty", one(readCall, setField("message.content.0", "name", `""`))},
		{"tool_id_bad", raw(readCall, func(s Session, i int) []byte {
			j := s.readOut()
			return s.with(i, Set(s[i], "message.content.0", "id", `"toolu 01/r1"`)).with(j, Set(s[j], "message.content.0", "tool_use_id", `"toolu 01/r1"`)).Bytes()
		})},
		{"dup_tool_id", raw(readCall, func(s Session, i int) []byte {
			j, id := s.readOut(), `"`+get(s[firstCall(s)], "message.content.0.id")+`"`
			return s.with(i, Set(s[i], "message.content.0", "id", id)).with(j, Set(s[j], "message.content.0", "tool_use_id", id)).Bytes()
		})},
		{"dup_tool_id_call_only", raw(readCall, func(s Session, i int) []byte {
			return s.with(i, Set(s[i], "message.content.0", "id", `"`+get(s[firstCall(s)], "message.content.0.id")+`"`)).Bytes()
		})},
		{"output_twice", raw(readOut, func(s Session, i int) []byte {
			again := Set(Set(s[i], "", "uuid", `"`+otherID+`"`), "", "parentUuid", `"`+get(s[i], "uuid")+`"`)
			out := slices.Insert(slices.Clone(s), i+1, again)
			for k := i + 2; k < len(out); k++ {
				if get(out[k], "parentUuid") == get(s[i], "uuid") {
					out[k] = Set(out[k], "", "parentUuid", `"`+otherID+`"`)
				}
			}
			return out.Bytes()
		})},
		{"output_wrong_id", one(readOut, setField("message.content.0", "tool_use_id", `"toolu_01zz"`))},
		{"text_before_output", one(readOut, func(l []byte) []byte {
			return bytes.Replace(l, []byte(`"content":[{`), []byte(`"content":[{"type":"text","text":"see what came"},{`), 1)
		})},
		{"text_between", raw(readOut, func(s Session, i int) []byte { return s.between(i, "user").Bytes() })},
		{"late_output", raw(readOut, func(s Session, i int) []byte { return s.between(i, "assistant").Bytes() })},
		{"synthetic_tail", raw(Session.lastText, func(s Session, i int) []byte {
			return append(slices.Clone(s), synthetic(s[i], get(s[i], "uuid"))).Bytes()
		})},
	}
	return list
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
