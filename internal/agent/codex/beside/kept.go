package beside

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/agent/codex/rules"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/lint"
)

// maxKeptText is how many bytes of lost records are held at most.
const maxKeptText = 64 << 20

// view compares the client's database of its home with a session. It notes what the file holds, and asks the database at the end: of
// nearly all sessions it has nothing that the file lacks.
type view struct {
	of       *copies            // of the session
	items    map[keptName]int64 // the completed items of the file, with the ordinal under which each comes first, -1 if it has none
	begun    map[string]bool    // turns that begin, or end, in the file
	ended    map[string]bool
	searches map[string]bool // ids of the searches that the file has
	ordinals []span          // that records of the file have, as they come
	any      bool            // the file holds any record
}

// span are ordinals, one after the other.
type span struct{ first, last int64 }

// Kept is what a Codex home keeps of the session in a file with that name, nil if that is nothing. older returns the files in
// which hist kept the session in earlier runs; it is called, and forks are asked, only if something is damaged.
func Kept(ctx context.Context, dir, base string, older func() []string, forks *Forks) check.Kept {
	name, ok := home.ParseName(base)
	if !ok {
		return nil
	}
	c := newCopies(dir, base, name, older, forks)
	return &sources{copies: c, prompts: newPrompts(), sent: newSent(), view: newView(c)}
}

// sources are all that a home keeps of a session beside its file: other files, which hold the records themselves; what was
// typed; what was sent and is still in the client's log; and the client's database.
type sources struct {
	*copies
	prompts *prompts
	sent    *sent
	said    said
	view    *view
}

// See notes what the file holds.
func (b *sources) See(rec *session.Record) {
	b.sent.See(rec, len(b.records), b.damaged())
	b.copies.See(rec)
	b.say(rec, len(b.records)-1)
	had := b.prompts.count
	b.prompts.follow(rec, len(b.records)-1)
	b.prompts.See(rec)
	if had == 0 && b.prompts.count > 0 {
		b.prompt = len(b.records) - 1
	}
	b.view.See(rec)
}

// Missing are the records that the file lacks: those that another file holds; otherwise those that the client's log or its
// database shows; and prompts of which there is no other trace.
func (b *sources) Missing(ctx context.Context, h session.Info) []check.Lost {
	b.jumped = len(b.sent.jumps.found) > 0
	copied, short := b.missing(ctx, h)
	lost := b.longer(copied, b.logged(ctx), short)
	for i := range lost {
		if rec := b.decode(lost[i].Line); rec != nil {
			b.prompts.See(rec)
			if rec.Kind == session.Compaction {
				b.prompts.seeLeft(rec)
			}
			b.view.See(rec)
		}
	}
	told := b.view.Missing(ctx, h)
	for i := range told {
		if rec := b.decode(told[i].Line); rec != nil {
			b.prompts.See(rec)
		}
	}
	b.cutBefore(told)
	lost = append(lost, told...)
	var typed []check.Lost
	if codex.OfSubagent(h) {
		clear(b.prompts.bare) // what a sub-agent was asked is not a user's prompt
	}
	if b.prompts.count == 0 && b.answer == 0 && len(b.gaps) == 0 && (b.headed || len(b.records) == 0) && !inherits(h) {
		b.gap(time.Time{}, b.last, session.Ordinal{}) // a session is begun with a prompt
	}
	if len(b.gaps) > 0 || len(b.prompts.bare) > 0 {
		b.further = true
		typed = b.prompts.missing(ctx, b.copies, h.Paginated())
	}
	if len(typed) == 0 && (len(b.gaps) > 0 || b.prompts.answeredNone(b.copies)) {
		typed = b.prompts.first(ctx, b.copies, h)
	}
	others := inTime(typed, b.loggedCalls(ctx, lost))
	if h.Paginated() {
		others = b.numbered(lost, others)
	}
	if lost = append(lost, others...); len(lost) == 0 {
		return b.otherForm(ctx)
	}
	slices.SortStableFunc(lost, func(a, b check.Lost) int {
		return cmp.Or(cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.Behind, b.Behind))
	})
	return lost
}

