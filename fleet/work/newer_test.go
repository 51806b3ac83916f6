package work

import (
	"testing"

	"github.com/hist-cli/hist/fleet/fleettest"
)

// TestCopyByAnotherHist: a copy is made anew by another version of hist, or with other options, and only then.
func TestCopyByAnotherHist(t *testing.T) {
	fleettest.Both(t, func(t *testing.T, address string) {
		in, to := fleettest.Open(t, address+"/in"), fleettest.Open(t, address+"/mended")
		fleettest.Put(t, in, "a.jsonl", fleettest.Damaged(1))
		damaged, _, err := in.Head(t.Context(), "a.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		writes := 0
		for i, by := range []struct {
			version string
			options Options
			writes  int
		}{{"0.1.0", Options{}, 1}, {"0.1.0", Options{}, 1}, {"0.2.0", Options{}, 2}, {"0.2.0", Options{ForCodex: "0.114.0"}, 3}, {"0.2.0", Options{ForCodex: "0.114.0"}, 3}} {
			l, err := NewLinter(in, "run", by.version, by.options)
			if err != nil {
				t.Fatal(err)
			}
			row, err := (&Repairer{Linter: l, To: to}).Repair(t.Context(), damaged)
			if err != nil || row.Outcome != Repaired {
				t.Fatalf("%d: %+v, %v", i, row, err)
			}
			if row.Edits > 0 {
				writes++
			}
			_, meta, err := to.Head(t.Context(), "a.jsonl")
			if err != nil || writes != by.writes || metaOf(meta, madeBy) != l.by() {
				t.Errorf("%d: %d writes, want %d; %v, %v", i, writes, by.writes, meta, err)
			}
		}
	})
}
