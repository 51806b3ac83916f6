package lint

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hist-cli/hist/internal/testkit/testfile"
)

// lastAnswer is the newest answer with an id in a session, of which a second copy would be a duplicate.
func lastAnswer(t *testing.T, text []byte) []byte {
	t.Helper()
	lines := bytes.SplitAfter(text, []byte("\n"))
	for _, line := range slices.Backward(lines) {
		if bytes.Contains(line, []byte(`"role":"assistant"`)) && bytes.Contains(line, []byte(`"id":"msg_`)) && bytes.Contains(line, []byte(`"response_item"`)) {
			return line
		}
	}
	t.Fatal("there is no answer")
	return nil
}

// TestAnsweredSince: an answer that came after the error says that the API takes the history again.
func TestAnsweredSince(t *testing.T) {
	answer := `{"timestamp":"2026-11-18T09:31:00.000Z","type":"response_item","payload":{"type":"message","id":"msg_9","role":"assistant","content":[{"type":"output_text","text":"Back again."}]}}` + "\n"
	for _, rule := range []*Rule{FindRule("undecryptable"), FindRule("reasoning-order"), FindRule("empty-content")} {
		refused := readFixture(t, filepath.Join(fixtures, "codex", "rules", rule.Name, "bad.jsonl"))
		for _, c := range []struct {
			name  string
			text  []byte
			found bool
		}{
			{"refused", refused, true},
			{"answered since", append(bytes.Clone(refused), answer...), false},
			{"a copy of an answer", append(bytes.Clone(refused), lastAnswer(t, refused)...), true},
		} {
			res, err := Session(context.Background(), bytes.NewReader(c.text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if found := slices.ContainsFunc(res.Findings, func(f Finding) bool { return f.Rule == rule }); found != c.found {
				t.Errorf("%s, %s: found: %v\n%s", rule.Name, c.name, found, testfile.Findings(res.Findings))
			}
		}
	}
}
