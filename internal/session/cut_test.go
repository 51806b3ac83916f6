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
	if _, err := Apply([]byte(raw), []Cut{inside, {Start: inside.Start, End: inside.End + 1}}); err == nil {
		t.Error("two cuts of the same bytes")
	}
}
