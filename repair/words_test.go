package repair

import (
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestHistoryWords: what is lost for good, what a placeholder stands for, and what is merely sent no longer, such as a copy, are
// told apart.
func TestHistoryWords(t *testing.T) {
	const will = "the model will have "
	for want, h := range map[string]History{
		"the session holds no history for the model":                                                               {},
		will + "the only known item of the history":                                                                {Items: 1, Before: 1, After: 1},
		will + "the only known item of the history; without the repair it has 0":                                   {Items: 1, After: 1},
		will + "all 5 known items of the history":                                                                  {Items: 5, Before: 5, After: 5},
		will + "all 5 known items of the history; without the repair it has 4":                                     {Items: 5, Before: 4, After: 5},
		will + "4 of 5 known items of the history; 1 is lost":                                                      {Items: 5, Before: 4, After: 4},
		will + "4 of 5 known items of the history; 1 is no longer sent":                                            {Items: 5, Before: 5, After: 4},
		will + "4 of 5 known items of the history; 1 is lost, and the model is told so":                            {Items: 5, Before: 5, After: 4, Told: 1},
		will + "3 of 6 known items of the history; 2 are lost, and the model is told so of 1; 1 is no longer sent": {Items: 6, Before: 5, After: 3, Told: 1},
		will + "nothing of the history (5 items), because the client refuses the session as it is":                 {Items: 5, Refused: true},
		will + "3 of 6 known items of the history; without the repair it has 2; 3 are lost":                        {Items: 6, Before: 2, After: 3},
		will + "2 items of the history; records of it are missing, and nobody can tell how much they held":         {Items: 2, Before: 2, After: 2, Gap: true},
	} {
		if got := h.Words(); got != want {
			t.Errorf("%+v: %q, want %q", h, got, want)
		}
	}
}

// TestLeftOfAParent: what a fork has lost of its parent's is not among its own items, and while that is left, nobody is told that all are there.
func TestLeftOfAParent(t *testing.T) {
	w := &job{
		found: &lint.Result{Summary: lint.Summary{Items: 4, Seen: 4}},
		plan:  &plan{Rest: []*lint.Finding{{Rule: &lint.Rule{Name: "broken-lineage"}, Impact: lint.Loses, Fix: lint.StandIn, Lost: 2}}},
	}
	if got := w.history().Words(); strings.Contains(got, "all ") {
		t.Error(got)
	}
}
