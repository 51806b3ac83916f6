package format

import (
	"testing"

	"github.com/tidwall/gjson"
)

// FuzzValue compares with gjson, which decodes as it goes.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{
		`{"type":"text","text":"a \"b\" \\"}`, `{ "a" : [1, {"b":"]}"}, "\\\""] , "\u0061" : null }`, `{}`, `{"a":1}`, `{"a":-1.5e3 ,"a":true}`, `[1]`, `"x"`, `7`, `{"":{"":[]}}`,
		`{"type":"text","text":" \n\t"}`, `{"text":"\u00a0"}`, `{"text":"é"}`, `{"text":""}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if !gjson.Valid(raw) {
			return
		}
		raw = gjson.Parse(raw).Raw
		v, want := ValueOf([]byte(raw)), gjson.Parse(raw)
		if !want.IsObject() {
			if len(v.Members) > 0 || string(v.Text) != want.Raw {
				t.Fatalf("%q: %+v", raw, v)
			}
			return
		}
		i := 0
		want.ForEach(func(key, value gjson.Result) bool {
			if i == len(v.Members) {
				t.Fatalf("%q: %d members, and there is %s", raw, i, key.Raw)
			}
			m := v.Members[i]
			if string(v.Name(&m)) != key.String() || keys[m.Key] != key.String() && m.Key != KeyOther || m.KeyAt != key.Index || m.At != value.Index || raw[m.At:m.end] != value.Raw || string(WordOf([]byte(raw[m.At:m.end]))) != value.String() {
				t.Fatalf("%q: %+v is %s at %d: %q at %d", raw, m, key.Raw, key.Index, value.Raw, value.Index)
			}
			i++
			return true
		})
		if i != len(v.Members) {
			t.Fatalf("%q: %d members, want %d", raw, len(v.Members), i)
		}
	})
}

func TestHasWords(t *testing.T) {
	for raw, want := range map[string]bool{
		``: false, `""`: false, `" "`: false, `"\n\t "`: false, `" a"`: true, `"a"`: true, `"\u0020"`: false, `"\u00a0"`: false, `"\u3042"`: true, `"é"`: true, `"\\"`: true, "\"\u3000\"": false, "\" \u3000a\"": true, `"\b"`: true, `7`: false, `null`: false, `["a"]`: false,
	} {
		if got := HasWords([]byte(raw)); got != want {
			t.Errorf("%s: %t", raw, got)
		}
	}
}
