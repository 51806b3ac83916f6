package repair

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// marked writes parts with brackets around what changed.
func marked(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Changed {
			b.WriteString("[" + p.Text + "]")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestMark(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, tc := range []struct{ before, after, wantBefore, wantAfter string }{
		{"", "", "", ""},
		{"same", "same", "same", "same"},
		{`{"a":1}`, `{"a":22}`, `{"a":[1]}`, `{"a":[22]}`},
		{"abc", "", "[abc]", ""},
		{long + "1" + long, long + "2" + long, "…xxxxx[1]xxxxx…", "…xxxxx[2]xxxxx…"},
		{long, long + "y", "…xxxxx", "…xxxxx[y]"},
		{"", long, "", "[xxxxxxxxxx…]"},
		{"aé", "aè", "a[é]", "a[è]"}, // they share the first byte
		{"éa", "ũa", "[é]a", "[ũ]a"}, // and these the last one
		{"aa", "aaa", "aa", "aa[a]"},
	} {
		b, a := Mark(tc.before, tc.after, 10)
		if marked(b) != tc.wantBefore || marked(a) != tc.wantAfter {
			t.Errorf("%.20q, %.20q: %q, %q; want %q, %q", tc.before, tc.after, marked(b), marked(a), tc.wantBefore, tc.wantAfter)
		}
	}
}

// FuzzMark checks that short lines are shown whole, and no character is cut.
func FuzzMark(f *testing.F) {
	f.Add("aé", "aè")
	f.Add("aaaa", "aa")
	f.Fuzz(func(t *testing.T, before, after string) {
		before, after = strings.ToValidUTF8(before, "?"), strings.ToValidUTF8(after, "?")
		joined := func(parts []Part) string {
			var b strings.Builder
			for _, p := range parts {
				b.WriteString(p.Text)
			}
			return b.String()
		}
		b, a := Mark(before, after, 2*(len(before)+len(after)))
		if joined(b) != before || joined(a) != after {
			t.Errorf("%q, %q: %q, %q", before, after, joined(b), joined(a))
		}
		b, a = Mark(before, after, 4)
		if !utf8.ValidString(joined(b)) || !utf8.ValidString(joined(a)) {
			t.Errorf("%q, %q: a character is cut", before, after)
		}
	})
}
