package clienttest

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf16"
)

func half(l []byte) []byte { return l[:len(l)/2] }

// framingDamages break lines, and the bytes of the file.
func framingDamages() []Damage {
	return []Damage{
		{"torn_tail", at(Session.lastText, func(s Session, i int) []byte { return append(s[:i].Bytes(), half(s[i])...) })},
		{"torn_at_output", at(Session.readOut, func(s Session, i int) []byte { return append(s[:i].Bytes(), s[i][:len(s[i])*2/3]...) })},
		{"no_final_newline", func(s Session) []byte { return bytes.TrimSuffix(s.Bytes(), []byte("\n")) }},
		{"no_final_newline_message", at(Session.lastText, func(s Session, i int) []byte { return bytes.TrimSuffix(s[:i+1].Bytes(), []byte("\n")) })},
		{"garbage_line", insertBehind(Session.readOut, `%%% garbage %%%`)},
		{"garbage_replaces_output", one(Session.readOut, func([]byte) []byte { return []byte("%%% garbage %%%") })},
		{"torn_start_glued", one(Session.readOut, func(l []byte) []byte { return append(bytes.Clone(half(l)), l...) })},
		{"glued_two", at(Session.readOut, func(s Session, i int) []byte {
			return s.with(i-1, append(bytes.Clone(s[i-1]), s[i]...)).without(i).Bytes()
		})},
		{"glued_three", at(Session.readOut, func(s Session, i int) []byte {
			return s.with(i-1, append(append(bytes.Clone(s[i-1]), s[i]...), s[i+1]...)).without(i, i+1).Bytes()
		})},
		{"split_newline", one(Session.readOut, replaceText(`\n`, "\n"))},
		{"raw_tab_in_string", one(Session.second, replaceText(" ", "\t"))},
		{"nul_line", insertBehind(Session.readOut, strings.Repeat("\x00", 64))},
		{"nul_tail", func(s Session) []byte { return append(s.Bytes(), make([]byte, 512)...) }},
		{"nul_before_record", one(Session.readOut, func(l []byte) []byte { return append(make([]byte, 64), l...) })},
		{"nul_inside_record", one(Session.readOut, func(l []byte) []byte { return slices.Insert(l, len(l)/2, 0, 0, 0) })},
		{"bom", func(s Session) []byte { return append([]byte("\xef\xbb\xbf"), s.Bytes()...) }},
		{"utf16", func(s Session) []byte {
			out := []byte{0xff, 0xfe}
			for _, u := range utf16.Encode([]rune(string(s.Bytes()))) {
				out = append(out, byte(u), byte(u>>8))
			}
			return out
		}},
		{"invalid_utf8", one(Session.second, replaceText(" ", " \xff"))},
		{"lone_surrogate", one(Session.midText, replaceText(" ", ` \ud83d `))},
		{"lone_surrogate_user", one(Session.second, replaceText(" ", ` \ud83d `))},
		{"array_line", insertBehind(Session.readOut, `[1,2]`)},
		{"null_line", insertBehind(Session.readOut, `null`)},
		{"null_first", func(s Session) []byte { return append([]byte("null\n"), s.Bytes()...) }},
		{"empty_object_line", insertBehind(Session.readOut, `{}`)},
		{"crlf", func(s Session) []byte { return bytes.ReplaceAll(s.Bytes(), []byte("\n"), []byte("\r\n")) }},
		{"blank_lines", insertBehind(Session.readOut, "")},
		{"empty", func(Session) []byte { return []byte{} }},
		{"only_summary", func(s Session) []byte {
			return []byte(`{"type":"summary","summary":"a title","leafUuid":"` + otherID + `"}` + "\n")
		}},
		{"deep_3000", insertBehind(Session.readOut, `{"type":"something_new","x":`+strings.Repeat("[", 3000)+strings.Repeat("]", 3000)+"}")},
	}
}
