package session

import (
	"slices"
	"testing"
)

// TestTurns: a prompt begins a turn only where the client does not write where turns begin.
func TestTurns(t *testing.T) {
	prompt, start := Record{Kind: Message, Boundary: true}, Record{Kind: TurnStart}
	answer, end := Record{Kind: Message}, Record{Kind: TurnEnd}
	for _, c := range []struct {
		what    string
		records []Record
		begins  []bool
	}{
		{"prompts alone", []Record{prompt, answer, end, prompt}, []bool{true, false, false, true}},
		{"as the client writes", []Record{start, prompt, answer, end, prompt}, []bool{true, false, false, false, false}},
		{"an older session that a newer client went on with", []Record{prompt, start, prompt}, []bool{true, true, false}},
	} {
		var turns Turns
		var got []bool
		for _, rec := range c.records {
			turns.See(&rec)
			got = append(got, rec.Begins)
		}
		if !slices.Equal(got, c.begins) {
			t.Errorf("%s: %v, want %v", c.what, got, c.begins)
		}
	}
}

// TestOpenCalls: an output answers a call of its own family, once; the rest is listed in the order of the file.
func TestOpenCalls(t *testing.T) {
	call := func(family Family, id string) *Record { return &Record{Family: family, CallID: []byte(id)} }
	var open OpenCalls[string]
	if _, ok := open.Answer(call(Function, "a")); ok {
		t.Error("none is open")
	}
	open.Open(call(Function, "a"), "first")
	open.Open(call(Custom, "a"), "second")
	open.Open(call(Function, "b"), "third")
	if twin, had := open.Open(call(Function, "b"), "fourth"); twin != "third" || !had {
		t.Errorf("twin %q", twin)
	}
	if told := open.Told(call(NoFamily, "a")); !slices.Equal(told, []string{"first", "second"}) {
		t.Errorf("told %q", told)
	}
	if what, ok := open.Answer(call(Custom, "a")); what != "second" || !ok {
		t.Errorf("answered %q", what)
	}
	if _, ok := open.Answer(call(Custom, "a")); ok {
		t.Error("answered twice")
	}
	if all := open.All(); !slices.Equal(all, []string{"first", "fourth"}) || open.Len() != 2 {
		t.Errorf("open %q", all)
	}
	if open.Clear(); open.Len() > 0 {
		t.Error("not cleared")
	}
}
