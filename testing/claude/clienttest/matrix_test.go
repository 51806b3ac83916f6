package clienttest

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

var (
	matrix   = flag.Bool("matrix", false, "drive the real client through all damages, not only a few")
	versions = flag.String("versions", "2.1.2,"+Newest, "the versions of the client that are driven")
	damages  = flag.String("damages", "", "with -matrix: only the damages whose names fit this regular expression")
	written  = flag.String("written", "", "the version whose recordings are damaged; by default each client's own")
	keep     = flag.String("keep", "", "a folder for the sessions that are recorded on the way")
)

// keepFile writes a file to the folder of -keep, which need not be there yet.
func keepFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(*keep, 0o700), os.WriteFile(filepath.Join(*keep, name), data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// few are the damages that the real client is always driven through: one a family.
var few = []string{
	"lost_output", "lost_output_parallel", "lost_call", "lost_user", "null_parent_middle", "uuid_missing", "reversed", "glued_two", "type_missing",
	"empty_user", "content_null", "output_wrong_id", "late_output", "kept_prompt_lost",
}

// refused are sessions that no repair makes resumable: there is no message in them that is not a sub-agent's.
var refused = []string{"sidechain_all", "only_summary", "empty"}

// TestRealClient resumes each damaged session with the client that wrote it, as it is and repaired: the repaired one is
// taken up, breaks no rule of the API, and holds no less of the history than the damaged one, and no less than nearly all
// that the damaged file still held. With -matrix, of versions without a recording one is made.
func TestRealClient(t *testing.T) {
	for _, version := range strings.Split(*versions, ",") {
		t.Run(version, func(t *testing.T) {
			bin, err := Find(version)
			if err != nil {
				t.Skip(err)
			}
			if testing.Short() {
				t.Skip("drives the real client")
			}
			h, err := NewHome(bin, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			var lines strings.Builder
			var sum tally
			for _, s := range suffering(t, h) {
				whole, own, ok := resumed(t, h, s.id, s.session.Bytes())
				if !ok || len(whole) < 4 {
					t.Fatalf("the sound session is not resumed: %v", whole)
				}
				for _, d := range s.damages {
					data := d.Do(s.session)
					if data == nil {
						continue
					}
					c := measure(t, h, s.id, d.Name, data, whole, own)
					sum.add(c)
					fmt.Fprintf(&lines, "%s %s %s %.2f\n", d.Name, c.before, c.after, c.possible)
				}
			}
			if *update && *matrix && *damages == "" {
				if err := os.WriteFile(results(cmp.Or(*written, version), version), []byte(lines.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%s: %.0f kinds of damage, history sent %.3f before, %.3f after; %.3f was possible with the sessions that resume, %.1f %% of it was reached", version, sum.cases,
				sum.before/sum.cases, sum.after/sum.cases, sum.possible/sum.cases, 100*sum.after/sum.possible)
			if sum.after < 0.98*sum.possible {
				t.Errorf("%.3f of the history is sent after the repair, under 98 %% of what was possible", sum.after/sum.cases)
			}
		})
	}
}

// victim is a sound session, and the damages that are done to it.
type victim struct {
	session Session
	id      string
	damages []Damage
}

// suffering are the sessions of a client's own that are damaged: an ordinary one, and one of each kind.
func suffering(t *testing.T, h *Home) []victim {
	t.Helper()
	writer := cmp.Or(*written, h.Bin.Version)
	wanted := regexp.MustCompile(*damages)
	unwanted := func(d Damage) bool {
		return !*matrix && !slices.Contains(few, d.Name) || !wanted.MatchString(d.Name)
	}
	s, id := recordedBy(t, h, writer)
	list := []victim{{s, id, Damages()}}
	for _, k := range Kinds() {
		if found, err := filepath.Glob(filepath.Join(fixtures, writer, k.Scenario, "*.jsonl")); err == nil && len(found) > 0 {
			s, id := recording(t, writer, k.Scenario)
			list = append(list, victim{s, id, k.Damages})
		}
	}
	for i := range list {
		list[i].damages = slices.DeleteFunc(list[i].damages, unwanted)
	}
	return slices.DeleteFunc(list, func(v victim) bool { return len(v.damages) == 0 })
}

// tally adds up what a client sent of the damaged sessions.
type tally struct{ cases, before, after, possible float64 }

func (s *tally) add(c outcomes) {
	s.cases++
	s.before += c.before.share
	s.after += c.after.share
	s.possible += c.possible
}

// recordedBy is a session that a version wrote: the recording of it in fixtures, else one that the home's client makes
// now. Its times are laid as in life.
func recordedBy(t *testing.T, h *Home, writer string) (Session, string) {
	t.Helper()
	if paths, err := filepath.Glob(filepath.Join(fixtures, writer, "resumed", "*.jsonl")); err == nil && len(paths) > 0 {
		return recording(t, writer, "resumed")
	}
	if writer != h.Bin.Version {
		t.Fatalf("there is no recording of %s", writer)
	}
	id, data, err := h.Record(t.Context(), h.Turns())
	if err != nil {
		t.Fatal(err)
	}
	if *keep != "" {
		keepFile(t, h.Bin.Version+".jsonl", data)
	}
	return Retime(Lines(data)), id
}

// results is the file of what a version did with each damage of another's sessions, or its own.
func results(writer, version string) string {
	if writer == version {
		return filepath.Join(fixtures, version, "matrix.out")
	}
	return filepath.Join(fixtures, writer, "matrix-"+version+".out")
}

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

// outcomes are what a client did with a damaged session as it is and repaired, and the share that the file still held.
type outcomes struct {
	before, after outcome
	possible      float64
}

// measure resumes a damaged session as it is and repaired. Rules that the sound session breaks, too, are no matter: the
// stand-in knows no signature but its own.
func measure(t *testing.T, h *Home, id, name string, data []byte, whole, own []string) outcomes {
	t.Helper()
	fixed, _ := mend(t, data, lint.Options{})
	items, breaches, ok := resumed(t, h, id, data)
	c := outcomes{before: outcome{Share(items, whole), breaches, ok}, possible: Share(Possible(data, whole), whole)}
	c.after = c.before
	if string(fixed) != string(data) {
		items, breaches, ok = resumed(t, h, id, fixed)
		c.after = outcome{Share(items, whole), breaches, ok}
	}
	for _, o := range []*outcome{&c.before, &c.after} {
		o.breaches = slices.DeleteFunc(slices.Clone(o.breaches), func(b string) bool { return slices.Contains(own, b) })
	}
	if slices.Contains(refused, name) {
		c.possible = 0
	}
	c.possible = max(c.possible, c.after.share)
	t.Logf("%-26s %s → %s of %.2f", name, c.before, c.after, c.possible)
	switch {
	case slices.Contains(refused, name):
	case !c.after.resumed:
		t.Errorf("%s: the repaired session is not resumed", name)
	case len(c.after.breaches) > 0 && !(slices.Contains(untold, name) && slices.Equal(c.after.breaches, []string{"signature-bad"})):
		t.Errorf("%s: the API would refuse the repaired session: %v", name, c.after.breaches)
	case c.after.share < c.before.share:
		t.Errorf("%s: less is sent of the repaired session (%.2f) than of the damaged one (%.2f)", name, c.after.share, c.before.share)
	}
	return c
}

// TestBehaviourPage makes docs/dev/claude-behaviour.md from what the clients did when they were last driven through all damages.
func TestBehaviourPage(t *testing.T) {
	var page strings.Builder
	page.WriteString(pageHead)
	for _, version := range []string{"2.1.332", "2.1.2"} {
		m, ok := measured(t, version, version)
		if !ok {
			continue
		}
		fmt.Fprintf(&page, "\n## %s\n\n", version)
		fmt.Fprintf(&page, "%d kinds of damage to sessions that it wrote: %.1f %% of the history is sent without a repair, %.1f %% after it; %.1f %% was possible, and %.1f %% of that was reached.\n\n| damage | as it is | repaired | possible |\n|---|---|---|---|\n",
			len(m.rows), m.mean(0), m.mean(1), m.mean(2), 100*m.sum[1]/m.sum[2])
		for _, f := range m.rows {
			fmt.Fprintf(&page, "| %s | %s | %s | %s |\n", strings.ReplaceAll(f[0], "_", " "), cell(f[1]), cell(f[2]), f[3])
		}
	}
	page.WriteString(othersHead)
	for _, writer := range []string{"1.0.17", "2.0.29", "2.1.100", "2.1.215"} {
		if m, ok := measured(t, writer, "2.1.330"); ok {
			fmt.Fprintf(&page, "| %s | %d | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", writer, len(m.rows), m.mean(0), m.mean(1), m.mean(2), 100*m.sum[1]/m.sum[2])
		}
	}
	path := "../../../docs/dev/claude-behaviour.md"
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != page.String() {
		t.Errorf("%s is not made of what was measured (%v): go test ./testing/claude/clienttest -run BehaviourPage -update", path, err)
	}
}

// measurement is what a version did with each damage: its name, the outcomes as it is and repaired, what was possible.
type measurement struct {
	rows [][]string
	sum  [3]float64 // of the shares
}

func (m measurement) mean(i int) float64 { return 100 * m.sum[i] / float64(len(m.rows)) }

// measured reads what a version did with the damages of another's sessions, or its own, when that was last measured.
func measured(t *testing.T, writer, version string) (m measurement, ok bool) {
	t.Helper()
	raw, err := os.ReadFile(results(writer, version))
	if os.IsNotExist(err) {
		return m, false
	}
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(raw)) {
		f := strings.Fields(row)
		m.rows = append(m.rows, f)
		for i := range m.sum {
			share, _, _ := strings.Cut(f[i+1], ":")
			if v, err := strconv.ParseFloat(share, 64); err == nil {
				m.sum[i] += v
			}
		}
	}
	return m, true
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

A recorded session is damaged in one way, put into a home of its own, and resumed by the real client on loopback, first as it is, then
after the repair. The number is the share of the sound session's items (texts, calls, outputs) that the first request contains,
word for word; a stand-in does not count. "400" names the rules of the Messages API that the request breaks. "Possible" is the share
whose content the damaged file still holds, wherever that is: the only copy of a lost text can't be recovered, and a session that was
cut short holds only what was written.

Times are realistic: each prompt comes a minute after what precedes it, each answer eight seconds later. Most kinds of damage are done to
one ordinary session; those of thinking, images and compactions to one that has them. If a compaction is cut before its summary, the
old history is sent again, which contains no item of the sound session. If the file has no hash of the answer, only the API can tell that a
signature was changed.

The tables are measured by ` + "`go test ./testing/claude/clienttest -run TestRealClient -matrix -update`" + `, the last one with
` + "`-versions 2.1.330 -written VERSION`" + `. In CI, the tests drive two versions through a few kinds of damage, and fail if a repaired
session is refused, breaks a rule or sends less.

2.1.330, 2.1.331 and 2.1.332 did the same with sessions that 2.1.330 wrote, in each of 158 rows. Where no message of the conversation is left, 2.1.2 refuses in
some runs, and in others sends a request with nothing of it.

A compaction that keeps messages changes how 2.1.332 reads the whole file (measured with shapes of one session, which TestInFrontOfACompaction
holds): what stands in front of the newest mark is gone but for what is kept, and a record stands where its id stands first, though the client
reads the last one that has it; what hangs on a record that is gone goes on behind the kept ones; and the end is the last record of the file,
whichever one a last-prompt record names, even behind it. Without such a compaction the named end counts. Where the newest mark keeps nothing
but an earlier one did, a record that hangs in front of it begins anew. 2.1.2 does none of this.
`

const othersHead = `
## 2.1.330 with what other versions wrote

| written by | kinds of damage | as it is | repaired | possible | of what was possible |
|---|---|---|---|---|---|
`

// resumed is what the client sends of a session, and the rules that it breaks.
func resumed(t *testing.T, h *Home, id string, data []byte) (items, breaches []string, ok bool) {
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
	return Items(res.First), Breaches(res.First), true
}
