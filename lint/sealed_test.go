package lint

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"testing"
)

// TestDecryptedAgain: an answer that came after the error says that the account is the old one again.
func TestDecryptedAgain(t *testing.T) {
	refused := readFixture(t, filepath.Join(fixtures, "rules", "undecryptable", "bad.jsonl"))
	answer := `{"timestamp":"2026-11-18T09:31:00.000Z","ordinal":19,"type":"response_item","payload":{"type":"message","id":"msg_9","role":"assistant","content":[{"type":"output_text","text":"Back again."}]}}` + "\n"
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
		if found := slices.ContainsFunc(res.Findings, func(f Finding) bool { return f.Rule == ruleUndecryptable }); found != c.found {
			t.Errorf("%s: found: %v\n%s", c.name, found, listed(res))
		}
	}
}
