package claude

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent/claude/clienttest"
)

var matrix = flag.Bool("matrix", false, "drive the real client through all damages, not only a few")

// few are the damages that the real client is always driven through: one a family.
var few = []string{
	"lost_output", "lost_output_parallel", "lost_call", "lost_user", "null_parent_middle", "uuid_missing", "reversed", "glued_two", "type_missing",
	"empty_user", "content_null", "output_wrong_id", "late_output",
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
			if testing.Short() {
				t.Skip("drives the real client")
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
			var lines strings.Builder
			for _, d := range clienttest.Damages() {
				if !*matrix && !slices.Contains(few, d.Name) {
					continue
				}
				data := d.Do(s)
				if data == nil {
					continue
				}
				was, is := measure(t, h, id, d.Name, data, whole)
				before, after, cases = before+was.share, after+is.share, cases+1
				fmt.Fprintf(&lines, "%s %s %s\n", d.Name, was, is)
			}
			if *update && *matrix {
				if err := os.WriteFile(results(version), []byte(lines.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%s: %d damages, history sent %.3f before, %.3f after", version, cases, before/float64(cases), after/float64(cases))
		})
	}
}

// results is the file of what a version did with each damage.
func results(version string) string { return filepath.Join(fixtures, version, "matrix.out") }

// outcome is what a client did with a session.
type outcome struct {
	share    float64 // of the sound session's items that were sent
	breaches []string
	resumed  bool
}

// String is the share, or that the session was refused, and the API's rules that were broken.
func (o outcome) String() string {
	s := fmt.Sprintf("%.2f", o.share)
	if !o.resumed {
		s = "refused"
	}
	if len(o.breaches) > 0 {
		s += ":" + strings.Join(o.breaches, ",")
	}
	return s
}

// measure resumes a damaged session as it is and mended.
func measure(t *testing.T, h *clienttest.Home, id, name string, data []byte, whole []string) (before, after outcome) {
	t.Helper()
	fixed := mend(t, data, lintBytes(t, data, Options{}))
	items, breaches, ok := resumed(t, h, id, data)
	before = outcome{clienttest.Share(items, whole), breaches, ok}
	after = before
	if string(fixed) != string(data) {
		items, breaches, ok = resumed(t, h, id, fixed)
		after = outcome{clienttest.Share(items, whole), breaches, ok}
	}
	t.Logf("%-26s %s → %s", name, before, after)
	switch {
	case slices.Contains(refused, name):
	case !after.resumed:
		t.Errorf("%s: the mended session is not resumed", name)
	case len(after.breaches) > 0:
		t.Errorf("%s: the API would refuse the mended session: %v", name, after.breaches)
	case after.share < before.share:
		t.Errorf("%s: less is sent of the mended session (%.2f) than of the damaged one (%.2f)", name, after.share, before.share)
	}
	return before, after
}

// TestBehaviourPage makes docs/claude-behaviour.md from what the clients did when they were last driven through all damages.
func TestBehaviourPage(t *testing.T) {
	var page strings.Builder
	page.WriteString(pageHead)
	for _, version := range []string{"2.1.330", "2.1.2"} {
		raw, err := os.ReadFile(results(version))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(strings.TrimSpace(string(raw)), "\n")
		fmt.Fprintf(&page, "\n## %s\n\n", version)
		var table strings.Builder
		var sum [2]float64
		for _, row := range rows {
			f := strings.Fields(row)
			fmt.Fprintf(&table, "| %s | %s | %s |\n", strings.ReplaceAll(f[0], "_", " "), cell(f[1]), cell(f[2]))
			for i := range sum {
				share, _, _ := strings.Cut(f[i+1], ":")
				if v, err := strconv.ParseFloat(share, 64); err == nil {
					sum[i] += v
				}
			}
		}
		n := float64(len(rows))
		fmt.Fprintf(&page, "%d damages of a session that it wrote: %.1f %% of the history is sent as it is, %.1f %% after the repair.\n\n| damage | as it is | repaired |\n|---|---|---|\n%s", len(rows), 100*sum[0]/n, 100*sum[1]/n, table.String())
	}
	path := "../../../docs/claude-behaviour.md"
	if measured, err := filepath.Glob(results("*")); err != nil || len(measured) == 0 {
		t.Skip("nothing is measured")
	}
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != page.String() {
		t.Errorf("%s is not made of what was measured (%v): go test ./internal/agent/claude -run BehaviourPage -update", path, err)
	}
}

// cell is an outcome in words.
func cell(s string) string {
	share, breaches, _ := strings.Cut(s, ":")
	if breaches != "" {
		share += " (400: " + strings.ReplaceAll(breaches, ",", ", ") + ")"
	}
	return share
}

const pageHead = `# What Claude Code does with each damage, before and after a repair

A recorded session is damaged in one way, laid into a home of its own and resumed by the real client on loopback, as it
is and after the repair. The number is the share of the sound session's items (texts, calls, outputs) that the first request
holds, word for word: a stand-in does not count. "400" names the rules of the Messages API that the request breaks. The
times are as in life: a prompt a minute after what stands before it, an answer eight seconds. What can't be had back (the
only copy of a text that is gone) keeps a row below 1.00, and a session that the cut has ended early holds what was written.

The tables are measured by ` + "`go test ./internal/agent/claude -run TestRealClient -matrix -update`" + `; the tests in CI drive a few
of the damages through two versions each time, and fail if a repaired session is refused, breaks a rule or sends less.
`

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
