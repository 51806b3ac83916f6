package relay

import (
	"testing"
)

// If hist does not understand its arguments, the session counts as not checked. Here the test's own program plays hist: it
// exits with 2 for a flag that it does not know, as hist does.
func TestAWrongQuestionIsNoAnswer(t *testing.T) {
	if err := runHist(t.Context(), []string{"hist", "-test.run=^$"}); err != nil {
		t.Errorf("an answer is taken for a failure: %v", err)
	}
	if err := runHist(t.Context(), []string{"hist", "--no-such-flag"}); err == nil || err.Error() != "exit status 2" {
		t.Errorf("a usage error is taken for an answer: %v", err)
	}
}
