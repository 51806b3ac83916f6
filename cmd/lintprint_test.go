package cmd

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestSummaryOfMendable: what the last line says can be mended is what a repair mends: nothing of a session of which no copy
// can be made.
func TestSummaryOfMendable(t *testing.T) {
	rule := lint.Rules[0]
	for _, c := range []struct {
		summary lint.Summary
		fixes   []lint.Fix // NoFix comes with the option, if there is one
		want    string
		option  string
	}{
		{lint.Summary{}, []lint.Fix{lint.Exact, lint.StandIn}, "1 session is damaged: it resumes without a part of it; 2 findings, all of which can be repaired", ""},
		{lint.Summary{}, []lint.Fix{lint.Exact, lint.NoFix}, "1 session is damaged: it resumes without a part of it; 1 of 2 findings can be repaired", ""},
		{lint.Summary{}, []lint.Fix{lint.NoFix, lint.NoFix}, "1 session is damaged: it resumes without a part of it; 2 findings, none of which can be repaired", ""},
		{lint.Summary{TooLong: true}, []lint.Fix{lint.Exact, lint.StandIn}, "1 session is damaged: it resumes without a part of it; 2 findings, none of which can be repaired", ""},
		{lint.Summary{TooLong: true}, []lint.Fix{lint.Exact}, "1 session is damaged: it resumes without a part of it; 1 finding, which can't be repaired", ""},
		{lint.Summary{}, []lint.Fix{lint.NoFix}, "1 session is damaged: it resumes without a part of it; 1 finding, which can be repaired with --x", "--x"},
		{lint.Summary{}, []lint.Fix{lint.NoFix, lint.NoFix}, "1 session is damaged: it resumes without a part of it; 2 findings, all of which can be repaired with --x", "--x"},
		{lint.Summary{}, []lint.Fix{lint.NoFix, lint.Exact}, "1 session is damaged: it resumes without a part of it; 1 of 2 findings can be repaired, 1 more with --x", "--x"},
		{lint.Summary{TooLong: true}, []lint.Fix{lint.NoFix}, "1 session is damaged: it resumes without a part of it; 1 finding, which can't be repaired", "--x"},
	} {
		var out bytes.Buffer
		p := &textPrinter{w: bufio.NewWriter(&out), st: newStyles(false)}
		res := &lint.Result{Summary: c.summary}
		for _, fix := range c.fixes {
			res.Findings = append(res.Findings, lint.Finding{Rule: rule, Impact: lint.Loses, Fix: fix, Option: c.option})
		}
		if err := p.session(linted{target: target{path: "s.jsonl"}, result: res}); err != nil {
			t.Fatal(err)
		}
		if err := p.end(); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(out.String(), c.want+"\n") {
			t.Errorf("%v: %q", c.fixes, out.String())
		}
	}
}
