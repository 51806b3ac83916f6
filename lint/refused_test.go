package lint

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"testing"
)

// TestAnsweredSince: an answer that came after the error says that the API takes the history again.
func TestAnsweredSince(t *testing.T) {
	answer := `{"timestamp":"2026-11-18T09:31:00.000Z","type":"response_item","payload":{"type":"message","id":"msg_9","role":"assistant","content":[{"type":"output_text","text":"Back again."}]}}` + "\n"
	for _, rule := range []*Rule{ruleUndecryptable, ruleReasoningOrder, ruleEmptyContent} {
		refused := readFixture(t, filepath.Join(fixtures, "rules", rule.Name, "bad.jsonl"))
		for _, c := range []struct {
			name  string
			text  []byte
			found bool
		}{
			{"refused", refused, true},
			{"answered since", append(bytes.Clone(refused), answer...), false},
		} {
			res, err := Session(context.Background(), bytes.NewReader(c.text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if found := slices.ContainsFunc(res.Findings, func(f Finding) bool { return f.Rule == rule }); found != c.found {
				t.Errorf("%s, %s: found: %v\n%s", rule.Name, c.name, found, listed(res))
			}
		}
	}
}
