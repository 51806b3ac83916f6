package jsonl

import (
	"strings"
	"testing"
)

func TestValid(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":[1,"b",null]}`:                 true,
		` "a" `:                              true,
		`7`:                                  true,
		"{}\r\n":                             true,
		``:                                   false,
		` `:                                  false,
		`{"a":1}{}`:                          false,
		`{"a":}`:                             false,
		strings.Repeat("[", 8<<20):           false,
		`{"a":` + strings.Repeat("[", 8<<20): false,
	} {
		if Valid([]byte(text)) != want {
			t.Errorf("%.20q: want %v", text, want)
		}
	}
}
