package session

import (
	"strings"
	"testing"
)

// TestApplyElements: whichever elements go, the rest is an array still.
func TestApplyElements(t *testing.T) {
	const raw = `{"a":[ {"b":1} , {"b":2}, {"b":3}],"c":[4]}`
	element := func(text string) Cut {
		at := strings.Index(raw, text)
		return Cut{Start: at, End: at + len(text), Element: true}
	}
	one, two, three, four := element(`{"b":1}`), element(`{"b":2}`), element(`{"b":3}`), element(`4`)
	inside := Cut{Start: two.Start + 5, End: two.Start + 6, New: []byte("9")}
	for want, cuts := range map[string][]Cut{
		`{"a":[ {"b":2}, {"b":3}],"c":[4]}`:             {one},
		`{"a":[ {"b":1} , {"b":3}],"c":[4]}`:            {two},
		`{"a":[ {"b":1} , {"b":2}],"c":[4]}`:            {three},
		`{"a":[ {"b":3}],"c":[4]}`:                      {two, one},
		`{"a":[ {"b":1} ],"c":[4]}`:                     {two, three, inside},
		`{"a":[ {"b":2}],"c":[]}`:                       {one, three, four},
		`{"a":[],"c":[4]}`:                              {one, two, two, three},
		`{"a":[ {"b":1} , {"b":9}, {"b":3}],"c":[4]}`:   {inside},
		`{"a":[ {"b":1} , {"b":9}, {"b":3}],"c":[4,5]}`: {inside, {Start: len(raw) - 2, End: len(raw) - 2, New: []byte(",5")}},
	} {
		got, err := Apply([]byte(raw), cuts)
		if err != nil || string(got) != want {
			t.Errorf("%v\ngave %s (%v)\nwant %s", cuts, got, err, want)
		}
	}
}

// TestOverlaps: what lies within bytes that another cut takes out is moot; two that want to write the same bytes collide.
func TestOverlaps(t *testing.T) {
	const raw = `{"a":"one","b":"two"}`
	value, member := Cut{Start: 5, End: 10, New: []byte(`"1"`)}, Cut{Start: 1, End: 11}
	add := Cut{Start: 1, End: 1, New: []byte(`"c":3,`)}
	for _, c := range []struct {
		want string
		cuts []Cut
	}{
		{`{"b":"two"}`, []Cut{value, member}},
		{`{"b":"two"}`, []Cut{member, value}},
		{`{"c":3,"b":"two"}`, []Cut{member, add, value}},
		{`{"a":"1","b":"two"}`, []Cut{value, value}},
		{`{          "b":"two"}`, []Cut{value, {Start: 1, End: 11, New: []byte("          ")}}},
		{"", []Cut{value, {Start: 5, End: 10, New: []byte(`"2"`)}}},
		{"", []Cut{value, {Start: 4, End: 11, New: []byte(`:"2",`)}}},
		{"", []Cut{member, {Start: 10, End: 12, New: []byte(`,`)}}},
	} {
		got, err := Apply([]byte(raw), c.cuts)
		if string(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%v\ngave %s (%v)\nwant %s", c.cuts, got, err, c.want)
		}
		if n := len(Colliding(c.cuts)); n > 0 != (c.want == "") {
			t.Errorf("%v: %d collide", c.cuts, n)
		}
	}
}
