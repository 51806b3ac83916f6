package format

import "testing"

func TestPrints(t *testing.T) {
	key := Key{Thread: "019A", Rule: "torn-tail", Record: "response_item/message", IDs: "call_1"}
	of := func(k Key) string { return new(Prints).Of(k) }
	lower := key
	lower.Thread = "019a"
	if of(key) != of(lower) {
		t.Error("the case of a thread's id makes a difference")
	}
	seen := map[string]bool{of(key): true}
	for _, k := range []Key{
		{"019b", key.Rule, key.Record, key.IDs, 0},
		{key.Thread, "open-turn", key.Record, key.IDs, 0},
		{key.Thread, key.Rule, "event_msg/error", key.IDs, 0},
		{key.Thread, key.Rule, key.Record, "call_2", 0},
		{key.Thread, key.Rule, key.Record + " ", key.IDs, 0},
		{key.Thread, key.Rule, key.Record, key.IDs, 7},
	} {
		if p := of(k); seen[p] || len(p) != 32 {
			t.Errorf("%+v: %s", k, p)
		}
		seen[of(k)] = true
	}
	var p Prints
	if first, second := p.Of(key), p.Of(key); first == second {
		t.Error("two findings with one key are not told apart")
	}
}
