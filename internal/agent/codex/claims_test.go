package codex

import (
	"strings"
	"testing"
)

// A rollout is told by any record of the client's, wherever in its beginning that stands, and not by a text that names one.
func TestClaims(t *testing.T) {
	for _, typ := range []string{"session_meta", "response_item", "event_msg", "turn_context", "compacted"} {
		word := `"` + typ + `"`
		for _, head := range []string{word, `{"type":` + word + `,`, "{\"m_p\":\"_m\"}\n{" + word, strings.Repeat("_m", 70) + word} {
			if !Agent.Claims("copy.jsonl", []byte(head)) {
				t.Errorf("%s is not claimed", head)
			}
		}
		for _, head := range []string{word[:len(word)-1], word[1:], `\"` + typ + `\"`, ""} {
			if Agent.Claims("copy.jsonl", []byte(head)) {
				t.Errorf("%s is claimed", head)
			}
		}
	}
}
