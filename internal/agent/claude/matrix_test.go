package claude

import (
	"flag"
	"slices"
	"testing"

	"github.com/hist-cli/hist/internal/agent/claude/clienttest"
)

var matrix = flag.Bool("matrix", false, "drive the real client through all damages, not only a few")

// few are the damages that the real client is always driven through: one a family.
var few = []string{
	"lost_output", "lost_output_parallel", "lost_call", "lost_user", "lost_text_record", "null_parent_middle", "self_parent", "uuid_missing",
	"branch_at_end", "reversed", "glued_two", "nul_before_record", "type_missing", "empty_user", "content_null", "dup_tool_id", "output_twice",
	"output_wrong_id", "late_output", "input_missing", "lone_surrogate",
}

// refused are sessions that no repair makes resumable: there is no message in them that is not a sub-agent's.
var refused = []string{"sidechain_all", "only_summary", "empty"}

// TestRealClient resumes each damaged session with the client that wrote it, as it is and mended: the mended one is taken
// up, breaks no rule of the API, and holds no less of the history.
func TestRealClient(t *testing.T) {
	for _, version := range []string{"2.1.2", "2.1.330"} {
		t.Run(version, func(t *testing.T) {
			bin, err := clienttest.Find(version)
			if err != nil {
				t.Skip(err)
			}
			h, err := clienttest.NewHome(bin, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			s, id := recording(t, version, "resumed")
			whole, _, ok := resumed(t, h, id, s.Bytes())
			if !ok || len(whole) < 15 {
				t.Fatalf("the sound session is not resumed: %v", whole)
			}
			before, after, cases := 0.0, 0.0, 0
			for _, d := range clienttest.Damages() {
				if !*matrix && !slices.Contains(few, d.Name) {
					continue
				}
				data := d.Do(s)
				if data == nil {
					continue
				}
				was, is := measure(t, h, id, d.Name, data, whole)
				before, after, cases = before+was, after+is, cases+1
			}
			t.Logf("%s: %d damages, history sent %.3f before, %.3f after", version, cases, before/float64(cases), after/float64(cases))
		})
	}
}

// measure resumes a damaged session as it is and mended; it returns the shares of the whole that were sent.
func measure(t *testing.T, h *clienttest.Home, id, name string, data []byte, whole []string) (before, after float64) {
	t.Helper()
	fixed := mend(t, data, lintBytes(t, data, Options{}))
	items, breaches, _ := resumed(t, h, id, data)
	before = clienttest.Share(items, whole)
	mended, left, ok := items, breaches, true
	if string(fixed) != string(data) {
		mended, left, ok = resumed(t, h, id, fixed)
	}
	after = clienttest.Share(mended, whole)
	t.Logf("%-26s before %.2f %v, after %.2f", name, before, breaches, after)
	switch {
	case slices.Contains(refused, name):
	case !ok:
		t.Errorf("%s: the mended session is not resumed", name)
	case len(left) > 0:
		t.Errorf("%s: the API would refuse the mended session: %v", name, left)
	case after < before:
		t.Errorf("%s: less is sent of the mended session (%.2f) than of the damaged one (%.2f)", name, after, before)
	}
	return before, after
}

// resumed is what the client sends of a session, and the rules that it breaks.
func resumed(t *testing.T, h *clienttest.Home, id string, data []byte) (items, breaches []string, ok bool) {
	t.Helper()
	if _, err := h.Put(id, data); err != nil {
		t.Fatal(err)
	}
	res, err := h.Resume(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if !res.Resumed() {
		return nil, nil, false
	}
	return clienttest.Items(res.First), clienttest.Breaches(res.First), true
}
