package session

import (
	"strings"
	"testing"
)

// TestObjectAround finds the object that a key stands in, and no byte more.
func TestObjectAround(t *testing.T) {
	for _, line := range []string{
		`{"a":[{"b":1},<{"key":2}>],"c":3}`,
		`{"a":<{"x":"}]\"","key":{"y":[]},"z":"{"}>,"c":{}}`,
		`<{"a":[1,{"b":[]}],"key":"["}>`,
	} {
		start, end := strings.Index(line, "<"), strings.Index(line, ">")-1
		plain := strings.NewReplacer("<", "", ">", "").Replace(line)
		s, e, ok := ObjectAround([]byte(plain), 0, strings.Index(plain, `"key"`))
		if !ok || s != start || e != end {
			t.Errorf("%s: %d to %d, want %d to %d (%v)", plain, s, e, start, end, ok)
		}
	}
	if _, _, ok := ObjectAround([]byte(`"key"`), 0, 0); ok {
		t.Error("an object around what stands in none")
	}
}

// TestDropMember: whatever is in a key, the member goes as a whole and nothing else does.
func TestDropMember(t *testing.T) {
	for _, c := range []struct{ line, parent, path, want string }{
		{`{"a":1,"b":{"c":2,"d":3},"e":4}`, "b", "c", `{"a":1,"b":{"d":3},"e":4}`},
		{`{"a":1,"b":{"c":2,"d":3},"e":4}`, "b", "d", `{"a":1,"b":{"c":2},"e":4}`},
		{`{"a":1,"b":{"c":2}}`, "b", "c", `{"a":1,"b":{}}`},
		{`{"a":1,"b":2}`, "", "none", `{"a":1,"b":2}`},
		{`{ "a" : "1" , "gen_ai.system" : "x" , "b" : 2 }`, "", `gen_ai\.system`, `{ "a" : "1" ,  "b" : 2 }`},
		{`{"type":"tool_use","name":"Bash","a.b.c.d.e.f.g.h":":\",","input":{}}`, "", `a\.b\.c\.d\.e\.f\.g\.h`, `{"type":"tool_use","name":"Bash","input":{}}`},
		{`{"a":"1","q\"\"q:":"x"}`, "", `q\"\"q:`, `{"a":"1"}`},
	} {
		if got := string(Splice([]byte(c.line), DropMember([]byte(c.line), c.parent, c.path))); got != c.want {
			t.Errorf("%s without %s: %s, want %s", c.line, c.path, got, c.want)
		}
	}
}
