package clienttest

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/lint"
)

// fallsShort are damages after which a part of what the file holds is not sent, by their names and what they are done to: nothing tells
// for sure where it belongs, or what it was.
var fallsShort = []string{
	"2.0.29/resumed call_ids_rewritten", "2.0.29/resumed result_ids_rewritten", // of parallel calls
	"2.0.29/resumed results_emptied", // of three commands nothing but what they printed is left
	"2.0.29/resumed blocks_swapped", "2.1.100/thinking blocks_swapped", "2.1.330/image blocks_swapped", "2.1.100/thinking interleaved_pieces",
	"2.0.29/resumed block_of_another", "2.0.29/resumed head_zero", // pieces of records without their ids
	"2.1.330/compact grep_v_assistant", "2.1.330/compact uuids_dropped", "2.1.330/compact uuids_rewritten", // what a compaction has kept has no names
	"2.1.330/compact grep_v_prompts", "2.1.330/compact grep_v_meta", "2.1.330/compact prompts_blanked", // the client's own words about a command
	"2.1.100/thinking second_half_by_lines",                      // only a last-prompt record has the first prompt
	"2.1.330/compact reversed", "2.1.330/compact reversed_twice", // clients go by the order of the lines where a compaction has kept records
	"objects_around_lines", "array_of_strings", // named, but not taken apart
}

// TestPrograms: what other programs do to a whole session is named, and its repair leaves nothing to mend, brings back what the file
// holds, as far as a model of the client tells, and makes nothing worse. In stream_json, where each record stands twice, under two ids, it may
// bring back less.
func TestPrograms(t *testing.T) {
	sessions := []string{"2.1.330/resumed", "2.0.29/resumed", "2.1.330/compact", "2.1.100/thinking", "2.1.330/image", "2.1.2/compact", "2.0.29/stream_json"}
	if testing.Short() {
		sessions = sessions[:1]
	}
	for _, of := range sessions {
		version, scenario, _ := strings.Cut(of, "/")
		s, id := recording(t, version, scenario)
		reader := "2.1.330"
		if version == "2.1.2" { // its own sessions it reads otherwise
			reader = version
		}
		resume := modelled(reader)
		whole, _, _ := resume(t, id, s.Bytes())
		for _, d := range programDamages() {
			data := d.Do(s)
			if data == nil || bytes.Equal(data, s.Bytes()) {
				continue
			}
			t.Run(of+"/"+d.Name, func(t *testing.T) {
				found := lintText(t, data, lint.Options{})
				fixed, _ := mend(t, data, lint.Options{})
				before, _, _ := resume(t, id, data)
				after, _, _ := resume(t, id, fixed)
				had, has, possible := Share(before, whole), Share(after, whole), Share(victimAtRandom{sound: s, data: data}.possible(whole), whole)
				short := of == "2.0.29/stream_json" || slices.Contains(fallsShort, of+" "+d.Name) || slices.Contains(fallsShort, d.Name)
				if len(found) == 0 && had < possible {
					t.Error("not named")
				}
				if has < had || has < possible && !short {
					t.Errorf("%.2f is sent before, %.2f after, of %.2f", had, has, possible)
				}
				for _, f := range lintText(t, fixed, lint.Options{}) {
					if allowed(&f) {
						t.Errorf("left: %s on %v: %s", f.Rule.Name, f.Pos, f.Message)
					}
				}
				if again, _ := mend(t, fixed, lint.Options{}); !bytes.Equal(again, fixed) {
					t.Error("a second repair changes the session")
				}
			})
		}
	}
}

// programDamages are what programs other than the client do to a session: tools that merge, sort, reformat or number
// lines, scripts that strip what an API has refused, proxies that rewrite ids, disks that hand back an older block.
func programDamages() []Damage {
	return slices.Concat(lineToolDamages(), wrapperDamages(), strippedDamages(), rewrittenDamages(), blockDamages())
}

