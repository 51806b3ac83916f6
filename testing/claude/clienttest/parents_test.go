package clienttest

import (
	"testing"

	"github.com/hist-cli/hist/lint"
)

// wrongParents gives records of a session wrong parents, one at a time.
type wrongParents struct {
	t                      *testing.T
	session                Session
	resume                 func(data []byte) []string
	whole                  []string // what is sent of the sound session
	losing, unnamed, short int      // damages for which something is left out, and those of them that are not named, and not mended
}

func newWrongParents(t *testing.T, s Session, id, reader string) *wrongParents {
	t.Helper()
	client := modelled(reader)
	resume := func(data []byte) []string {
		sent, _, _ := client(t, id, data)
		return sent
	}
	return &wrongParents{t: t, session: s, resume: resume, whole: resume(s.Bytes())}
}

// try makes the record on a line hang on another one. That counts if the client then leaves anything out.
func (w *wrongParents) try(i int, on []byte) {
	w.t.Helper()
	data := w.session.with(i, Set(w.session[i], "", "parentUuid", `"`+get(on, "uuid")+`"`)).Bytes()
	if Share(w.resume(data), w.whole) == 1 {
		return
	}
	w.losing++
	if !named(w.t, data) {
		w.unnamed++
	}
	fixed, _ := mend(w.t, data, lint.Options{})
	if Share(w.resume(fixed), w.whole) < 1 {
		w.short++
	}
}

// check fails if anything that counts was not named or not mended, or if hardly anything counts.
func (w *wrongParents) check(of string) {
	w.t.Helper()
	if w.losing < 10 || w.unnamed > 0 || w.short > 0 {
		w.t.Errorf("%s: %d damages make the client leave anything out: %d are not named, %d not mended", of, w.losing, w.unnamed, w.short)
	}
}

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
		w := newWrongParents(t, s, id, of.reader)
		tried := 0
		for i, l := range s {
			if !inTree(l) || get(l, "type") != "assistant" && !isResult(l) {
				continue
			}
			for _, older := range s[:i] {
				beside := isResult(older) && !isResult(l) && s.answerOf(older) == s.answerOf(s[s.find(0, func(p []byte) bool { return get(p, "uuid") == get(l, "parentUuid") })])
				if tried++; !inTree(older) || beside || get(older, "uuid") == get(l, "parentUuid") || tried%of.every != 0 {
					continue
				}
				w.try(i, older)
			}
		}
		w.check(of.version + "/" + of.scenario)
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
		{"2.1.330", "compact_auto", "2.1.330", 5},
	} {
		s, id := recording(t, of.version, of.scenario)
		w := newWrongParents(t, s, id, of.reader)
		at, tried := mark(s), 0
		for i, l := range s[at+1:] {
			if !inTree(l) || isResult(l) || isPrompt(l) {
				continue
			}
			for _, older := range s[:at] {
				goesBack := get(l, "type") != "assistant" && s.find(0, func(p []byte) bool { return isPrompt(p) && get(p, "parentUuid") == get(older, "uuid") }) >= 0
				if tried++; !inTree(older) || goesBack || tried%of.every != 0 {
					continue
				}
				w.try(at+1+i, older)
			}
		}
		w.check(of.version + "/" + of.scenario)
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
