package clienttest

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"strings"

	"github.com/tidwall/gjson"
)

// Kind is what only a session of one kind can suffer from.
type Kind struct {
	Scenario string // the recording that is damaged
	Damages  []Damage
}

// Kinds are the damages of thinking, of images and of compactions.
func Kinds() []Kind {
	return []Kind{
		{"thinking", thinkingDamages()},
		{"image", imageDamages()},
		{"compact", compactDamages()},
		{"compact_auto", keptDamages()},
	}
}

func isThinking(l []byte) bool { return get(l, "message.content.0.type") == "thinking" }

// mark is the last mark of a compaction.
func mark(s Session) int {
	return s.find(-1, func(l []byte) bool { return get(l, "subtype") == "compact_boundary" })
}

// keptDamages break what an automatic compaction has kept.
func keptDamages() []Damage {
	kept := func(n int, of func([]byte) bool) func(Session) int {
		return func(s Session) int {
			at := mark(s)
			if at < 0 {
				return -1
			}
			ids := gjson.GetBytes(s[at], "compactMetadata.preservedMessages.uuids").String()
			return s.find(n, func(l []byte) bool {
				return get(l, "uuid") != "" && strings.Contains(ids, get(l, "uuid")) && of(l)
			})
		}
	}
	anything := func([]byte) bool { return true }
	return []Damage{
		{"kept_call_lost", lose(kept(0, isCall))},
		{"kept_output_lost", lose(kept(0, isResult))},
		{"kept_prompt_lost", lose(kept(0, isPrompt))},
		{"kept_answer_lost", lose(kept(-1, isText))},
		{"kept_end_lost", lose(kept(-1, anything))},
		{"kept_unsaid", one(mark, func(l []byte) []byte { return drop(l, "", "compactMetadata") })},
		{"kept_mark_lost", lose(mark)},
		{"kept_link_broken", one(kept(0, isPrompt), setField("", "parentUuid", `"`+otherID+`"`))},
	}
}

// thinkingDamages break the first thinking block, or the last.
func thinkingDamages() []Damage {
	const block = "message.content.0"
	last := func(s Session) int { return s.find(-1, isThinking) }
	var list []Damage
	for _, at := range []struct {
		name  string
		place func(Session) int
	}{{"first", func(s Session) int { return s.find(0, isThinking) }}, {"last", last}} {
		list = append(list,
			Damage{"thinking_empty_" + at.name, one(at.place, setField(block, "thinking", `""`))},
			Damage{"signature_missing_" + at.name, one(at.place, func(l []byte) []byte { return drop(l, block, "signature") })},
			Damage{"signature_empty_" + at.name, one(at.place, setField(block, "signature", `""`))},
			Damage{"signature_changed_" + at.name, one(at.place, setField(block, "signature", `"bm90aGluZw=="`))},
			Damage{"thinking_changed_" + at.name, one(at.place, setField(block, "thinking", `"Something else."`))},
			Damage{"thinking_no_text_" + at.name, one(at.place, func(l []byte) []byte { return drop(l, block, "thinking") })},
		)
	}
	return append(list,
		Damage{"thinking_record_lost", lose(func(s Session) int { return s.find(0, isThinking) })},
		Damage{"thinking_last", func(s Session) []byte { return s[:last(s)+1].Bytes() }},
		Damage{"text_after_thinking_lost", lose(func(s Session) int { return s.find(-2, isText) })},
	)
}

// imageDamages break the image that a tool has read.
func imageDamages() []Damage {
	shown := func(s Session) int {
		return s.find(0, func(l []byte) bool { return get(l, "message.content.0.content.0.type") == "image" })
	}
	const source = "message.content.0.content.0.source"
	data := func(raw []byte) func([]byte) []byte {
		return setField(source, "data", `"`+base64.StdEncoding.EncodeToString(raw)+`"`)
	}
	return []Damage{
		{"image_bad_type", one(shown, setField(source, "media_type", `"image/bmp"`))},
		{"image_wrong_type", one(shown, setField(source, "media_type", `"image/jpeg"`))},
		{"image_bad_data", one(shown, setField(source, "data", `"%%%"`))},
		{"image_no_image", one(shown, data([]byte("these are words")))},
		{"image_empty", one(shown, setField(source, "data", `""`))},
		{"image_6mb", one(shown, func(l []byte) []byte {
			raw, err := base64.StdEncoding.DecodeString(gjson.GetBytes(l, source+".data").String())
			if err != nil {
				panic(err)
			}
			return data(append(raw, make([]byte, 6<<20)...))(l)
		})},
		{"image_9000px", one(shown, func(l []byte) []byte {
			var wide bytes.Buffer
			if err := png.Encode(&wide, image.NewGray(image.Rect(0, 0, 9000, 1))); err != nil {
				panic(err)
			}
			return data(wide.Bytes())(l)
		})},
		{"image_no_tool_use_result", one(shown, func(l []byte) []byte { return drop(l, "", "toolUseResult") })},
	}
}

// compactDamages break the mark of a compaction, its summary, or what follows.
func compactDamages() []Damage {
	summary := func(s Session) int {
		return s.find(-1, func(l []byte) bool { return gjson.GetBytes(l, "isCompactSummary").Bool() })
	}
	after := func(s Session) int { return s.find(-1, isPrompt) }
	other := setField("", "parentUuid", `"`+otherID+`"`)
	return []Damage{
		{"lost_boundary", lose(mark)},
		{"boundary_no_logical_parent", one(mark, func(l []byte) []byte { return drop(l, "", "logicalParentUuid") })},
		{"boundary_dangling_logical", one(mark, setField("", "logicalParentUuid", `"`+otherID+`"`))},
		{"boundary_no_metadata", one(mark, func(l []byte) []byte { return drop(l, "", "compactMetadata") })},
		{"boundary_has_parent", one(mark, func(l []byte) []byte {
			return Set(l, "", "parentUuid", gjson.GetBytes(l, "logicalParentUuid").Raw)
		})},
		{"lost_summary", lose(summary)},
		{"empty_summary", one(summary, content(`""`))},
		{"lost_boundary_and_summary", func(s Session) []byte {
			if mark(s) < 0 || summary(s) < 0 {
				return nil
			}
			return s.without(mark(s), summary(s)).Bytes()
		}},
		{"after_compact_dangling", one(after, other)},
		{"cut_after_boundary", func(s Session) []byte {
			if mark(s) < 0 {
				return nil
			}
			return s[:mark(s)+1].Bytes()
		}},
	}
}
