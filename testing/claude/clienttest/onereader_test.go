package clienttest

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/agent/claude/reader"
	"github.com/hist-cli/hist/internal/session"
)

// sentItems are the items of what a version sends, as Items gives those of a request.
func sentItems(sent *session.Sent) (items []string) {
	for i := range sent.Items {
		item := &sent.Items[i]
		if item.Made != "" {
			continue
		}
		raw := string(item.Content)
		if raw[0] == '{' {
			raw = "[" + raw + "]"
		}
		items = append(items, Items([]byte(`{"messages":[{"role":"`+item.Role+`","content":`+raw+`}]}`))...)
	}
	return items
}

// TestReaderAgainstClients holds the reader against every share that real clients were measured to send, of damaged sessions as they
// are.
func TestReaderAgainstClients(t *testing.T) {
	const mayDiffer = 8
	rows, wrong := 0, 0
	for _, c := range [][2]string{{"2.1.330", "2.1.330"}, {"2.1.215", "2.1.330"}, {"2.1.100", "2.1.330"}, {"2.0.29", "2.1.330"}, {"1.0.17", "2.1.330"}, {"2.1.2", "2.1.2"}} {
		m, ok := measured(t, c[0], c[1])
		if !ok {
			t.Fatalf("nothing was measured of %s with files of %s", c[1], c[0])
		}
		truth := map[string]string{}
		for _, r := range m.rows {
			truth[r[0]] = r[1]
		}
		for _, v := range victimsOf(t, c[0]) {
			whole := sentItems(reader.Sent(v.session.Bytes(), c[1], nil))
			for _, d := range v.damages {
				is, ok := truth[d.Name]
				data := d.Do(v.session)
				if !ok || data == nil {
					continue
				}
				word, _, _ := strings.Cut(is, ":")
				want, err := strconv.ParseFloat(word, 64)
				if err != nil {
					want = 0
				}
				rows++
				sent := reader.Sent(data, c[1], nil)
				got := 0.0
				if sent.Refused == "" {
					got = Share(sentItems(sent), whole)
				}
				if math.Abs(got-want) > 0.011 {
					wrong++
					t.Logf("%s of a file of %s, %s: the client sends %s, the reader says %.2f %s", c[1], c[0], d.Name, is, got, sent.Refused)
				}
			}
		}
	}
	t.Logf("%d of %d rows differ", wrong, rows)
	if rows < 700 || wrong > mayDiffer {
		t.Errorf("%d of %d rows differ from what clients send, more than %d", wrong, rows, mayDiffer)
	}
}

// victimsOf are the recordings of a version that the matrices damage.
func victimsOf(t *testing.T, writer string) []victim {
	s, id := recording(t, writer, "resumed")
	list := []victim{{s, id, Damages()}}
	for _, k := range Kinds() {
		if found, err := filepath.Glob(filepath.Join(fixtures, writer, k.Scenario, "*.jsonl")); err == nil && len(found) > 0 {
			s, id := recording(t, writer, k.Scenario)
			list = append(list, victim{s, id, k.Damages})
		}
	}
	return list
}

// TestWhereNoEndIsNoted: a copy of a record in the middle stands last, and nothing names the end. 2.1.332 was sent what was said last below
// that, over whatever parent, and not the way down the newest children.
func TestWhereNoEndIsNoted(t *testing.T) {
	s, _ := recording(t, "2.1.2", "resumed")
	whole := sentItems(reader.Sent(s.Bytes(), "2.1.332", nil))
	for _, i := range []int{s.find(0, isPrompt), s.firstCall(), s.midText()} {
		if sent := sentItems(reader.Sent(append(slices.Clone(s), s[i]).Bytes(), "2.1.332", nil)); Share(sent, whole) < 1 {
			t.Errorf("a copy of line %d: %.2f is sent", i+1, Share(sent, whole))
		}
	}
	end := s.endOfTurn()
	for by, left := range map[time.Duration]bool{0: false, 3 * time.Second: false, 63 * time.Second: true} {
		p, a := branch(s[end], by, "9") // begins so much later than the turn that goes on
		d := append(slices.Insert(slices.Clone(s), s.second()+2, p, a), s[end])
		if sent := sentItems(reader.Sent(d.Bytes(), "2.1.332", nil)); (Share(sent, whole) < 1) != left {
			t.Errorf("a branch that begins %v later: %.2f is sent", by, Share(sent, whole))
		}
	}
}