// longer adds to the records from copies what the log shows at other places. If a copy ends within what is lost, the log may go
// on from there: that is added if everything the copy has there is the beginning of what the log has. Otherwise the place is
// filled by the source that has more.
func (b *sources) longer(copied, logged []check.Lost, short map[int]bool) []check.Lost {
	lost := b.apart(copied, logged)
	for _, place := range slices.Sorted(maps.Keys(short)) {
		there, told := at(place, copied), b.inRoom(place, logged)
		if !short[place] || len(told) == 0 {
			continue
		}
		more := b.beyond(there, told)
		if more == nil && b.countItems(told) > b.countItems(there) {
			lost, more = slices.DeleteFunc(lost, func(l check.Lost) bool { return l.Behind == place }), told
		}
		lost = append(lost, more...)
	}
	return lost
}

// room is a place's position among the items of the history: how many come before it. That is all that the log shows of a
// place. What comes before the newest compaction is not counted.
func (b *sources) room(place int) int {
	if place <= b.sent.behind {
		return -1 - place
	}
	n, _ := slices.BinarySearchFunc(b.sent.items, place, func(item sentItem, at int) int { return cmp.Compare(int(item.record), at) })
	return n
}

// apart adds to the records from copies what the log shows in rooms in which no copy has an item. In other rooms, the log may
// mean another place.
func (b *sources) apart(copied, logged []check.Lost) []check.Lost {
	had := map[int]bool{}
	for _, l := range copied {
		if room := b.room(l.Behind); !had[room] && b.holdsItem(l) {
			had[room] = true
		}
	}
	return merged(copied, slices.DeleteFunc(slices.Clone(logged), func(l check.Lost) bool { return had[b.room(l.Behind)] }))
}

// inRoom is what the log shows in the room of a place, at that place or after it.
func (b *sources) inRoom(place int, logged []check.Lost) (there []check.Lost) {
	for _, l := range logged {
		if b.room(l.Behind) == b.room(place) {
			l.Behind = max(l.Behind, place)
			there = append(there, l)
		}
	}
	return there
}

// countItems counts the lost records that hold items of the model's history.
func (b *sources) countItems(lost []check.Lost) (n int) {
	for _, l := range lost {
		if b.holdsItem(l) {
			n++
		}
	}
	return n
}

// at are the lost records that come in front of a record of the session.
func at(place int, lost []check.Lost) (there []check.Lost) {
	for _, l := range lost {
		if l.Behind == place {
			there = append(there, l)
		}
	}
	return there
}

// beyond is what the log shows after the end of a copy. It is nil if the copy is not the beginning of it.
func (b *sources) beyond(copied, logged []check.Lost) []check.Lost {
	at, shown := 0, "" // how much of the log the copy has, and the text that the copy's events show after that
	for _, l := range copied {
		rec := b.decode(l.Line)
		if rec == nil || !inHistory(rec) {
			shown = shownIn(rec)
			continue
		}
		key := b.sent.key(rec)
		for at < len(logged) && !b.holdsItem(logged[at]) {
			at++
		}
		if at == len(logged) || b.sent.key(b.decode(logged[at].Line)) != key {
			return nil
		}
		at, shown = at+1, ""
	}
	if at == 0 {
		return nil
	}
	if at < len(logged) && shown != "" && shownIn(b.decode(logged[at].Line)) == shown {
		at++
	}
	return logged[at:]
}

// holdsItem says whether a lost record holds an item of the model's history.
func (b *sources) holdsItem(l check.Lost) bool {
	rec := b.decode(l.Line)
	return rec != nil && inHistory(rec)
}

// shownIn is the text of a message that an event shows, as it is in the file; "" if it is not such an event.
func shownIn(rec *session.Record) string {
	if rec == nil || rec.Kind != session.Evidence {
		return ""
	}
	return string(codex.ShownText(rec))
}

// inTime merges what two sources show, in the order of the times.
func inTime(some, others []check.Lost) []check.Lost {
	all := slices.Concat(some, others)
	slices.SortStableFunc(all, func(a, b check.Lost) int { return a.At.Compare(b.At) })
	return all
}

