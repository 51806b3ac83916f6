package clienttest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// mendedOf is of how many damages one is mended: repairs are what costs.
const mendedOf = 4

// lineWays are what may happen to one line.
var lineWays = []struct {
	name string
	do   func(s Session, i int) Session
}{
	{"gone", func(s Session, i int) Session { return s.without(i) }},
	{"zeros", func(s Session, i int) Session { return s.with(i, make([]byte, len(s[i]))) }},
	{"cut", func(s Session, i int) Session { return s.with(i, s[i][:len(s[i])*2/3]) }},
}

// TestLinesLost: whichever line of a recording is gone, was overwritten or cut, with the times as recorded and as in life:
// if the newest client then leaves out what still stands in the file, the damage is named, and mending it brings all that back.
func TestLinesLost(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, for long")
	}
	paths, err := filepath.Glob(filepath.Join(fixtures, "[0-9]*", "*", "*.jsonl"))
	if err != nil || len(paths) < 100 {
		t.Fatalf("%d recordings: %v", len(paths), err)
	}
	damaging := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		recorded := Lines(data)
		for _, s := range []Session{recorded, Retime(recorded)} {
			whole := Sent(s)
			for i := range s {
				for _, way := range lineWays {
					damaged := way.do(s, i)
					if len(unsent(damaged, whole, damaged)) == 0 {
						continue
					}
					damaging++
					name := strings.TrimPrefix(filepath.Dir(path), fixtures)
					if !named(t, damaged.Bytes()) {
						t.Errorf("%s, line %d %s: %d records are left out, and nothing says so", name, i+1, way.name, len(unsent(damaged, whole, damaged)))
						continue
					}
					if damaging%mendedOf != 0 || strings.HasPrefix(name, "/2.0.29/stream_json") { // where each record stands twice, under two ids
						continue
					}
					if strings.Contains(string(s[i]), `"preservedMessages"`) { // which records were kept is told nowhere else
						continue
					}
					fixed, _ := mend(t, damaged.Bytes(), lint.Options{})
					if left := unsent(damaged, whole, Lines(fixed)); len(left) > 0 {
						t.Errorf("%s, line %d %s: the repair leaves out %v", name, i+1, way.name, left)
					}
				}
			}
		}
	}
	if damaging < 1000 {
		t.Errorf("%d damages only made the client leave anything out", damaging)
	}
}

// unsent are the records that stand in a damaged session whole and were sent of the sound one, but are not sent of the one read.
func unsent(damaged Session, whole map[string]bool, read Session) (ids []string) {
	sent := Sent(read)
	for _, l := range damaged {
		if id := get(l, "uuid"); whole[id] && !sent[id] && bytes.HasSuffix(l, []byte("}")) {
			ids = append(ids, id)
		}
	}
	return ids
}

// named says whether a finding says that something is wrong.
func named(t *testing.T, data []byte) bool {
	t.Helper()
	res, err := lint.Session(t.Context(), bytes.NewReader(data), lint.Options{Agent: "claude"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range res.Findings {
		if res.Findings[i].Impact != lint.Notes {
			return true
		}
	}
	return false
}
