package session

import "testing"

func TestVersionBefore(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"2.1.2", "2.1.30", true},
		{"2.1.30", "2.1.2", false},
		{"2.1.2", "2.1.2", false},
		{"1.0.128", "2.0.29", true},
		{"0.84", "0.84.4", true},
		{"0.84.2-beta", "0.84.4", true},
		{"0.84.2-beta.1", "0.84.2", false},
		{"1", "1.0.0", false},
		{"", "1.0.0", false},
		{"x", "1.0.0", false},
		{"1.0.0", "", false},
		{"99999999999999999999", "1", false},
	} {
		if got := VersionBefore(c.a, c.b); got != c.want {
			t.Errorf("%q before %q: %v", c.a, c.b, got)
		}
	}
}
