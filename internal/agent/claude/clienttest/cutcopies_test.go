package clienttest

import (
	"bytes"
	"slices"
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
					got, _ := mend(t, slices.Insert(slices.Clone(s), at, l[:cut]).Bytes(), lint.Options{})
					if !bytes.Equal(got, s.Bytes()) {
						t.Errorf("%s: line %d, cut to %d bytes and put into line %d, is not set aside alone", version, i+1, cut, at+1)
					}
				}
			}
		}
	}
}
