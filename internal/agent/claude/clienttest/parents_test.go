package clienttest

import (
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestOlderParents: whichever answer or output of a session names whichever older record as its parent: if the client leaves anything
// out for that, it is named, and all is sent after the repair. A prompt that does so is a rewind, and the answer to two outputs hangs on
// either.
func TestOlderParents(t *testing.T) {
	for _, of := range []struct {
		version, scenario, reader string
		every                     int // of how many such damages one is tried
	}{
		{"2.1.2", "tool_error", "2.1.2", 1},
		{"2.1.2", "resumed", "2.1.2", 2},
		{"2.0.29", "resumed", "2.1.330", 2},
		{"2.1.100", "resumed", "2.1.330", 3},
		{"2.1.330", "resumed", "2.1.330", 5},
		{"1.0.17", "thinking", "2.1.330", 2},
	} {
		s, id := recording(t, of.version, of.scenario)
		resume := modelled(of.reader)
		whole, _, _ := resume(t, id, s.Bytes())
		tried, losing, unnamed, short := 0, 0, 0, 0
		for i, l := range s {
			if !inTree(l) || get(l, "type") != "assistant" && !isResult(l) {
				continue
			}
			for _, older := range s[:i] {
				beside := isResult(older) && !isResult(l) && s.answerOf(older) == s.answerOf(s[s.find(0, func(p []byte) bool { return get(p, "uuid") == get(l, "parentUuid") })])
				if tried++; !inTree(older) || beside || get(older, "uuid") == get(l, "parentUuid") || tried%of.every != 0 {
					continue
				}
				data := s.with(i, Set(l, "", "parentUuid", `"`+get(older, "uuid")+`"`)).Bytes()
				if sent, _, _ := resume(t, id, data); Share(sent, whole) == 1 {
					continue
				}
				losing++
				if !named(t, data) {
					unnamed++
				}
				fixed, _ := mend(t, data, lint.Options{})
				if sent, _, _ := resume(t, id, fixed); Share(sent, whole) < 1 {
					short++
				}
			}
		}
		if losing < 10 || unnamed > 0 || short > 0 {
			t.Errorf("%s/%s: %d damages make the client leave anything out: %d are not named, %d not mended", of.version, of.scenario, losing, unnamed, short)
		}
	}
}

// answerOf is the id of the answer that made the call whose output a line is; "" if it is none.
func (s Session) answerOf(output []byte) string {
	id := get(output, "message.content.0.tool_use_id")
	if i := s.find(0, func(l []byte) bool { return isCall(l) && get(l, "message.content.0.id") == id }); i >= 0 {
		return get(s[i], "message.id")
	}
	return ""
}

// TestOverMarks: whatever follows a compaction, except for prompts and outputs, names whichever record in front of it as its parent: that
// is named, and all is sent after the repair. What looks as if the user had gone back there is no fault.
func TestOverMarks(t *testing.T) {
	for _, of := range []struct {
		version, scenario, reader string
		every                     int
	}{
		{"2.1.2", "compact", "2.1.2", 3},
		{"2.0.29", "compact", "2.1.330", 3},
		{"2.1.100", "compact", "2.1.330", 5},
		{"2.1.215", "compact", "2.1.330", 7},
		{"2.1.330", "compact_auto", "2.1.330", 11},
	} {
		s, id := recording(t, of.version, of.scenario)
		resume := modelled(of.reader)
		whole, _, _ := resume(t, id, s.Bytes())
		at := mark(s)
		tried, losing, unnamed, short := 0, 0, 0, 0
		for i, l := range s[at+1:] {
			if !inTree(l) || isResult(l) || isPrompt(l) {
				continue
			}
			for _, older := range s[:at] {
				goesBack := get(l, "type") != "assistant" && s.find(0, func(p []byte) bool { return isPrompt(p) && get(p, "parentUuid") == get(older, "uuid") }) >= 0
				if tried++; !inTree(older) || goesBack || tried%of.every != 0 {
					continue
				}
				data := s.with(at+1+i, Set(l, "", "parentUuid", `"`+get(older, "uuid")+`"`)).Bytes()
				if sent, _, _ := resume(t, id, data); Share(sent, whole) == 1 {
					continue
				}
				losing++
				if !named(t, data) {
					unnamed++
				}
				fixed, _ := mend(t, data, lint.Options{})
				if sent, _, _ := resume(t, id, fixed); Share(sent, whole) < 1 {
					short++
				}
			}
		}
		if losing < 10 || unnamed > 0 || short > 0 {
			t.Errorf("%s/%s: %d damages make the client leave anything out: %d are not named, %d not mended", of.version, of.scenario, losing, unnamed, short)
		}
	}
}

// TestLostSummary: if the summary of a compaction is lost, the client is sent what was compacted again.
func TestLostSummary(t *testing.T) {
	for _, version := range []string{"2.0.29", "2.1.100"} {
		s, id := recording(t, version, "compact")
		resume := modelled("2.1.330")
		at := mark(s)
		compacted, _, _ := resume(t, id, s[:at].Bytes())
		fixed, _ := mend(t, s.without(at+1).Bytes(), lint.Options{})
		if sent, _, _ := resume(t, id, fixed); len(compacted) < 4 || Share(sent, compacted) < 1 {
			t.Errorf("%s: %.2f of what was compacted is sent", version, Share(sent, compacted))
		}
	}
}