// Finding is the rule, impact, fix and source of lost records.
func (*sources) Finding() lint.Finding {
	return lint.Finding{Rule: rules.LostRecords, Impact: lint.Loses, Fix: lint.Recovered, Source: rules.KeptSource}
}

// Time is when a record was written.
func (*sources) Time(rec *session.Record) time.Time { return codex.Time(rec) }

func newView(of *copies) *view {
	return &view{of: of, items: map[keptName]int64{}, begun: map[string]bool{}, ended: map[string]bool{}, searches: map[string]bool{}}
}

// See notes what the file holds.
func (v *view) See(rec *session.Record) {
	v.any = v.any || rec.Kind != session.Unreadable
	ordinal := int64(-1)
	if rec.Ordinal.State == session.GoodOrdinal && rec.Kind != session.Unreadable {
		ordinal = rec.Ordinal.Value
		if n := len(v.ordinals) - 1; n >= 0 && v.ordinals[n].last+1 == ordinal {
			v.ordinals[n].last++
		} else {
			v.ordinals = append(v.ordinals, span{ordinal, ordinal})
		}
	}
	switch {
	case rec.Kind == session.TurnStart:
		v.begun[string(rec.TurnID)] = true
	case rec.Kind == session.TurnEnd:
		v.ended[string(rec.TurnID)] = true
	case rec.Type == "response_item/web_search_call":
		v.searches[string(rec.ID)] = true
	case rec.Type == "event_msg/item_completed" && !rec.Torn: // for one that was cut off, the whole is looked for
		name := keptName{Turn: string(rec.TurnID), ID: string(rec.CallID)}
		if _, seen := v.items[name]; !seen {
			v.items[name] = ordinal
		}
	}
}

