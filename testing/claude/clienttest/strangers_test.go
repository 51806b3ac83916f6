package clienttest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestStrangers: wherever and however a turn of another session is put into one, it is named, and the client is sent all of the session
// and nothing of the turn.
func TestStrangers(t *testing.T) {
	prompt, answer := []byte(anotherSession[0]), []byte(anotherSession[1])
	hung := func(on []byte) []byte { return Set(prompt, "", "parentUuid", `"`+get(on, "uuid")+`"`) }
	for _, of := range []string{"1.0.17/resumed", "2.0.29/resumed", "2.1.2/resumed", "2.1.100/image", "2.1.215/resumed", "2.1.330/resumed"} {
		version, scenario, _ := strings.Cut(of, "/")
		s, id := recording(t, version, scenario)
		next := s.second()
		end := s[s.endOfTurn()]
		for name, damaged := range map[string]Session{
			"without a parent":      slices.Insert(slices.Clone(s), next, prompt, answer),
			"under a missing one":   slices.Insert(slices.Clone(s), next, Set(prompt, "", "parentUuid", `"`+otherID+`"`), answer),
			"behind the end":        append(slices.Clone(s), prompt, answer),
			"missing, at the end":   append(slices.Clone(s), Set(prompt, "", "parentUuid", `"`+otherID+`"`), answer),
			"as a branch":           slices.Insert(slices.Clone(s), next, hung(end), answer),
			"in the chain":          slices.Insert(s.with(next, Set(s[next], "", "parentUuid", `"`+get(answer, "uuid")+`"`)), next, hung(end), answer),
			"with its own leaf":     slices.Insert(slices.Clone(s), len(s)-1, prompt, answer, []byte(`{"type":"last-prompt","leafUuid":"`+get(answer, "uuid")+`","sessionId":"`+get(answer, "sessionId")+`"}`)),
			"one half before a mid": slices.Insert(slices.Insert(slices.Clone(s), next, answer), s.endOfTurn(), prompt),
			"in front of all":       slices.Insert(slices.Clone(s), 0, prompt, answer),
			"one half in front":     slices.Insert(slices.Insert(slices.Clone(s), next, answer), 0, prompt),
		} {
			data := damaged.Bytes()
			if strings.Contains(name, "in front") {
				fixed, _ := mend(t, data, lint.Options{}) // a fork's older session stands there: it stays, and so does the session
				for _, l := range s {
					if !bytes.Contains(fixed, []byte(get(l, "uuid"))) {
						t.Errorf("%s, %s: a record of the session is gone", of, name)
					}
				}
				continue
			}
			if !slices.ContainsFunc(lintText(t, data, lint.Options{}), func(f lint.Finding) bool { return f.Rule.Name == "other-session" }) {
				t.Errorf("%s, %s: not named", of, name)
			}
			fixed, _ := mend(t, data, lint.Options{})
			for _, reader := range []string{"2.1.2", "2.1.330"} {
				whole, _, _ := modelled(reader)(t, id, s.Bytes())
				after, _, _ := modelled(reader)(t, id, fixed)
				if Share(after, whole) < 1 || strings.Contains(strings.Join(after, "\n"), "other ") {
					t.Errorf("%s, %s, read by %s: %.2f is sent, of %v", of, name, reader, Share(after, whole), after)
				}
			}
		}
	}
}

// TestDamagedSession: a record in whose session's id and directory some bytes are wrong is still the session's own.
func TestDamagedSession(t *testing.T) {
	for _, of := range []string{"1.0.17/resumed", "2.1.2/resumed", "2.1.330/resumed"} {
		version, scenario, _ := strings.Cut(of, "/")
		s, _ := recording(t, version, scenario)
		tried := 0
		for i, line := range s {
			own := get(line, "sessionId")
			if own == "" || get(line, "uuid") == "" {
				continue
			}
			for _, damaged := range []string{"0@0" + own[3:], flippedHex(own[:4]) + own[4:], own[:20]} {
				tried++
				data := s.with(i, Set(Set(line, "", "sessionId", `"`+damaged+`"`), "", "cwd", `"/h@me"`)).Bytes()
				if slices.ContainsFunc(lintText(t, data, lint.Options{}), func(f lint.Finding) bool { return f.Rule.Name == "other-session" }) {
					t.Errorf("%s, line %d, %s: taken for another session's", of, i+1, damaged)
				}
			}
		}
		if tried < 9 {
			t.Errorf("%s: only %d tried", of, tried)
		}
	}
}

// flippedHex changes the lowest bit of each digit.
func flippedHex(digits string) string {
	const hex = "0123456789abcdef"
	out := []byte(digits)
	for i, c := range out {
		out[i] = hex[strings.IndexByte(hex, c)^1]
	}
	return string(out)
}
