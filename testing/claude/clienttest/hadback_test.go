package clienttest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/lint"
)

// textAlone writes the content of recorded messages as the client does, where they are one text: as that text, and not as a list of blocks.
func textAlone(s Session) Session {
	s = slices.Clone(s)
	for i, l := range s {
		list := gjson.GetBytes(l, "message.content")
		if get(l, "type") == "api-request-blob" && len(list.Array()) == 1 && list.Get("0.type").Str == "text" {
			s[i] = Set(l, "message", "content", list.Get("0.text").Raw)
		}
	}
	return s
}

func asks(words string) func([]byte) bool {
	return func(l []byte) bool { return isPrompt(l) && get(l, "message.content") == words }
}

// lacking is a damage: the first record that fits is gone.
func lacking(fits func([]byte) bool) func(Session) Session {
	return func(s Session) Session { return s.without(s.find(0, fits)) }
}

// swappedIDs lets two outputs name each other's calls.
func swappedIDs(s Session, a, b int) Session {
	const at, key = "message.content.0", "tool_use_id"
	x, y := gjson.GetBytes(s[a], at+"."+key).Raw, gjson.GetBytes(s[b], at+"."+key).Raw
	return s.with(a, Set(s[a], at, key, y)).with(b, Set(s[b], at, key, x))
}

// TestHadBack: what is sent of the repaired session is what was sent of the sound one, in its order.
func TestHadBack(t *testing.T) {
	isSummary := func(l []byte) bool { return gjson.GetBytes(l, "isCompactSummary").Bool() }
	for name, c := range map[string]struct {
		version, scenario string
		damage            func(Session) Session
		rule, source      string
	}{
		"prompt behind a compaction": {"2.1.330", "compact", lacking(asks("go on")), "lost-prompt", "proved"},
		"prompt in a text alone":     {"2.1.330", "compact", func(s Session) Session { return lacking(asks("go on"))(textAlone(s)) }, "lost-prompt", "proved"},
		"prompt behind a rewind":     {"2.1.330", "interactive_rewind", lacking(asks("after the rewind")), "lost-prompt", "api-request-blob"},
		"prompt of a fork":           {"2.1.330", "fork", lacking(asks("and now the third")), "lost-prompt", "queue-operation"},
		"prompt behind a filler":     {"2.1.215", "compact", lacking(asks("go on")), "lost-prompt", "last-prompt"},
		"text in front of a lost comma": {"2.1.215", "resumed", func(s Session) Session {
			i := s.midText()
			return s.with(i, bytes.Replace(bytes.Clone(s[i]), []byte(`,"stop_sequence"`), []byte(`"stop_sequence"`), 1))
		}, "bad-json", ""},
		"ids of two outputs swapped": {"2.1.330", "resumed", func(s Session) Session {
			return swappedIDs(s, s.editOut(), s.resultOf(s.lastCall()))
		}, "wrong-result-id", ""},
		"ids of parallel outputs swapped": {"2.1.330", "resumed", func(s Session) Session {
			return swappedIDs(s, s.firstOut(), s.resultOf(s.nextCall()))
		}, "wrong-result-id", ""},
		"an output under another call's id": {"2.1.330", "resumed", func(s Session) Session {
			return s.with(s.editOut(), Set(s[s.editOut()], "message.content.0", "tool_use_id", `"`+get(s[s.lastCall()], "message.content.0.id")+`"`))
		}, "wrong-result-id", ""},
		"summary in a text alone": {"2.1.330", "compact", func(s Session) Session { return lacking(isSummary)(textAlone(s)) }, "lost-summary", "api-request-blob"},
		"kept answers in a text alone": {"2.1.330", "compact_auto", func(s Session) Session {
			kept := func(words string) func([]byte) bool {
				return func(l []byte) bool { return get(l, "type") == "assistant" && get(l, "message.content.0.text") == words }
			}
			return lacking(kept("That was three."))(lacking(kept("All done: one, two, gamma."))(textAlone(s)))
		}, "lost-kept", "api-request-blob"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := recording(t, c.version, c.scenario)
			damaged := c.damage(s)
			found := lintText(t, damaged.Bytes(), lint.Options{})
			if !slices.ContainsFunc(found, func(f lint.Finding) bool {
				return f.Rule.Name == c.rule && strings.Contains(f.Source, c.source) && f.Impact > lint.Notes
			}) {
				t.Errorf("no %s from %s: %+v", c.rule, c.source, found)
			}
			fixed, _ := mend(t, damaged.Bytes(), lint.Options{})
			want, got := itemsOf(s, Sent(s)), itemsOf(Lines(fixed), Sent(Lines(fixed)))
			if !slices.Equal(got, want) {
				t.Errorf("sent:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if again := lintText(t, fixed, lint.Options{}); slices.ContainsFunc(again, func(f lint.Finding) bool { return f.Impact > lint.Notes }) {
				t.Errorf("the repaired session has findings: %+v", again)
			}
		})
	}
}

// TestOtherBookkeeping: what another session's bookkeeping tells is not taken for a prompt of this one.
func TestOtherBookkeeping(t *testing.T) {
	const other = "4f5284ab-52bc-4190-af43-d72965c93619"
	s, _ := recording(t, "2.1.330", "resumed")
	s = append(slices.Clone(s),
		[]byte(`{"type":"queue-operation","operation":"enqueue","timestamp":"2026-11-20T10:00:00.000Z","sessionId":"`+other+`","content":"paint it"}`),
		[]byte(`{"type":"last-prompt","lastPrompt":"paint it","leafUuid":"a55481a4-fe3c-4638-bda9-591c9a4e0619","sessionId":"`+other+`"}`))
	fixed, _ := mend(t, s.Bytes(), lint.Options{})
	if bytes.Contains(fixed, []byte(`"content":"paint it"}}`)) || !bytes.Equal(fixed, s.Bytes()) {
		t.Errorf("%s", fixed[len(fixed)-1000:])
	}
}
