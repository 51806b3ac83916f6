package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/testkit/damage"
	"github.com/hist-cli/hist/internal/testkit/testfile"
)

// TestRefusalMatrix: for each text that names a place or an id, the record with the fault is found in a session that holds the text as
// its client records it. How many are not found may only shrink.
func TestRefusalMatrix(t *testing.T) {
	const mayMiss = 1 // that another maker's API wants its own reasoning back is no fault of the session
	missed, rows := 0, map[int]bool{}
	for _, c := range damage.RefusedSessions() {
		rows[c.Row] = true
		if found := api.Explain(c.Error); !slices.ContainsFunc(found, func(r api.Refusal) bool { return r.Row == c.Row }) {
			t.Errorf("row %d: %s is not recognised", c.Row, c.Error)
		}
		res, err := Session(context.Background(), bytes.NewReader(c.Data), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(res.Findings, func(f Finding) bool {
			named := strings.HasSuffix(f.Message, fmt.Sprintf("names the item on line %d", c.Line))
			dropped := c.Row == 68 || c.Row == 79 // the newest client does not send it: a note says so
			return named || f.Covers(c.Line) && (f.Impact != Notes || f.Fix != NoFix || dropped)
		}) {
			missed++
			t.Logf("row %d: nothing is found on line %d:\n%s", c.Row, c.Line, testfile.Findings(res.Findings))
		}
	}
	t.Logf("%d texts, %d not found", len(rows), missed)
	if missed > mayMiss {
		t.Errorf("%d records are not found, %d may be", missed, mayMiss)
	}
}

// TestPassingErrors: an error that passes by itself, one that was answered since, or one whose fault is gone, is no finding.
func TestPassingErrors(t *testing.T) {
	all := damage.RefusedSessions()
	c := all[slices.IndexFunc(all, func(c damage.Refused) bool { return c.Row == 17 })]
	lasts := string(c.Data)
	sound := strings.Replace(lasts, `,"namespace":"beds"`, "", 1)
	says := func(words string) string {
		of := func(s string) string { text, _ := json.Marshal(s); return string(text) }
		return strings.Replace(sound, of(c.Error), of(words), 1)
	}
	answer := `{"timestamp":"2026-11-24T08:11:00.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Back again."}]}}` + "\n"
	for name, c := range map[string]struct {
		text  string
		found bool
	}{
		"it lasts":       {lasts, true},
		"answered since": {lasts + answer, false},
		"mended since":   {sound, false},
		"capacity":       {says("Selected model is at capacity. Please try a different model."), false},
		"a server error": {says("unexpected status 502 Bad Gateway"), false},
		"a limit":        {says("You have hit your usage limit."), false},
		"a model":        {says("The 'x' model is not supported when using Codex with a ChatGPT account."), false},
		"once, unsaid":   {says(`{"detail":"Bad Request"}`), false},
		"not known":      {says("words that nobody knows"), false},
	} {
		res, err := Session(context.Background(), strings.NewReader(c.text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for i := range res.Findings {
			found = found || res.Findings[i].Impact == Rejects
		}
		if found != c.found {
			t.Errorf("%s: found %t\n%s", name, found, testfile.Findings(res.Findings))
		}
	}
}

// TestNamespaceOfTwo: a call without a namespace gets none of several that have a tool of its name; it becomes text.
func TestNamespaceOfTwo(t *testing.T) {
	text, err := os.ReadFile("../fixtures/codex/rules/refused/bad-namespace.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		other string
		fix   Fix
	}{{"mcp__orchard", Exact}, {"mcp__meadow", SetAside}} {
		lines := strings.SplitAfter(string(text), "\n")
		pair := strings.ReplaceAll(strings.Replace(lines[5]+lines[6], "mcp__orchard", c.other, 1), "call_1", "call_9")
		res, err := Session(context.Background(), strings.NewReader(strings.Join(slices.Insert(lines, 7, pair), "")), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(res.Findings, func(f Finding) bool { return f.Rule.Name == "refused" }); i < 0 || res.Findings[i].Fix != c.fix {
			t.Errorf("beside a tool of %s:\n%s", c.other, testfile.Findings(res.Findings))
		}
	}
}
