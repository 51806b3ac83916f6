package normalize

import "testing"

// TestFills: a part of a text is lost where NULs stand only if it is no longer than they are.
func TestFills(t *testing.T) {
	for _, c := range []struct {
		whole, text string
		nuls        int
		want        bool
	}{
		{"mow the grass", "mow grass", 4, true},
		{"mow the grass", "the grass", 6, true},
		{"mow the grass", "mow grass", 3, false},
		{"yes, and mow the grass", "yes", 1, false},
		{"mow the grass", "mow the grass", 4, false},
		{"mow the grass", "cut grass", 4, false},
	} {
		if got := Fills(c.whole, c.text, c.nuls); got != c.want {
			t.Errorf("%q fills %q with %d NULs: %t", c.whole, c.text, c.nuls, got)
		}
	}
}
