package clienttest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hist-cli/hist/lint"
)

// TestRewoundInFrontOfCompaction: who goes back to what a compaction has summed up finds no fault in the session, though the client
// sends the summary and what was kept instead when it resumes that (2.1.330, measured).
func TestRewoundInFrontOfCompaction(t *testing.T) {
	for _, scenario := range []string{"compact", "compact_auto"} {
		s, id := recording(t, "2.1.330", scenario)
		mark := slices.IndexFunc(s, func(l []byte) bool { return get(l, "subtype") == "compact_boundary" })
		for i, l := range s[:mark] {
			if !isText(l) || get(l, "message.stop_reason") != "end_turn" {
				continue
			}
			p, a := branch(l, 2*time.Hour, "9")
			rewind := fmt.Sprintf(`{"type":"last-prompt","leafUuid":"00000000-0000-0000-0000-000000000000","explicit":true,"sessionId":%q}`, id)
			end := fmt.Sprintf(`{"type":"last-prompt","lastPrompt":"branch prompt","leafUuid":%q,"sessionId":%q}`, get(a, "uuid"), id)
			for _, f := range lintText(t, append(slices.Clone(s), p, []byte(rewind), a, []byte(end)).Bytes(), lint.Options{}) {
				t.Errorf("%s, back to line %d: %s %s on %v: %s", scenario, i+1, f.Rule.Name, f.Impact, f.Pos, f.Message)
			}
		}
	}
}

// TestRewoundToRunACommand: nor does who goes back there, or to any earlier prompt, and first runs a command by hand.
func TestRewoundToRunACommand(t *testing.T) {
	for _, version := range []string{"2.1.2", "2.1.100", "2.1.215"} {
		s, _ := recording(t, version, "compact")
		at := mark(s)
		for i, l := range s[:at] {
			if !isText(l) || s.find(0, func(p []byte) bool { return isPrompt(p) && get(p, "parentUuid") == get(l, "uuid") }) < 0 {
				continue
			}
			out, parent := slices.Clone(s), get(l, "uuid")
			for n, said := range s[at+2 : at+5] { // the caveat, the command and what it printed
				id := fmt.Sprintf("cccccccc-0000-4000-8000-%012d", n)
				said = Set(Set(said, "", "parentUuid", `"`+parent+`"`), "", "uuid", `"`+id+`"`)
				out, parent = append(out, Set(said, "", "timestamp", `"2026-11-01T12:00:00.000Z"`)), id
			}
			for _, f := range lintText(t, out.Bytes(), lint.Options{}) {
				if f.Impact != lint.Notes {
					t.Errorf("%s, back to line %d: %s %s on %v: %s", version, i+1, f.Rule.Name, f.Impact, f.Pos, f.Message)
				}
			}
		}
	}
}
