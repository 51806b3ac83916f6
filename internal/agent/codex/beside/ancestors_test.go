package beside

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/session"
)

// A fork gets its past back from an ancestor whose lines are broken or in another order: all of it that can be read, and
// nothing that was written after it parted.
func TestPastOfDamagedAncestor(t *testing.T) {
	began := time.Date(2026, 11, 18, 10, 0, 0, 0, time.UTC)
	at := func(n int) string { return began.Add(time.Duration(n-10) * time.Minute).Format(time.RFC3339) }
	header := fmt.Sprintf(`{"timestamp":%q,"ordinal":0,"type":"session_meta","payload":{"id":"01a1edfd-e191-74b0-9003-79b97f4a7c15","timestamp":%q,"cwd":"/w","originator":"o","cli_version":"0.160.0","source":"cli","history_mode":"paginated"}}`, at(0), at(0))
	record := func(ordinal, written int) string {
		return fmt.Sprintf(`{"timestamp":%q,"ordinal":%d,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"prompt %d"}]}}`, at(written), ordinal, ordinal)
	}
	var lines []string
	for n := 1; n <= 6; n++ {
		lines = append(lines, record(n, n))
	}
	file := func(parts ...string) string { return strings.Join(parts, "\n") + "\n" }
	reversed := slices.Clone(lines)
	slices.Reverse(reversed)
	for name, c := range map[string]struct {
		text string
		want int // records below ordinal 5, and damaged lines
		has  extent
	}{
		"whole":            {file(append([]string{header}, lines...)...), 4, hasWhole},
		"backward":         {file(append([]string{header}, reversed...)...), 4, hasWhole},
		"header behind":    {file(append(slices.Clone(lines), header)...), 4, hasWhole},
		"no header":        {file(lines...), 4, hasWhole},
		"laid out":         {strings.ReplaceAll(file(append([]string{header}, lines...)...), `,"`, ",\n\""), 4, hasWhole},
		"a line torn":      {file(header, lines[0], lines[1][:60], lines[2], lines[3], lines[4]), 4, hasParts},
		"glued, one torn":  {file(header, lines[0], lines[1]+lines[2][:60], lines[3]), 3, hasParts},
		"glued to header":  {file(header+lines[0][:60], lines[1], lines[2], lines[3]), 3, hasEnds},
		"beginning lost":   {file(header, lines[2], lines[3]), 2, hasEnds},
		"doubled":          {file(header, lines[0], lines[1], lines[0], lines[1], lines[2], lines[3]), 4, hasWhole},
		"another timeline": {file(header, lines[0], lines[1], record(3, 20), record(4, 21), record(5, 22)), 2, hasEnds},
		"legacy":           {file(strings.Replace(header, "paginated", "legacy", 1), lines[0]), 0, hasEnds},
	} {
		path := filepath.Join(t.TempDir(), "rollout.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		of := session.Info{BaseThread: "base", BaseOrdinal: 5}
		got, has := recordsBefore(t.Context(), of, began, false, func(string) string { return path }, func(string) [][]byte { return nil })
		if len(got) != c.want || has != c.has {
			t.Errorf("%s: %d records, extent %v; want %d, %v", name, len(got), has, c.want, c.has)
		}
		last := 0
		for _, r := range got {
			if r.Damaged {
				continue
			}
			line := r.Line
			n := slices.IndexFunc(lines, func(l string) bool { return bytes.Contains(line, []byte(l[len(l)-20:])) }) + 1
			if n <= last {
				t.Errorf("%s: prompt %d behind prompt %d", name, n, last)
			}
			last = n
		}
	}
}
