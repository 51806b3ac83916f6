package rules

import "testing"

// TestWhatNow: a failed turn's advice goes by what the client named; a history that is too long is not asked again as it is.
func TestWhatNow(t *testing.T) {
	for class, want := range map[string]string{
		"server_overloaded":       ", which is temporary: resume this same thread",
		"bad_request":             ": the request was refused, and would be refused again as it is",
		"context_window_exceeded": ": the request is longer than the model takes; compact it once, or hand over to a new thread",
		"usage_limit_exceeded":    ": resume this same thread when the limit allows it",
		"unauthorized":            ": log in, then resume this same thread",
		"other":                   ": resume this same thread",
	} {
		if got := whatNow(class, ""); got != want {
			t.Errorf("%s%s, want %s", class, got, want)
		}
	}
}

// TestWhatNowByWords: "other" is what the client calls a refusal that it does not know; its words say more.
func TestWhatNowByWords(t *testing.T) {
	for words, want := range map[string]string{
		`{"detail":"Bad Request"}`:               ": the request was refused, and would be refused again as it is",
		"Unknown parameter: 'input[9].status'.":  ": the request was refused, and would be refused again as it is",
		"stream disconnected before completion":  ", which is temporary: resume this same thread",
		"You have hit your usage limit.":         ": resume this same thread when the limit allows it",
		"nothing that anybody knows the text of": ": resume this same thread",
	} {
		if got := whatNow("other", words); got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
}
