package jsonl

import (
	"math/rand/v2"
	"testing"
)

func TestUnquote(t *testing.T) {
	tests := []struct {
		literal, want string
		ok            bool
	}{
		{`""`, "", true},
		{`"a\"\\\/\b\f\n\r\t"`, "a\"\\/\b\f\n\r\t", true},
		{`"\u00e9\u65E5\ud83d\ude00"`, "é日😀", true},
		{`"\ud83d"`, "\ufffd", true},
		{`"\ude00\ud83d!"`, "\ufffd\ufffd!", true},
		{`"\ud83d\ud83d\ude00"`, "\ufffd😀", true},
		{`"\ud83d\n"`, "\ufffd\n", true},
		{"\"\xff\xe6\x97\"", "\ufffd\ufffd\ufffd", true},
		{"\"\x7f\u2028\"", "\x7f\u2028", true},
		{``, "", false},
		{`"`, "", false},
		{`x`, "", false},
		{`7`, "", false},
		{`"a`, "", false},
		{`"a"b"`, "", false},
		{`"\"`, "", false},
		{`"\x"`, "", false},
		{`"\u12"`, "", false},
		{`"\u12g4"`, "", false},
		{"\"a\nb\"", "", false},
		{` "a"`, "", false},
	}
	for _, tt := range tests {
		if got, ok := Unquote([]byte(tt.literal)); got != tt.want || ok != tt.ok {
			t.Errorf("%q: %q %v, want %q %v", tt.literal, got, ok, tt.want, tt.ok)
		}
	}
}

func TestAppendQuote(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", `""`},
		{"plain", `"plain"`},
		{"\"\\/", `"\"\\/"`},
		{"\b\f\n\r\t", `"\b\f\n\r\t"`},
		{"\x00\x0b\x1b\x1f\x7f", `"\u0000\u000b\u001b\u001f` + "\x7f\""},
		{"<a>&\u2028é😀", "\"<a>&\u2028é😀\""},
		{"a\xffb", "\"a\ufffdb\""},
		{"a\ufffdb", "\"a\ufffdb\""},
	}
	for _, tt := range tests {
		if got := string(AppendQuote([]byte("k:"), tt.text)); got != "k:"+tt.want {
			t.Errorf("%q: %s, want %s", tt.text, got, tt.want)
		}
	}
}

func TestQuoteMutants(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	seeds := []string{`\ud83d\ude00\u00e9 日本 \n\t\"`, "text\x01\xe6\x97\xa5\xff", `\\\\\/\b`}
	for i := range 50_000 {
		checkQuote(t, string(mutate(r, []byte(seeds[i%len(seeds)]))))
	}
}
