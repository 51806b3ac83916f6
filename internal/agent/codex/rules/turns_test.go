package rules

import "testing"

// TestWhatNow: a failed turn's advice goes by what the client named; a history that is too long is not asked again as it is.
func TestWhatNow(t *testing.T) {
	for class, want := range map[string]string{
		"server_overloaded":       ", which is temporary: resume this same thread",
		"bad_request":             ": the request was refused, and would be refused again as it is",
		"context_window_exceeded": ": the history is longer than the model takes; compact it once, or hand over to a new thread",
		"usage_limit_exceeded":    ": resume this same thread when the limit allows it",
		"unauthorized":            ": log in, then resume this same thread",
		"other":                   ": resume this same thread",
	} {
		if got := whatNow(class); got != want {
			t.Errorf("%s%s, want %s", class, got, want)
		}
	}
}
