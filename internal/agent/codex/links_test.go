package codex

import "testing"

// TestSame: a record is the same whatever its ordinal; an empty line, which can have none, is no record.
func TestSame(t *testing.T) {
	const is = `{"timestamp":"2026-11-18T09:30:01.000Z","ordinal":7,"type":"event_msg"}`
	for was, want := range map[string]bool{
		is: true,
		`{"timestamp":"2026-11-18T09:30:01.000Z","type":"event_msg"}`:             true,
		`{"timestamp":"2026-11-18T09:30:01.000Z","ordinal":6,"type":"event_msg"}`: true,
		`{"timestamp":"2026-11-18T09:30:02.000Z","ordinal":7,"type":"event_msg"}`: false,
		"": false, " ": false, "{": false, "1": false,
	} {
		if got := (&numberer{on: true}).Same([]byte(was), []byte(is)); got != want {
			t.Errorf("%q: %v", was, got)
		}
	}
}
