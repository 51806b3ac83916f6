package jsonl

import (
	"strconv"
	"strings"
	"testing"
)

func TestScanFaults(t *testing.T) {
	tests := []struct {
		line  string
		fault Fault
		at    int
	}{
		{`{"a":1}`, None, 0},
		{` "x" `, None, 0},
		{"{}\r", None, 0},
		{"", Blank, 0},
		{" \t\r\n ", Blank, 0},

		{`{`, Truncated, 1},
		{`{"a`, Truncated, 3},
		{`{"a"`, Truncated, 4},
		{`{"a": `, Truncated, 6},
		{`{"a":1`, Truncated, 6},
		{`{"a":1,`, Truncated, 7},
		{`[1, `, Truncated, 4},
		{`[[[[[`, Truncated, 5},
		{`[[[[[{"a":`, Truncated, 10},
		{`"abc\`, Truncated, 5},
		{`"abc\u12`, Truncated, 8},
		{`tru`, Truncated, 3},
		{`-`, Truncated, 1},
		{`1.`, Truncated, 2},
		{`1e+`, Truncated, 3},
		{"\"a\x01b", Truncated, 4},
		{"\"a\xe3\x81", Truncated, 4},

		{`{"a":1}{"b":2}`, Trailing, 7},
		{`{"a":1} }`, Trailing, 8},
		{`01`, Trailing, 1},
		{`nullx`, Trailing, 4},
		{"{}\x00\x00", Trailing, 2},
		{"{\"a\":\"\x01\"} x", Trailing, 10},
		{"{\"a\":\"\xff\"}x", Trailing, 9},

		{"{\"a\":\"b\x00c\x01\"}", Control, 7},
		{"\"0123456789\n\"", Control, 11},
		{"\"\x1f\xff\"", Control, 1},
		{"{\"a\tb\":1}", Control, 3},

		{"\"ab\xff\"", NotUTF8, 3},
		{"\"\xe6\x97\xa5\xe6\x97\"", NotUTF8, 4},
		{"{\"\xc0\x80\":1}", NotUTF8, 2},
		{"\"\xed\xa0\x80\"", NotUTF8, 1},
		{"\"12345678901234567890\xf4\x90\x80\x80\"", NotUTF8, 21},

		{"\ufeff{}", Syntax, 0},
		{"\x00", Syntax, 0},
		{`}`, Syntax, 0},
		{`{a:1}`, Syntax, 1},
		{`{"a" 1}`, Syntax, 5},
		{`{"a":}`, Syntax, 5},
		{`{"a":1,}`, Syntax, 7},
		{`{"a":1]`, Syntax, 6},
		{`[1}`, Syntax, 2},
		{`[1,]`, Syntax, 3},
		{`[,1]`, Syntax, 1},
		{`[1 2]`, Syntax, 3},
		{`[[[[{]}]]]]`, Syntax, 5},
		{`[[[[{"a":1]]]]]`, Syntax, 10},
		{`[[[[1}]]]`, Syntax, 5},
		{`[[[["a":1]]]]`, Syntax, 7},
		{`"\x"`, Syntax, 2},
		{`"\u12g4"`, Syntax, 5},
		{`[01]`, Syntax, 2},
		{`[-x]`, Syntax, 2},
		{`[.5]`, Syntax, 1},
		{`[+1]`, Syntax, 1},
		{`[1.e5]`, Syntax, 3},
		{`[nul]`, Syntax, 4},
		{`NaN`, Syntax, 0},
		{"{\"a\":\"\x01\",}", Syntax, 9},
		{"{\"a\":\"\xff\",}", Syntax, 9},
		{"[\v1]", Syntax, 1},
		{"[\u00a01]", Syntax, 1},
	}
	s := NewScanner(nil)
	for _, tt := range tests {
		v := s.Scan([]byte(tt.line), nil)
		if v.Fault != tt.fault || v.At != tt.at {
			t.Errorf("%q: %v at %d, want %v at %d", tt.line, v.Fault, v.At, tt.fault, tt.at)
		}
	}
}

func TestScanVerdict(t *testing.T) {
	tests := []struct {
		line      string
		object    bool
		depth     int
		surrogate int
		duplicate int
		dupDepth  int
	}{
		{`{}`, true, 1, -1, -1, 0},
		{`7`, false, 0, -1, -1, 0},
		{`[{}]`, false, 2, -1, -1, 0},
		{` {"a":{"b":[[[1]]]},"c":{}} `, true, 5, -1, -1, 0},
		{`{"a":"x"} x`, true, 1, -1, -1, 0},

		{`"\ud83d\ude00"`, false, 0, -1, -1, 0},
		{`"\uD83D"`, false, 0, 1, -1, 0},
		{`"ab\ude00\ud83d"`, false, 0, 3, -1, 0},
		{`"\ud83d\ud83d\ude00"`, false, 0, 1, -1, 0},
		{`"\ud83d\\ude00"`, false, 0, 1, -1, 0},
		{`"\ud83dx\ude00"`, false, 0, 1, -1, 0},
		{`"\\ud83d\ue000\ud7ff"`, false, 0, -1, -1, 0},
		{`{"\udfff":1}`, true, 1, 2, -1, 0},

		{`{"a":1,"b":2,"a":3}`, true, 1, -1, 13, 1},
		{`{"a":1,"\u0061":3}`, true, 1, -1, 7, 1},
		{`{"\u0061":1,"a":3}`, true, 1, -1, 12, 1},
		{`{"\u0061b":1,"a\u0062":3,"ab":1}`, true, 1, -1, 13, 1},
		{`{"a":{"a":{"a":1}}}`, true, 3, -1, -1, 0},
		{`{"a":{"b":1},"c":{"b":1},"d":[{"b":1},{"b":2}]}`, true, 3, -1, -1, 0},
		{`{"a":{"b":{"c":1,"c":2}}}`, true, 3, -1, 17, 3},
		{`{"a":{"b":{"d":{"c":1,"c":2}}}}`, true, 4, -1, -1, 0},
		{`[[{"c":1,"c":2}]]`, false, 3, -1, 9, 3},
		{`{"x":{"y":0},"z":{"y":0,"y":1},"x":1}`, true, 2, -1, 24, 2},
		{`{"":1,"":2}`, true, 1, -1, 6, 1},
		{`{"\ud800":1,"\ud801":2}`, true, 1, 2, -1, 0},
		{"{\"\xff\":1,\"\xfe\":2}", true, 1, -1, -1, 0},
		{`{"abcdefgh":1,"abcdefgh\u0000":2,"abcdefg":3,"abcdefghabcdefgh":4}`, true, 1, -1, -1, 0},
	}
	s := NewScanner(mustCompile(wanted...))
	spans := make([]Span, len(wanted))
	for _, tt := range tests {
		v := s.Scan([]byte(tt.line), spans)
		if v.Object != tt.object || v.Depth != tt.depth || v.Surrogate != tt.surrogate ||
			v.Duplicate != tt.duplicate || v.DuplicateDepth != tt.dupDepth {
			t.Errorf("%q: %+v, want %+v", tt.line, v, tt)
		}
	}
}

func TestScanSpans(t *testing.T) {
	paths := []string{"type", "payload", "payload.type", "payload.item.id", "a.b.c.d.e", "日本", "list.[0].x", "list.[0]"}
	tests := []struct {
		line string
		want []string
	}{
		{
			`{"type":"x","payload":{"type":"y","item":{"id":5}}}`,
			[]string{`"x"`, `{"type":"y","item":{"id":5}}`, `"y"`, `5`, ``, ``},
		},
		{
			`{"payload": [ {"type":1} ] , "type" : null }`,
			[]string{`null`, `[ {"type":1} ]`, ``, ``, ``, ``},
		},
		{
			`{"t\u0079pe":true,"\u65e5本":"e\u0301"}`,
			[]string{`true`, ``, ``, ``, ``, `"e\u0301"`},
		},
		{
			`{"a":{"b":{"c":{"e":0,"d":{"e":[1,{"e":2}]}}}},"日本":-1.5e3}`,
			[]string{``, ``, ``, ``, `[1,{"e":2}]`, `-1.5e3`},
		},
		{`{"type":1,"type":2}`, []string{`2`, ``, ``, ``, ``, ``}},
		{
			`{"payload":{"type":1,"item":{"id":2}},"payload":{"type":3}}`,
			[]string{``, `{"type":3}`, `3`, ``, ``, ``},
		},
		{`{"payload":{"type":1},"payload":null}`, []string{``, `null`, ``, ``, ``, ``}},
		{
			`{"type":"x","payload":{"type":"y","item":{"id":5},"z":`,
			[]string{`"x"`, ``, `"y"`, `5`, ``, ``},
		},
		{`[{"type":1}]`, []string{``, ``, ``, ``, ``, ``}},
		{`{"list":[{"x":1},{"x":2}]}`, []string{``, ``, ``, ``, ``, ``, `1`, `{"x":1}`}},
		{`{"list":[[{"x":1}],{"x":2}]}`, []string{``, ``, ``, ``, ``, ``, ``, `[{"x":1}]`}},
		{`{"list":[]}`, []string{``, ``, ``, ``, ``, ``, ``, ``}},
		{`{"list":{"0":{"x":1},"[0]":{"x":1}}}`, []string{``, ``, ``, ``, ``, ``, ``, ``}},
		{`{"list":[{"x":1}],"list":[3]}`, []string{``, ``, ``, ``, ``, ``, ``, `3`}},
		{`{"Type":1,"typ":2,"types":3,"payload.type":4}`, []string{``, ``, ``, ``, ``, ``}},
	}
	s := NewScanner(mustCompile(paths...))
	spans := make([]Span, len(paths))
	for _, tt := range tests {
		s.Scan([]byte(tt.line), spans)
		for i, p := range paths {
			want := ""
			if i < len(tt.want) {
				want = tt.want[i]
			}
			if got := string(spans[i].Of([]byte(tt.line))); got != want {
				t.Errorf("%s: %s is %q, want %q", tt.line, p, got, want)
			}
		}
	}
}

func TestCompileErrors(t *testing.T) {
	for _, paths := range [][]string{{""}, {"a..b"}, {".a"}, {"a."}, {"a", "b", "a"}} {
		if _, err := Compile(paths...); err == nil {
			t.Errorf("%q: no error", paths)
		}
	}
}

// Many keys in one object take the way through the table, in every watched
// object at once.
func TestScanManyKeys(t *testing.T) {
	for _, n := range []int{fewKeys - 1, fewKeys, fewKeys + 1, 5000, mostKeys + 10} {
		for _, again := range []int{-1, 0, n / 2, n - 1} {
			if again >= mostKeys*6/7 {
				continue // too late to be compared
			}
			var b strings.Builder
			dup := -1
			member := func(i int) {
				if b.Len() > 1 {
					b.WriteByte(',')
				}
				if i%7 == 3 {
					b.WriteString(`"\u006b` + strings.Repeat("0", i%19) + strconv.Itoa(i) + `":{"x":{"y":1}}`)
				} else {
					b.WriteString(`"k` + strings.Repeat("0", i%19) + strconv.Itoa(i) + `":0`)
				}
			}
			b.WriteByte('{')
			for i := range n {
				member(i)
			}
			if again >= 0 {
				dup = b.Len() + 1
				member(again)
			}
			b.WriteByte('}')
			s := NewScanner(nil)
			for range 2 {
				v := s.Scan([]byte(b.String()), nil)
				if v.Fault != None || v.Duplicate != dup {
					t.Errorf("%d keys, key %d again: %+v, want duplicate at %d", n, again, v, dup)
				}
			}
		}
	}
}

func TestScanDeep(t *testing.T) {
	const n = 3_000_000
	s := NewScanner(nil)
	for _, tt := range []struct {
		line  string
		fault Fault
		at    int
	}{
		{strings.Repeat("[", n), Truncated, n},
		{strings.Repeat("[", n) + strings.Repeat("]", n), None, 0},
		{strings.Repeat("[", n) + strings.Repeat("]", n-100) + "}", Syntax, 2*n - 100},
		{strings.Repeat(`{"":`, n) + "0" + strings.Repeat("}", n), None, 0},
		{strings.Repeat(`[{"":`, n/2) + "0" + strings.Repeat("}]", n/2), None, 0},
		{strings.Repeat(`[{"":`, n/2) + "0" + strings.Repeat("}]", n/2-40) + "]", Syntax, n/2*5 + 1 + n - 80},
	} {
		v := s.Scan([]byte(tt.line), nil)
		if v.Fault != tt.fault || v.At != tt.at || v.Depth != n {
			t.Errorf("%.10q: %+v, want %v at %d, depth %d", tt.line, v, tt.fault, tt.at, n)
		}
		if len(s.kinds.blocks) > keptKinds {
			t.Errorf("the stack is kept: %d blocks", len(s.kinds.blocks))
		}
	}
}

func TestScanAllocates(t *testing.T) {
	s := NewScanner(mustCompile(wanted...))
	spans := make([]Span, len(wanted))
	lines := append([]string{strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)}, seedLines...)
	many := "{"
	for i := range 200 {
		many += `"k` + strconv.Itoa(i) + `":0,`
	}
	lines = append(lines, many+`"end":0}`)
	for _, l := range lines {
		line := []byte(l)
		if n := testing.AllocsPerRun(10, func() { s.Scan(line, spans) }); n > 0 {
			t.Errorf("%.40q: %v allocations", l, n)
		}
	}
}