func has(part string) func([]byte) bool {
	return func(l []byte) bool { return bytes.Contains(l, []byte(part)) }
}
func lacks(part string) func([]byte) bool { return func(l []byte) bool { return !has(part)(l) } }

// strippedDamages are what scripts take out.
func strippedDamages() []Damage {
	emptied := func(kind string) func([]byte) []byte {
		return func(l []byte) []byte {
			if get(l, "message.content.0.type") == kind {
				return Set(l, "message", "content", "[]")
			}
			return l
		}
	}
	dropEach := func(parent, key string) func(Session) []byte {
		return each(func(l []byte) []byte {
			if !gjson.GetBytes(l, strings.TrimPrefix(parent+"."+key, ".")).Exists() {
				return l
			}
			return drop(l, parent, key)
		})
	}
	return []Damage{
		{"grep_v_thinking", only(lacks(`"type":"thinking"`))},
		{"grep_v_tool_use", only(lacks(`"type":"tool_use"`))},
		{"grep_v_tool_result", only(lacks(`"type":"tool_result"`))},
		{"grep_v_image", only(lacks(`"type":"image"`))},
		{"grep_v_assistant", only(lacks(`"type":"assistant"`))},
		{"grep_v_prompts", only(func(l []byte) bool { return !isPrompt(l) })},
		{"grep_v_attachment", only(lacks(`"type":"attachment"`))},
		{"grep_v_system", only(lacks(`"type":"system"`))},
		{"grep_v_meta", only(lacks(`"isMeta":true`))},
		{"grep_v_tools", only(func(l []byte) bool { return !isCall(l) && !isResult(l) })},
		{"thinking_emptied", each(emptied("thinking"))},
		{"calls_emptied", each(emptied("tool_use"))},
		{"results_emptied", each(emptied("tool_result"))},
		{"parents_dropped", dropEach("", "parentUuid")},
		{"uuids_dropped", dropEach("", "uuid")},
		{"timestamps_dropped", dropEach("", "timestamp")},
		{"block_types_dropped", dropEach("message.content.0", "type")},
		{"inputs_dropped", dropEach("message.content.0", "input")},
		{"contents_dropped", dropEach("message.content.0", "content")},
		{"signatures_dropped", dropEach("message.content.0", "signature")},
		{"nulls_dropped", each(func(l []byte) []byte {
			return regexp.MustCompile(`,"[A-Za-z_]+":null|"[A-Za-z_]+":null,`).ReplaceAll(l, nil)
		})},
		{"first_half_by_lines", func(s Session) []byte { return s[:len(s)/2].Bytes() }},
		{"second_half_by_lines", func(s Session) []byte { return s[len(s)/2:].Bytes() }},
	}
}

