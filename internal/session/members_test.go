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
