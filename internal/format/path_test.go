package format

import (
	"net/url"
	"testing"
)

// TestURI: no name of a file is taken for a scheme, a fragment or a query.
func TestURI(t *testing.T) {
	a := About{Dir: "/work"}
	for path, want := range map[string]string{
		"x.jsonl": "x.jsonl", "x:y,z.jsonl": "./x:y,z.jsonl", "::error::bare.jsonl": "./::error::bare.jsonl", "a b#c?d%.jsonl": "a%20b%23c%3Fd%25.jsonl",
		"/work/in/x.jsonl": "in/x.jsonl", "/else/x:y.jsonl": "file:///else/x:y.jsonl", "../x.jsonl": "file:///x.jsonl",
	} {
		got, relative := a.uri(path)
		u, err := url.Parse(got)
		if got != want || err != nil || relative != (u.Scheme == "") {
			t.Errorf("%s: %s (%v), want %s; %v", path, got, relative, want, err)
		}
	}
}
