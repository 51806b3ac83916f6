package clienttest

import (
	"bytes"
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