// rewrittenDamages are fields that a program writes anew.
func rewrittenDamages() []Damage {
	setEach := func(parent, key, value string) func(Session) []byte {
		return each(func(l []byte) []byte {
			if !gjson.GetBytes(l, strings.TrimPrefix(parent+"."+key, ".")).Exists() {
				return l
			}
			return Set(l, parent, key, value)
		})
	}
	numbered := func(parent, key string) func(Session) []byte {
		return func(s Session) []byte {
			out := make(Session, len(s))
			for i, l := range s {
				out[i] = l
				if gjson.GetBytes(l, strings.TrimPrefix(parent+"."+key, ".")).Type == gjson.String {
					v := fmt.Sprintf(`"00000000-1111-4000-8000-%012d"`, i)
					if key != "uuid" && key != "parentUuid" {
						v = fmt.Sprintf(`"call_%d"`, i)
					}
					out[i] = Set(l, parent, key, v)
				}
			}
			return out.Bytes()
		}
	}
	shiftTimes := func(ok func(i int) bool, by time.Duration) func(Session) []byte {
		return func(s Session) []byte {
			out := make(Session, len(s))
			for i, l := range s {
				out[i] = l
				if at, err := time.Parse(time.RFC3339, get(l, "timestamp")); err == nil && ok(i) {
					out[i] = Set(l, "", "timestamp", `"`+at.Add(by).UTC().Format("2006-01-02T15:04:05.000Z")+`"`)
				}
			}
			return out.Bytes()
		}
	}
	always := func(int) bool { return true }
	return []Damage{
		{"uuids_rewritten", numbered("", "uuid")},
		{"parents_rewritten", numbered("", "parentUuid")},
		{"call_ids_rewritten", numbered("message.content.0", "id")},
		{"result_ids_rewritten", numbered("message.content.0", "tool_use_id")},
		{"parents_null", setEach("", "parentUuid", "null")},
		{"parents_line_before", func(s Session) []byte {
			out := make(Session, len(s))
			last := "null"
			for i, l := range s {
				if out[i] = l; inTree(l) {
					out[i] = Set(l, "", "parentUuid", last)
					last = `"` + get(l, "uuid") + `"`
				}
			}
			return out.Bytes()
		}},
		{"times_an_hour", shiftTimes(always, time.Hour)},
		{"times_half_back", func(s Session) []byte { return shiftTimes(func(i int) bool { return i > len(s)/2 }, -time.Hour)(s) }},
		{"times_half_ahead", func(s Session) []byte { return shiftTimes(func(i int) bool { return i > len(s)/2 }, 2*time.Hour)(s) }},
		{"times_all_one", setEach("", "timestamp", `"2026-11-20T10:00:00.000Z"`)},
		{"session_id_second_half", func(s Session) []byte {
			i := len(s) / 2
			return append(s[:i].Bytes(), setEach("", "sessionId", `"`+otherID+`"`)(s[i:])...)
		}},
		{"signatures_blanked", setEach("message.content.0", "signature", `""`)},
		{"signatures_redacted", setEach("message.content.0", "signature", `"[REDACTED]"`)},
		{"thoughts_blanked", setEach("message.content.0", "thinking", `""`)},
		{"prompts_blanked", each(func(l []byte) []byte {
			if isPrompt(l) {
				return content(`""`)(l)
			}
			return l
		})},
		{"results_null", setEach("message.content.0", "content", `null`)},
		{"results_one_block", each(func(l []byte) []byte {
			if c := gjson.GetBytes(l, "message.content.0.content"); isResult(l) && c.Type == gjson.String {
				return Set(l, "message.content.0", "content", `{"type":"text","text":`+c.Raw+`}`)
			}
			return l
		})},
		{"content_one_block", each(func(l []byte) []byte {
			if c := gjson.GetBytes(l, "message.content"); c.IsArray() && len(c.Array()) == 1 {
				return Set(l, "message", "content", c.Array()[0].Raw)
			}
			return l
		})},
		{"content_strings", each(func(l []byte) []byte {
			if c := gjson.GetBytes(l, "message.content.0.text"); isText(l) {
				return Set(l, "message", "content", "["+c.Raw+"]")
			}
			return l
		})},
		{"inputs_strings", each(func(l []byte) []byte {
			if c := gjson.GetBytes(l, "message.content.0.input"); isCall(l) {
				return Set(l, "message.content.0", "input", fmt.Sprintf("%q", c.Raw))
			}
			return l
		})},
		{"cached", each(func(l []byte) []byte {
			if gjson.GetBytes(l, "message.content.0.type").Exists() {
				return Set(l, "message.content.0", "cache_control", `{"type":"ephemeral"}`)
			}
			return l
		})},
		{"image_source_null", setEach("message.content.0.content.0", "source", "null")},
		{"image_data_url", each(func(l []byte) []byte {
			if d := get(l, "message.content.0.content.0.source.data"); d != "" {
				return Set(l, "message.content.0.content.0.source", "data", `"data:image/png;base64,`+d+`"`)
			}
			return l
		})},
		{"image_mime_lines", each(func(l []byte) []byte {
			if d := get(l, "message.content.0.content.0.source.data"); d != "" {
				return Set(l, "message.content.0.content.0.source", "data", `"`+d[:40]+`\r\n`+d[40:]+`"`)
			}
			return l
		})},
		{"image_urlsafe", each(func(l []byte) []byte {
			if d := get(l, "message.content.0.content.0.source.data"); d != "" {
				return Set(l, "message.content.0.content.0.source", "data", `"`+strings.TrimRight(strings.NewReplacer("+", "-", "/", "_").Replace(d), "=")+`"`)
			}
			return l
		})},
		{"image_cut", each(func(l []byte) []byte {
			if d := get(l, "message.content.0.content.0.source.data"); d != "" {
				return Set(l, "message.content.0.content.0.source", "data", `"`+d[:len(d)/2/4*4]+`"`)
			}
			return l
		})},
	}
}

