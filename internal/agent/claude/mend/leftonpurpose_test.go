package mend

import (
	"testing"

	"github.com/hist-cli/hist/internal/agent/claude/content"
)

// TestIdlessParts: of two prompts whose answers have no ids, neither is the other written anew, though the model said the same.
func TestIdlessParts(t *testing.T) {
	turn := func(words uint64, anew bool) (prompt, answer *node) {
		prompt = &node{Facts: content.Facts{Role: content.RoleUser, Message: words, When: 10, Rare: content.Nothing}, mending: &mending{anew: anew}}
		answer = &node{Facts: content.Facts{Role: content.RoleAssistant, Message: 7, When: 11, Rare: content.Nothing}, mending: &mending{anew: anew}, up: prompt}
		prompt.first = answer
		return prompt, answer
	}
	rake, _ := turn(1, false)
	for _, anew := range []bool{false, true} {
		if _, burnt := turn(2, anew); (&trunk{tip: burnt}).hasAnew(rake) {
			t.Error("another prompt is taken for the same")
		}
	}
}
