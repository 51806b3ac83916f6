package clienttest

import (
	"cmp"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/reader"
)

var model = flag.Bool("model", false, "with -random: ask a model of the client (2.1.2 and 2.1.330), which takes milliseconds; what falls short is then to be tried with the client itself")

// modelled is what a client sends of a session, as far as the model of it knows.
func modelled(version string) func(t *testing.T, id string, data []byte) (items, breaches []string, ok bool) {
	return func(t *testing.T, _ string, data []byte) ([]string, []string, bool) {
		s := Lines(data)
		as := ""
		if version == "2.1.2" {
			as = version
		}
		sent := sentBy(as, s)
		items := itemsOf(s, sent)
		return items, nil, len(items) > 0
	}
}

// Sent are the uuids of the records that the newest client reads from the end up.
func Sent(s Session) map[string]bool { return sentBy("", s) }

// sentBy is Sent for a version.
func sentBy(version string, s Session) map[string]bool {
	ids := map[string]bool{}
	for _, at := range reader.Reached(s.Bytes(), version) {
		ids[get(s[at.Line-1], "uuid")] = true
	}
	return ids
}

// sentRecord is a record that is sent.
type sentRecord struct {
	at     int
	when   time.Time
	answer string
	items  []string
}

// kindAndID is the kind of a call or an output and the call's id; of other items it is only the kind.
func kindAndID(item string) string {
	kind, rest, _ := strings.Cut(item, " ")
	if kind != "call" && kind != "result" {
		return kind
	}
	id, _, _ := strings.Cut(rest, " ")
	return kind + " " + id
}

// itemsOf are the items of the records that are sent, in the order of their times, without calls that have no output, unless
// they stand at the end, and outputs that have no call.
func itemsOf(s Session, sent map[string]bool) (items []string) {
	last := map[string]int{}
	times := make([]time.Time, len(s)) // of a record without one: that of the record in front
	for i, l := range s {
		if times[i], _ = time.Parse(time.RFC3339, get(l, "timestamp")); i > 0 && times[i].IsZero() {
			times[i] = times[i-1]
		}
		if gjson.ValidBytes(l) {
			if t := get(l, "type"); t == "user" || t == "assistant" {
				last[get(l, "uuid")] = i
			}
		}
	}
	var recs []sentRecord
	for id := range sent {
		if i, ok := last[id]; ok && !gjson.GetBytes(s[i], "isApiErrorMessage").Bool() {
			r := sentRecord{at: i, when: times[i], answer: get(s[i], "message.id")}
			r.items = Items([]byte(`{"messages":[{"role":"` + get(s[i], "type") + `","content":` + gjson.GetBytes(s[i], "message.content").Raw + `}]}`))
			recs = append(recs, r)
		}
	}
	slices.SortFunc(recs, func(a, b sentRecord) int { return cmp.Or(a.when.Compare(b.when), a.at-b.at) })
	halves := map[string]bool{}
	for _, r := range recs {
		for _, item := range r.items {
			halves[kindAndID(item)] = true
		}
	}
	done := map[string]bool{}
	for _, r := range recs {
		atEnd := r.answer != "" && r.answer == recs[len(recs)-1].answer
		for _, item := range r.items {
			half := kindAndID(item)
			id, call := strings.CutPrefix(half, "call ")
			id, output := strings.CutPrefix(id, "result ")
			if (call || output) && done[half] || call && !halves["result "+id] && !atEnd || output && !halves["call "+id] {
				continue
			}
			done[half] = true
			items = append(items, item)
		}
	}
	return items
}
