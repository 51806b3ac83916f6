package rules

import "testing"

// TestFilled: each hole in a call's arguments is filled, and all of them together are no longer than the NULs that stood there.
func TestFilled(t *testing.T) {
	const left, told = `{"a": "so", "n": 1, "b": "wrds"}`, `{"b":"words","a":"some"}`
	for nuls, want := range []string{0: "", 1: `{"a": "so", "n": 1, "b": "words"}`, 3: `{"a": "some", "n": 1, "b": "words"}`} {
		if l := (lostArguments{text: left, nuls: nuls}); want != "" && l.filled(told) != want {
			t.Errorf("%d NULs: %s, want %s", nuls, l.filled(told), want)
		}
	}
	if whole := (&lostArguments{}).filled(told); whole != told {
		t.Errorf("of none that is left: %s", whole)
	}
}
