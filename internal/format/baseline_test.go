package format

import (
	"bytes"
	"maps"
	"strings"
	"testing"
)

func TestBaseline(t *testing.T) {
	f := Baseline{"aa": {"torn-tail", "loses", 0}, "bb": {"ordinal-missing", "notes", 10}}
	var text bytes.Buffer
	if err := f.Encode(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "\n    \"bb\": \"ordinal-missing notes 10\"\n") {
		t.Errorf("one finding a line is wanted: %s", &text)
	}
	got, err := DecodeBaseline(text.Bytes(), "known.json")
	if err != nil || !maps.Equal(got, f) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "[]", `{"schema":1,"findings":{}}`, `{"schema":2,"findings":{"aa":"torn-tail"}}`} {
		if _, err := DecodeBaseline([]byte(bad), "known.json"); err == nil || !strings.Contains(err.Error(), "known.json") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
