package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOrdinalReuse: whether the next number will be taken hangs on the client, on the numbers in the token counts, and on what
// stands behind them.
func TestOrdinalReuse(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(fixtures, "codex", "rules", "ordinal-reuse", "bad.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	bad := string(text)
	fractions := strings.NewReplacer("12.5", "12", "26.0", "26")
	readable := bad + `{"timestamp":"2026-11-18T09:30:04.000Z","ordinal":24,"type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":null}}` + "\n"
	for name, test := range map[string]struct {
		session, client string
		live, want      bool
	}{
		"told":                     {session: bad, client: "0.150.0", want: true},
		"the first with ordinals":  {session: bad, client: "0.145.0", want: true},
		"the last with the bug":    {session: bad, client: "0.153.4", want: true},
		"mended":                   {session: bad, client: "0.154.0"},
		"writes no ordinals":       {session: bad, client: "0.144.0"},
		"no client named":          {session: bad},
		"being written":            {session: bad, client: "0.150.0", live: true},
		"whole numbers":            {session: fractions.Replace(bad), client: "0.150.0"},
		"a point in a name":        {session: strings.ReplaceAll(fractions.Replace(bad), `"limit_name":null`, `"limit_name":"a \"1.5\" limit"`), client: "0.150.0"},
		"a readable record behind": {session: readable, client: "0.150.0"},
	} {
		res, err := Session(t.Context(), bytes.NewReader([]byte(test.session)), Options{Live: test.live, For: map[string]string{"codex": test.client}})
		if err != nil {
			t.Fatal(err)
		}
		told := false
		for _, f := range res.Findings {
			told = told || f.Rule.Name == "ordinal-reuse"
		}
		if told != test.want {
			t.Errorf("%s: %t", name, told)
		}
	}
}

// TestCopiesHideNoLoss: of a call whose output is lost that is told, too, if its records stand there twice. A repair of that rule alone relies on it.
func TestCopiesHideNoLoss(t *testing.T) {
	text, err := os.ReadFile("../fixtures/codex/0.155.1/code_killed/rollout-2026-11-22T01-08-17-01a200cb-fbbd-7b71-8867-f5a405236d54.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines = lines[:len(lines)-1] // nothing stands behind the last newline
	text = append(text, bytes.Join(lines[len(lines)-3:], nil)...)
	res, err := Session(t.Context(), bytes.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range []string{"doubled-item", "call-without-output"} {
		if !slices.ContainsFunc(res.Findings, func(f Finding) bool { return f.Rule.Name == rule && f.Impact >= Loses }) {
			t.Errorf("no %s", rule)
		}
	}
}
