package repair

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/lint"
)

// withHistory is a session whose compaction holds these items, with metadata of each.
func withHistory(t *testing.T, items ...string) []byte {
	t.Helper()
	text, err := os.ReadFile("../fixtures/codex/rules/bad-compaction/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var metadata []string
	for i := range items {
		metadata = append(metadata, fmt.Sprintf(`{"user_input_order":%d}`, i))
	}
	payload := fmt.Sprintf(`"type":"compacted","payload":{"message":"","replacement_history":[%s],"replacement_history_metadata":[%s]}}`,
		strings.Join(items, ", "), strings.Join(metadata, " ,"))
	return regexp.MustCompile(`"type":"compacted".*`).ReplaceAllLiteral(text, []byte(payload))
}

const (
	heldUser      = `{"type":"message","role":"user","content":[{"type":"input_text","text":"Which files are here?"}]}`
	heldReasoning = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"xyz"}`
	heldAnswer    = `{"type":"message","id":"msg_7","role":"assistant","content":[{"type":"output_text","text":"One."}]}`
	heldImage     = `{"type":"message","id":"msg_9","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}`
)

// TestItemsOfACompaction: whichever of a compaction's items go, their metadata goes with them, and what else is wrong
// with one that goes is of no account.
func TestItemsOfACompaction(t *testing.T) {
	for _, test := range []struct {
		items  []string
		codex  string
		choice Choice
		stay   string // numbers of the items that stay
	}{
		{[]string{heldUser, heldReasoning, heldAnswer, heldAnswer}, "", Choice{}, "0 2"},
		{[]string{heldUser, heldReasoning, heldAnswer, heldAnswer}, "", Choice{Rules: []string{"duplicate-item-id"}}, "0 1 2"},
		{[]string{heldUser, heldReasoning, heldAnswer, heldAnswer}, "", Choice{Rules: []string{"foreign-reasoning"}}, "0 2 3"},
		{[]string{heldReasoning, heldAnswer, heldAnswer}, "", Choice{}, "1"},
		{[]string{heldUser, heldImage, heldImage}, "0.144.2", Choice{}, "0 1"},
		{[]string{heldUser, heldImage, heldImage}, "", Choice{Tidy: true}, "0 1"},
	} {
		opts := lint.Options{For: map[string]string{"codex": test.codex}}
		repaired, _, err := repairAs(withHistory(t, test.items...), opts, test.choice)
		if err != nil {
			t.Errorf("%v: %v", test.choice, err)
			continue
		}
		compaction := regexp.MustCompile(`\{.*"type":"compacted".*`).Find(repaired)
		var stay []string
		for _, number := range gjson.GetBytes(compaction, "payload.replacement_history_metadata.#.user_input_order").Array() {
			stay = append(stay, number.Raw)
		}
		if got := strings.Join(stay, " "); got != test.stay || int(gjson.GetBytes(compaction, "payload.replacement_history.#").Int()) != len(stay) {
			t.Errorf("%v: %q stay, want %q: %s", test.choice, got, test.stay, compaction)
		}
		left, err := lint.Session(t.Context(), bytes.NewReader(repaired), opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range left.Findings {
			if f.Rule.Name == "bad-compaction" {
				t.Errorf("%v: the copy has %s", test.choice, f.Message)
			}
		}
	}
}

// TestCompactionThatHoldsNothing: to make a client read a compaction without any history would make it forget all that
// was before.
func TestCompactionThatHoldsNothing(t *testing.T) {
	unreadable := `{"type":"message","role":"user"}`
	for payload, fix := range map[string]lint.Fix{
		`{}`: lint.NoFix,
		`{"message":null,"replacement_history":[]}`:                                            lint.NoFix,
		`{"message":{"text":"all that was"}}`:                                                  lint.NoFix,
		`{"message":"","replacement_history":[7]}`:                                             lint.NoFix,
		`{"replacement_history":[` + unreadable + `]}`:                                         lint.NoFix,
		`{"message":"","replacement_history":[],"replacement_history_metadata":[{}]}`:          lint.NoFix,
		`{"message":null,"replacement_history":[` + heldUser + `]}`:                            lint.Exact,
		`{"message":{"text":"all that was"},"replacement_history":[` + heldUser + `]}`:         lint.SetAside,
		`{"message":"","replacement_history":[` + heldUser + `,` + unreadable + `,` + `null]}`: lint.SetAside,
	} {
		text := regexp.MustCompile(`"type":"compacted".*`).ReplaceAllLiteral(withHistory(t), []byte(`"type":"compacted","payload":`+payload+`}`))
		repaired, rep, err := repairAs(text, lint.Options{}, Choice{})
		if err != nil {
			t.Errorf("%s: %v", payload, err)
			continue
		}
		res, err := lint.Session(t.Context(), bytes.NewReader(text), lint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, f := range res.Findings {
			if f.Rule.Name != "bad-compaction" {
				continue
			}
			found++
			if f.Fix != fix {
				t.Errorf("%s: fix %s, want %s: %s", payload, f.Fix, fix, f.Message)
			}
		}
		if found == 0 || fix == lint.NoFix && (!bytes.Equal(repaired, text) || rep.History.After < rep.History.Before) {
			t.Errorf("%s: %d findings, history %+v", payload, found, rep.History)
		}
	}
}

// TestBeforeACompactionThatIsSkipped: what stands before a compaction that the client skips, and that can't be mended, is
// sent, so that its damage counts.
func TestBeforeACompactionThatIsSkipped(t *testing.T) {
	text := regexp.MustCompile(`"type":"compacted".*`).ReplaceAllLiteral(withHistory(t), []byte(`"type":"compacted","payload":{}}`))
	text = regexp.MustCompile(`(?m)^.*"type":"function_call_output","id":"fco_1".*\n`).ReplaceAllLiteral(text, nil)
	res, err := lint.Session(t.Context(), bytes.NewReader(text), lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Findings {
		if f.Rule.Name == "call-without-output" && f.Impact == lint.Loses && f.Fix != lint.NoFix {
			return
		}
	}
	t.Errorf("the lost output is not reported: %v", res.Findings)
}
