package clienttest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestCutCopies: what is left of a record that the file holds whole as well is set aside, wherever it stands, and nothing else is
// changed. Closed and named anew, it was a part of the answer that is sent twice, or a second output of the call.
func TestCutCopies(t *testing.T) {
	for _, version := range []string{"1.0.17", "2.1.2", "2.1.330"} {
		s, _ := recording(t, version, "resumed")
		for i, l := range s {
			if get(l, "type") != "assistant" && !isResult(l) {
				continue
			}
			id := bytes.Index(l, []byte(`"uuid":"`+get(l, "uuid")))
			for _, cut := range []int{id, id - 3, id - 40, id / 2} {
				for _, at := range []int{1, i / 2, len(s)} {
					if at == i { // it is a write that failed and was repeated
						continue
					}
					damaged := slices.Insert(slices.Clone(s), at, l[:cut]).Bytes()
					got, _ := mend(t, damaged, lint.Options{})
					if !bytes.Equal(got, s.Bytes()) {
						t.Errorf("%s: line %d, cut to %d bytes and put into line %d, is not set aside alone", version, i+1, cut, at+1)
					}
					for _, f := range lintText(t, damaged, lint.Options{}) {
						if strings.Contains(f.Message, "the record is whole in") && f.Fix != lint.SetAside {
							t.Errorf("%s: line %d, cut to %d bytes: %s", version, i+1, cut, f.Fix)
						}
					}
				}
			}
		}
	}
}

// TestCutBesideAPart: what is left of a call is not taken for a copy of the words that hang beside it in the same answer.
func TestCutBesideAPart(t *testing.T) {
	at := `,"timestamp":"2026-11-20T10:01:00.000Z"`
	call := line("assistant", "a2", "u1", partly("m1", `{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}`, "tool_use"), at)
	text := strings.Join([]string{
		line("user", "u1", "", asked("hi"), at), line("assistant", "a1", "u1", partly("m1", `{"type":"text","text":"yes"}`, "tool_use"), at),
		call[:strings.Index(call, `,"uuid"`)], line("user", "r1", "a2", answered("toolu_1", `"one"`), at), line("assistant", "a3", "r1", said("m2", "done"), at),
	}, "\n") + "\n"
	if fixed, _ := mend(t, []byte(text), lint.Options{}); !strings.Contains(string(fixed), `"command":"ls"`) {
		t.Errorf("the call is set aside:\n%s", fixed)
	}
}

// TestCutTwice: of a record that was cut, and glued to the next, a second copy is set aside: it was one more part of the answer.
func TestCutTwice(t *testing.T) {
	for _, version := range []string{"2.0.29", "2.1.2", "2.1.330"} {
		s, _ := recording(t, version, "resumed")
		whole := itemsOf(s, Sent(s))
		for i, l := range s[:len(s)-1] {
			id := bytes.Index(l, []byte(`"uuid":"`+get(l, "uuid")))
			if get(l, "type") != "assistant" || id < 0 {
				continue
			}
			glued := s.with(i, append(bytes.Clone(l[:id]), s[i+1]...)).without(i + 1)
			got, _ := mend(t, slices.Concat(glued, Session{glued[i]}).Bytes(), lint.Options{})
			if sent := itemsOf(Lines(got), Sent(Lines(got))); Share(sent, whole) < 1 || len(sent) != len(whole) {
				t.Errorf("%s, line %d: %d of %d items are sent, %.2f of them", version, i+1, len(sent), len(whole), Share(sent, whole))
			}
		}
	}
}

// TestCutTime: a record that was cut gets one time, also where the one that it got first is not the latest and it is the last.
func TestCutTime(t *testing.T) {
	at := func(n string) string { return `,"timestamp":"2026-11-20T10:0` + n + `:00.000Z","version":"2.1.2"` }
	cut := line("assistant", "a2", "u2", said("m2", "done"), at("3"))
	text := strings.Join([]string{
		line("user", "u1", "", asked("hi"), at("1")), line("assistant", "a1", "u1", said("m1", "yes"), at("1")),
		cut[:strings.Index(cut, `,"uuid"`)], line("user", "u2", "a1", asked("go on"), at("2")),
	}, "\n") + "\n"
	fixed, _ := mend(t, []byte(text), lint.Options{})
	if i := strings.Index(string(fixed), "done"); i < 0 || bytes.Count(fixed, []byte(`"timestamp"`)) != 4 {
		t.Errorf("%s", fixed)
	}
}
