package lint

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
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

// TestMendedByAnotherRule: of a record that one rule mends, an error that another rule knows is not reported a second time.
func TestMendedByAnotherRule(t *testing.T) {
	text := readFixture(t, filepath.Join(fixtures, "claude", "rules", "empty-text", "bad-all-prompts.jsonl"))
	res, err := Session(context.Background(), bytes.NewReader(text), Options{
		Error:  "API Error: 400 messages.1: all messages must have non-empty content except for the optional final assistant message",
		Reopen: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if refused := FindRule("refused"); len(res.Findings) == 0 || slices.ContainsFunc(res.Findings, func(f Finding) bool { return f.Rule == refused }) {
		t.Errorf("%s", testfile.Findings(res.Findings))
	}
}

// TestEncryptedDocument: of two documents that were answered, the one that is encrypted is what an API refuses for that.
func TestEncryptedDocument(t *testing.T) {
	var text bytes.Buffer
	last := "null"
	for i, pdf := range []string{"%PDF-1.4 trailer<</Root 1 0 R>>\n%%EOF\n", "%PDF-1.4 trailer<</Root 1 0 R/Encrypt 2 0 R>>\n%%EOF\n"} {
		fmt.Fprintf(&text, `{"parentUuid":%s,"isSidechain":false,"version":"2.1.332","type":"user","message":{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"%s"}}]},"uuid":"u%d","timestamp":"2026-11-18T10:0%[3]d:00.000Z"}`+"\n", last, base64.StdEncoding.EncodeToString([]byte(pdf)), i)
		fmt.Fprintf(&text, `{"parentUuid":"u%d","isSidechain":false,"version":"2.1.332","type":"assistant","message":{"id":"msg_%[1]d","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"read"}]},"uuid":"a%[1]d","timestamp":"2026-11-18T10:0%[1]d:09.000Z"}`+"\n", i)
		last = fmt.Sprintf(`"a%d"`, i)
	}
	res, err := Session(context.Background(), bytes.NewReader(text.Bytes()), Options{
		Error:  "API Error: 400 The PDF specified is password protected.",
		Reopen: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil },
	})
	if err != nil || len(res.Findings) != 1 || res.Findings[0].Pos.Line != 3 || res.Findings[0].Fix != StandIn {
		t.Errorf("%v\n%s", err, testfile.Findings(res.Findings))
	}
}
