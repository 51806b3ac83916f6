package clienttest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/testkit/damage"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

// Impact is what the model gets, and the newest client's request is its judge: what is said to be lost makes another
// request than the repaired session does, unless nothing can bring it back; of what is said to be a matter of the
// display, or of a note, the model gets the same with and without the repair.
func TestResumeImpact(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of runs of the real client; left out by -short")
	}
	paths, err := filepath.Glob("../../../fixtures/codex/rules/*/bad*.jsonl")
	if err != nil || len(paths) < 100 {
		t.Fatal(len(paths), err)
	}
	clientsSince(t, "0.169.0", func(t *testing.T, bin Binary) {
		judged := map[lint.Impact]int{}
		number := map[lint.Impact]int{} // of each impact some are shown to the client
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if sidecar(path, "flags", "") != "" || slices.Contains(byTheirWriter, row(path)) {
				continue // it is judged for an older client, or repaired as users seldom do
			}
			name := sidecar(path, "name", fixtureName(text))
			worst, gone := worstOf(t, text, name)
			if worst == lint.Notes && strings.HasPrefix(row(path), "bad-image") {
				continue // the client leaves the image out and says so, and so does the repair, each in its own words
			}
			repaired := repairChosen(t, damage.Case{Name: path, Data: text}, name, lint.Options{}, repair.Choice{Tidy: worst == lint.Notes})
			if bytes.Equal(repaired, text) {
				continue
			}
			if number[worst]++; !isShown(number[worst]-1, bin.Version) {
				continue
			}
			before := resumeText(t, bin, ours(text), name)
			after := resumeText(t, bin, ours(repaired), name)
			if len(after.Requests) == 0 || len(before.Requests) == 0 {
				if worst < lint.Blocks {
					t.Errorf("%s: %s, but the client refuses it (before: %v, after: %v)", row(path), worst, len(before.Requests) == 0, len(after.Requests) == 0)
				}
				continue
			}
			judged[worst]++
			c := Compare(Input(after.Requests[0].Body), Input(before.Requests[0].Body))
			same := len(c.Missing) == 0 && len(c.Extra) == 0 && c.Changed == 0 && c.OrderKept
			switch {
			case worst == lint.Loses && same && !gone:
				t.Errorf("%s: it is said to lose history, and the model gets the same without the repair", row(path))
			case worst <= lint.Shows && !same:
				t.Errorf("%s: it is said to be %q only, and the model gets something else without the repair: %+v", row(path), worst, c)
			}
		}
		t.Logf("judged by the request: %d that lose history, %d that show it wrongly, %d that are worth knowing", judged[lint.Loses], judged[lint.Shows], judged[lint.Notes])
		if judged[lint.Loses] == 0 || judged[lint.Shows] == 0 || judged[lint.Notes] == 0 {
			t.Error("nothing was judged")
		}
	})
}

// byTheirWriter are the fixtures that do harm to the older client that wrote them, and none to the newest.
var byTheirWriter = []string{"no-final-newline: old", "duplicate-key: dropped"}

// worstOf is the impact of the worst finding in a session. gone says that what a finding of it is about can't be had
// back, so that the repaired session lacks it, too.
func worstOf(t *testing.T, text []byte, name string) (worst lint.Impact, gone bool) {
	t.Helper()
	res, err := lint.Session(t.Context(), bytes.NewReader(text), lint.Options{Name: lint.NameOf(name, true)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range res.Findings {
		f := &res.Findings[i]
		worst = max(worst, f.Impact)
		gone = gone || f.Fix == lint.SetAside || f.Fix == lint.NoFix && f.Impact > lint.Shows
	}
	return worst, gone
}
