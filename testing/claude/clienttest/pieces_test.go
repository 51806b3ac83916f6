package clienttest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/lint"
)

// TestPiecesOfLines: a line has lost its beginning, with its message and id behind that whole. What it said is sent again; of
// the last record of all only if the client has noted that it was.
func TestPiecesOfLines(t *testing.T) {
	for _, version := range []string{"1.0.128", "2.0.29", "2.1.2", "2.1.100", "2.1.215", "2.1.330"} {
		s, _ := recording(t, version, "resumed")
		whole := Sent(s)
		for i, l := range s {
			if !whole[get(l, "uuid")] || !bytes.HasPrefix(l, []byte(`{"parentUuid":`)) || i == s.lastText() && version != "2.1.330" {
				continue
			}
			damaged := s.with(i, l[5:])
			fixed, _ := mend(t, damaged.Bytes(), lint.Options{})
			mended := Lines(fixed)
			sent, want, found := Sent(mended), Canonical(gjson.GetBytes(l, "message.content")), false
			for _, m := range mended {
				found = found || sent[get(m, "uuid")] && Canonical(gjson.GetBytes(m, "message.content")) == want
			}
			if left := unsent(damaged, whole, mended); len(left) > 0 || !found {
				t.Errorf("%s, line %d: sent after the repair: %v; left out: %v", version, i+1, found, left)
			}
		}
	}
}

// TestPiecesOfTwoLines: the message of one record and the id of another, spliced together, are not taken for one record.
func TestPiecesOfTwoLines(t *testing.T) {
	s, _ := recording(t, "2.1.330", "resumed")
	i, j := s.find(0, isPrompt), s.second()
	cut, tail := bytes.Index(s[i], []byte(`"uuid"`)), bytes.Index(s[j], []byte(`"content"`))+len(`"content"`)
	damaged := s.with(i, append(bytes.Clone(s[i][5:cut]), s[j][tail:]...)).without(j)
	fixed, _ := mend(t, damaged.Bytes(), lint.Options{})
	for _, l := range Lines(fixed) {
		if get(l, "uuid") == get(s[j], "uuid") && get(l, "message.content") == get(s[i], "message.content") {
			t.Errorf("the words of another prompt are put into %s", l)
		}
	}
}

// zeroed is a line with NULs between two places.
func zeroed(l []byte, from, to int) []byte {
	l = bytes.Clone(l)
	clear(l[from:max(from, to)])
	return l
}

// TestToldByTools: an output was hit, and what stands behind it in its line is whole: the tool's own result tells it.
func TestToldByTools(t *testing.T) {
	for _, c := range []struct{ version, scenario string }{
		{"2.0.29", "resumed"}, {"2.0.29", "image"}, {"2.1.2", "resumed"}, {"2.1.2", "image"}, {"2.1.100", "resumed"}, {"2.1.330", "resumed"}, {"2.1.330", "image"},
	} {
		s, _ := recording(t, c.version, c.scenario)
		tried := 0
		for i, l := range s {
			told := gjson.GetBytes(l, "toolUseResult")
			if !isResult(l) || told.Get("stdout").String() == "" && told.Get("type").String() != "image" {
				continue
			}
			tried++
			from := bytes.Index(l, []byte(`"message":{`))
			for _, hit := range []Session{
				s.with(i, l[bytes.Index(l, []byte(`"uuid":"`)):]),
				s.with(i, bytes.Replace(l, l[from:from+60], make([]byte, 60), 1)),
				s.with(i, zeroed(l, bytes.Index(l, []byte(`"tool_use_id":"`))+40, bytes.Index(l, []byte(`"uuid":"`))-5)),
				s.with(i, l[bytes.Index(l, []byte(`"toolUseResult":`)):]),
			} {
				fixed, _ := mend(t, hit.Bytes(), lint.Options{})
				if items := itemsOf(Lines(fixed), Sent(Lines(fixed))); Share(items, itemsOf(s, Sent(s))) < 1 {
					t.Errorf("%s, %s, line %d: what the tool said is not sent", c.version, c.scenario, i+1)
				}
			}
		}
		if tried == 0 {
			t.Errorf("%s, %s: no output was tried", c.version, c.scenario)
		}
	}
}

// TestCutIDs: a prompt was cut within its id, beside that of another client. It gets the id that the answer names.
func TestCutIDs(t *testing.T) {
	id := func(n string) string { return "aaaaaaa" + n + "-0000-4000-8000-000000000000" }
	at := func(n string) string { return `,"timestamp":"2026-11-20T10:0` + n + `:00.000Z"` }
	other := line("user", id("3"), id("2"), asked("and the other"), at("2"))
	cut := line("user", id("4"), id("2"), asked("go on"), at("2"))
	cut = cut[:strings.Index(cut, id("4"))+12]
	for name, lines := range map[string][]string{
		"in front": {cut, other}, "behind": {other, cut},
	} {
		text := strings.Join(slices.Concat([]string{
			line("user", id("1"), "", asked("hi"), at("1")), line("assistant", id("2"), id("1"), said("m1", "yes"), at("1")),
		}, lines, []string{
			line("assistant", id("5"), id("3"), said("m2", "the other"), at("3")), line("assistant", id("6"), id("4"), said("m3", "gone on"), at("4")),
		}), "\n") + "\n"
		fixed, _ := mend(t, []byte(text), lint.Options{})
		s := Lines(fixed)
		i := slices.IndexFunc(s, func(l []byte) bool { return get(l, "message.content") == "go on" })
		if i < 0 || get(s[i], "uuid") != id("4") || len(Sent(s)) != 6 {
			t.Errorf("%s: %s", name, fixed)
		}
	}
}

// TestToldByAnother: what a tool said, in a line of which no id is left, is no other tool's output, nor one of two.
func TestToldByAnother(t *testing.T) {
	at := `,"timestamp":"2026-11-20T10:01:00.000Z","version":"2.0.29"`
	told := func(words string) string {
		return `mo"},"toolUseResult":{"stdout":"` + words + `","stderr":"","interrupted":false,"isImage":false}}`
	}
	for name, c := range map[string]struct {
		tool  string
		lines []string
		put   bool
	}{
		"its own": {"Bash", []string{told("one")}, true}, "of another tool": {"Read", []string{told("one")}, false}, "two": {"Bash", []string{told("two"), told("one")}, false},
	} {
		text := strings.Join(slices.Concat([]string{
			line("user", "u1", "", asked("hi"), at), line("assistant", "a1", "u1", partly("m1", `{"type":"tool_use","id":"toolu_1","name":"`+c.tool+`","input":{"x":"y"}}`, "tool_use"), at),
		}, c.lines, []string{line("assistant", "a2", "r1", said("m2", "done"), at)}), "\n") + "\n"
		fixed, _ := mend(t, []byte(text), lint.Options{})
		if put := bytes.Contains(fixed, []byte(`"content":"one"`)); put != c.put {
			t.Errorf("%s: %v\n%s", name, put, fixed)
		}
	}
}