// Missing are the records that the file lacks, in their order. If the file's ordinals disagree with the database's, no place is
// known for any of them.
func (v *view) Missing(ctx context.Context, h session.Info) []check.Lost {
	if !h.Paginated() {
		return nil
	}
	names, turns, err := keptNames(ctx, v.of.dir, v.of.name.RolloutID)
	if !v.of.read(err) || v.holds(names, turns) || !v.any && h.BaseThread == "" && !begins(turns) {
		return nil // what can't be read of the home is reported when it is compared with the session
	}
	v.of.further = true // what the items hold decides, too
	all, err := keptItems(ctx, v.of.dir, v.of.name.RolloutID)
	if !v.of.read(err) {
		return nil
	}
	newest := int64(0) // the highest ordinal under which both have the same item
	var items []keptItem
	for _, item := range all {
		switch ordinal, seen := v.items[keptName{Turn: item.Turn, ID: item.ID}]; {
		case seen && ordinal >= 0 && ordinal != item.Ordinal:
			return nil
		case seen:
			newest = max(newest, item.Ordinal)
		case item.Ordinal >= max(h.BaseOrdinal, h.SubagentStart):
			items = append(items, item)
		}
	}
	if items, err = keptText(ctx, v.of.dir, v.of.name.RolloutID, items, maxKeptText); !v.of.read(err) {
		return nil
	}
	out := v.missing(h, items, turns, all)
	for i := range out {
		out[i].Sure = out[i].Ordinal < newest && !v.given(out[i].Ordinal)
	}
	slices.SortStableFunc(out, func(a, b check.Lost) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	return out
}

// holds says whether the file holds all that the database does.
func (v *view) holds(names []keptName, turns []keptTurn) bool {
	lacks := func(n keptName) bool { _, seen := v.items[n]; return !seen }
	open := func(t keptTurn) bool { return !v.begun[t.ID] || t.End >= 0 && !v.ended[t.ID] }
	return !slices.ContainsFunc(names, lacks) && !slices.ContainsFunc(turns, open)
}

// given says whether the file has given an ordinal to a record.
func (v *view) given(ordinal int64) bool {
	return slices.ContainsFunc(v.ordinals, func(s span) bool { return s.first <= ordinal && ordinal <= s.last })
}

// missing are the records of some items, and those that begin and end turns. all are all items of the database.
func (v *view) missing(h session.Info, items []keptItem, turns []keptTurn, all []keptItem) (out []check.Lost) {
	answers := map[string]string{} // texts of the lost answers, by id
	for _, item := range items {
		place := codex.KeptPlace{Thread: h.ID, Turn: item.Turn, CWD: h.CWD, At: item.At, Ordinal: item.Ordinal}
		if line := codex.EventFromKept(place, []byte(item.JSON)); line != nil {
			out = append(out, check.Lost{Ordinal: item.Ordinal, At: item.At, Line: line, Begun: item.Begun})
			answers[item.ID] = codex.KeptAnswer([]byte(item.JSON))
		}
		if line := codex.SearchFromKept(place, []byte(item.JSON)); line != nil && !v.searches[item.ID] {
			out = append(out, check.Lost{Ordinal: item.Ordinal + 1, At: item.At, Line: line, Begun: item.Begun})
		}
	}
	for _, t := range turns {
		place := codex.KeptPlace{Thread: h.ID, Turn: t.ID, At: after(all, t.Ordinal, t.Started), Ordinal: t.Ordinal}
		if !v.begun[t.ID] && t.Ordinal > 0 && t.Started.Unix() > 0 {
			out = append(out, check.Lost{Ordinal: t.Ordinal, At: place.At, Rounded: true, Line: codex.NewTurnStarted(place)})
		}
		if v.ended[t.ID] || t.End < 0 || t.Completed.Unix() <= 0 {
			continue
		}
		place.At, place.Ordinal = after(all, t.End, t.Completed), t.End
		end := codex.KeptEnd{Status: t.Status, Error: t.Error, Last: answers[t.Final], Started: t.Started, Took: t.Took}
		if line := codex.NewTurnEnded(place, end); line != nil {
			out = append(out, check.Lost{Ordinal: t.End, At: place.At, Rounded: true, Line: line})
		}
	}
	return out
}

// begins says whether a thread began with these turns. If it did not, and its file no longer shows it, the thread continued
// another one that nothing names.
func begins(turns []keptTurn) bool {
	return slices.ContainsFunc(turns, func(t keptTurn) bool { return t.Ordinal > 0 && t.Ordinal <= codex.FirstTurn })
}

// after is a time that was kept in whole seconds, but not earlier than that of the item before the record with an ordinal.
func after(items []keptItem, ordinal int64, at time.Time) time.Time {
	i, _ := slices.BinarySearchFunc(items, ordinal, func(item keptItem, n int64) int { return cmp.Compare(item.Ordinal, n) })
	if i > 0 && items[i-1].At.After(at) && items[i-1].At.Sub(at) < time.Second {
		return items[i-1].At
	}
	return at
}

// Listed is what another file of a thread, or else a home's list of threads, or the torn header of a fork, says about it; nil
// if nothing does, or in an unknown form.
func Listed(ctx context.Context, dir, thread string) *check.Listed {
	l, err := threadRow(ctx, dir, thread)
	if err != nil {
		l = nil // what can't be read of the home is reported when it is compared with the session
	}
	if other := twin(ctx, dir, thread); other != nil && (l == nil || l.Base == other.Base) {
		return other
	}
	return tornFork(ctx, dir, thread, l)
}

// twin is what another file of the same session says in its header: its compressed twin, its copy in the archive, or a backup.
func twin(ctx context.Context, dir, thread string) *check.Listed {
	found, err := home.Find(ctx, dir, thread)
	if err != nil {
		return nil
	}
	for _, one := range found {
		base := strings.TrimSuffix(filepath.Base(one), ".zst")
		same := []string{one, filepath.Join(filepath.Dir(one), base+".zst"), filepath.Join(dir, "archived_sessions", base), filepath.Join(dir, "archived_sessions", base+".zst")}
		for _, path := range append(same, home.Backups(one)...) {
			line := headerLine(ctx, path)
			h := codex.ReadHeader(line)
			if h.ID != thread || len(codex.HeaderFaults(line, codex.Known{})) > 0 {
				continue
			}
			l := &check.Listed{Info: h, Base: base, Header: line, From: within(dir, path)}
			l.Created, _ = time.Parse(time.RFC3339, codex.StampOf(line))
			return l
		}
	}
	return nil
}