// blockDamages are blocks of bytes that stand where others should.
func blockDamages() []Damage {
	const size = 2048
	blocks := func(do func(b []byte, at int) []byte) func(Session) []byte {
		return func(s Session) []byte {
			b := s.Bytes()
			at := len(b) / 2 / size * size
			if at < size || at+2*size > len(b) {
				return nil
			}
			return do(b, at)
		}
	}
	put := func(b []byte, at int, with []byte) []byte {
		out := bytes.Clone(b)
		copy(out[at:], with)
		return out
	}
	return []Damage{
		{"interleaved_lines", at(Session.second, func(s Session, i int) []byte {
			a, b := s[i], s[i+1]
			return slices.Insert(s.with(i, append(bytes.Clone(half(a)), b...)).with(i+1, a[len(a)/2:]), 0).Bytes()
		})},
		{"interleaved_in_line", at(Session.second, func(s Session, i int) []byte {
			a, b := s[i], s[i+1]
			return s.with(i, slices.Concat(half(a), b, a[len(a)/2:])).without(i + 1).Bytes()
		})},
		{"interleaved_pieces", at(Session.second, func(s Session, i int) []byte {
			a, b := s[i], s[i+1]
			return s.with(i, slices.Concat(half(a), half(b), a[len(a)/2:])).with(i+1, b[len(b)/2:]).Bytes()
		})},
		{"block_stale", blocks(func(b []byte, at int) []byte { return put(b, at, b[at-size:at]) })},
		{"block_from_head", blocks(func(b []byte, at int) []byte { return put(b, at, b[:size]) })},
		{"block_zero", blocks(func(b []byte, at int) []byte { return put(b, at, make([]byte, size)) })},
		{"block_garbage", blocks(func(b []byte, at int) []byte {
			g := make([]byte, size)
			x := uint32(7)
			for i := range g {
				x = x*1664525 + 1013904223
				g[i] = byte(x >> 24)
			}
			return put(b, at, g)
		})},
		{"block_missing", blocks(func(b []byte, at int) []byte { return append(bytes.Clone(b[:at]), b[at+size:]...) })},
		{"block_doubled", blocks(func(b []byte, at int) []byte { return append(bytes.Clone(b[:at+size]), b[at:]...) })},
		{"blocks_swapped", blocks(func(b []byte, at int) []byte { return put(put(b, at, b[at+size:at+2*size]), at+size, b[at:at+size]) })},
		{"block_of_another", blocks(func(b []byte, at int) []byte {
			o := []byte(strings.Join(anotherSession, "\n") + "\n")
			for len(o) < size {
				o = append(o, o...)
			}
			return put(b, at, o[300:][:min(size, len(o)-300)])
		})},
		{"tail_zero", blocks(func(b []byte, at int) []byte { return append(bytes.Clone(b[:at]), make([]byte, len(b)-at)...) })},
		{"head_zero", blocks(func(b []byte, at int) []byte { return append(make([]byte, size), b[size:]...) })},
	}
}
