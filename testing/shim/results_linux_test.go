package shim_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

// named is a flow's name in a test.
func named(flow string, behind bool) string {
	if behind {
		return flow
	}
	return flow + ", without hist"
}

// results are which follow-ups carried the context, by front end and flow, behind the shim and without it.
type results struct {
	mu   sync.Mutex
	seen map[string]bool
}

func newResults() *results { return &results{seen: map[string]bool{}} }

func (r *results) set(frontEnd, flow string, behind, carries bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[frontEnd+"\x00"+named(flow, behind)] = carries
}

// flowsPage is the page that holds the tables of flows.
const flowsPage = "../../docs/dev/testing.md"

// write puts a table of the results into the page, with a row for each flow and a column for each front end.
func (r *results) write(t *testing.T, table string, frontEnds, flows []string) {
	t.Helper()
	var text strings.Builder
	text.WriteString("\n| without / with the shim | " + strings.Join(frontEnds, " | ") + " |\n" + strings.Repeat("|---", len(frontEnds)+1) + "|\n")
	without, with, count := map[string]int{}, map[string]int{}, map[string]int{}
	for _, flow := range flows {
		text.WriteString("| " + flow + " |")
		for _, f := range frontEnds {
			bare, played := r.seen[f+"\x00"+named(flow, false)]
			behind, also := r.seen[f+"\x00"+named(flow, true)]
			if !played && !also {
				text.WriteString(" |") // not a flow of this one
				continue
			}
			if played != also {
				t.Logf("no table: %s, %s was not played both ways", f, flow)
				return
			}
			count[f]++
			text.WriteString(" " + word(bare, without, f) + " / " + word(behind, with, f) + " |")
		}
		text.WriteString("\n")
	}
	text.WriteString("| **carried** |")
	for _, f := range frontEnds {
		fmt.Fprintf(&text, " **%d / %d of %d** |", without[f], with[f], count[f])
	}
	text.WriteString("\n\n")
	page, err := os.ReadFile(flowsPage)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- flows of "+table+", written by a test -->\n", "<!-- end of flows of "+table+" -->"
	before, rest, found := strings.Cut(string(page), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("the page has no place for the table")
	}
	if err := os.WriteFile(flowsPage, []byte(before+begin+text.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// word is what a cell says; what carries is counted.
func word(carries bool, count map[string]int, frontEnd string) string {
	if !carries {
		return "lost"
	}
	count[frontEnd]++
	return "carries"
}
