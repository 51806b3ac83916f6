package beside

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/session"
)

// asked is a request to the model, as the client's log has it.
type asked struct {
	turn    string
	between [2]any // equal for all requests between two compactions
	row     LogRow
	items   []told
}

// told is an item of a request, or of the answer to one.
type told struct {
	raw   json.RawMessage
	key   uint64
	asks  bool // it is neither the model's nor an output: a prompt, or what comes before one
	said  bool // it was said by the model
	at    time.Time
	turn  string // that begins with it, "" if it is not known to be the first of one
	older bool   // it was there before the oldest request: a compaction may have made it of other items
}

// maxAsked is how many bytes of the log are held in memory at most.
const maxAsked = maxKeptText

// epoch is the time given to records that are made only to be looked at.
var epoch = time.Unix(0, 0)

// logged are the items of the conversation that the session has lost but its client's log still has: the log holds whole
// requests. The newest request is compared with the session's items. If the session ends before the newest compaction, an older
// one may be the last that fits. But if two requests disagree without a compaction between them, something was taken back, and
// only the newer one is right.
func (b *sources) logged(ctx context.Context) []check.Lost {
	gaps := b.gaps
	if b.open && !b.dead {
		from, _ := time.Parse(time.RFC3339, string(b.stamp))
		gaps = append(gaps[:len(gaps):len(gaps)], gap{behind: len(b.records), from: from, turn: string(b.turn)})
	}
	if b.sent.unknown || b.sent.paginated || len(b.records) >= maxCompared || len(gaps) == 0 && !b.sent.alone() && len(b.sent.jumps.found) == 0 {
		return nil
	}
	have := b.sent.all(b.decode)
	gaps = append(gaps[:len(gaps):len(gaps)], b.sent.halves(have)...)
	gaps = append(gaps, b.sent.jumped(have, gaps)...)
	if len(gaps) == 0 || len(gaps) >= maxGaps {
		return nil
	}
	slices.SortStableFunc(gaps, func(a, b gap) int { return cmp.Compare(a.behind, b.behind) })
	b.further = true
	requests, answers := b.requests(ctx)
	var newest []asked // the requests after a compaction of which the session knows nothing
	for said := answers; len(requests) > 0; said = nil {
		end := 1
		for end < len(requests) && requests[end].between == requests[0].between {
			end++
		}
		if lost, ok := b.compared(requests[:end], said, have, gaps, len(b.records)); ok {
			lost = merged(lost, b.earlier(ctx, requests, have, gaps))
			return append(lost, b.compacted(newest, answers, gaps)...)
		}
		if newest == nil {
			newest = requests[:end]
		}
		requests = requests[end:]
	}
	return nil
}

// compacted are the records of a compaction, and of what followed it, that were cut off from the session's end. The oldest of
// the newest requests holds what the compaction left, and the newest one what came after it. The prompt of that turn is part of
// what the compaction left, so no record begins the turn.
func (b *sources) compacted(requests []asked, answers []told, gaps []gap) []check.Lost {
	end, _ := time.Parse(time.RFC3339, string(b.stamp))
	if len(requests) == 0 || len(gaps) == 0 || gaps[len(gaps)-1].behind != len(b.records) {
		return nil
	}
	if oldest := requests[len(requests)-1]; oldest.row.At.Before(end) {
		return nil // the session went on after the compaction
	}
	first := date(requests)
	newest := requests[0]
	r := restorer{sources: b, gap: gaps[len(gaps)-1], file: newest.row.File, first: len(b.records), last: len(b.records)}
	r.at = first.row.At
	r.put(codex.CompactedRecord(first.row.At, raws(first.items)))
	return r.restored(slices.Concat(newest.items[len(first.items):], answers))
}

func raws(items []told) []json.RawMessage {
	list := make([]json.RawMessage, len(items))
	for i, item := range items {
		list[i] = item.raw
	}
	return list
}

// requests are the thread's requests that the log still has, newest first, and what the model answered to the newest. There are
// none if one is in an unknown form: it might be the one that matters.
func (b *sources) requests(ctx context.Context) (list []asked, answers []told) {
	size, others, known, last := 0, 0, true, false
	err := LoggedRequests(ctx, b.dir, b.name.ThreadID, func(row LogRow) bool {
		if size += len(row.Text); size > maxAsked {
			return false
		}
		r, ok := codex.RequestFromLog(b.name.ThreadID, row.Text)
		row.Text = ""
		if known = ok; !ok {
			return false
		}
		switch {
		case r == nil:
		case r.Turns:
			last = last || others == 0
			list = append(list, asked{turn: r.Turn, between: [2]any{r.Window, others}, row: row, items: b.items(r.History, row.At)})
		default:
			others++ // it asks for a summary
		}
		return true
	})
	if !b.read(err) || !known {
		return nil, nil // a log that can't be read is not used
	}
	if last {
		answers = b.answers(ctx, list[0].row, nil)
	}
	return list, answers
}

// answers are what the model said to a request before the next one was sent; next is nil for the newest request.
func (b *sources) answers(ctx context.Context, sent LogRow, next *LogRow) (list []told) {
	size := 0
	err := LoggedAnswers(ctx, b.dir, b.name.ThreadID, sent, func(row LogRow) bool {
		if next != nil && next.File == row.File && row.ID > next.ID {
			return false
		}
		if item := codex.AnswerFromLog(row.Text); item != nil {
			list = append(list, b.items([]json.RawMessage{item}, row.At)...)
			size += len(item)
		}
		return size < maxAsked
	})
	if !b.read(err) {
		return nil
	}
	return list
}

// items are the items of a request that are part of a session's history.
func (b *sources) items(raw []json.RawMessage, at time.Time) []told {
	list := make([]told, 0, len(raw))
	for _, item := range raw {
		if rec := b.decode(codex.ItemRecord(epoch, item)); rec != nil && inHistory(rec) {
			list = append(list, told{raw: item, key: b.sent.key(rec), asks: asks(rec), said: !asks(rec) && rec.Kind != session.Output, at: at})
		}
	}
	return list
}

// inHistory says whether a record holds an item that both a request and a session have. In place of an output that it does not
// have, the client sends a text of its own.
func inHistory(rec *session.Record) bool { return rec.Model && !codex.IsFilledIn(rec) }

func asks(rec *session.Record) bool {
	return rec.Type == "response_item/message" && !rec.Answer
}

// earlier are items that were lost before the point where another process went on with the damaged session. That process's
// requests lack them, but earlier requests hold them. The newest of these is compared with what comes before that point. What
// one process has sent and then no longer sends was taken back.
func (b *sources) earlier(ctx context.Context, requests []asked, have []sentItem, gaps []gap) (lost []check.Lost) {
	tried := 0
	for from := 1; from < len(requests) && tried < maxEarlier; from++ {
		next := requests[from-1]
		end, ok := b.wentOn(requests[from], next, gaps)
		if next.row.Process == requests[from].row.Process || !ok || end <= b.sent.behind {
			continue
		}
		tried++
		until := from + 1
		for until < len(requests) && requests[until].between == requests[from].between {
			until++
		}
		front, _ := slices.BinarySearchFunc(have, end, func(item sentItem, at int) int { return cmp.Compare(int(item.record), at) })
		holes, _ := slices.BinarySearchFunc(gaps, end+1, func(g gap, at int) int { return cmp.Compare(g.behind, at) })
		said := b.answers(ctx, requests[from].row, &next.row)
		if more, ok := b.compared(requests[from:until], said, have[:front], gaps[:holes], end); ok {
			lost = merged(lost, more)
		}
	}
	return lost
}

// maxEarlier is how many processes before the newest are looked at.
const maxEarlier = 16

// wentOn is how many records come before the point where the process that sent next continued after the one that sent last:
// those before its turn or, if that is not known, before the damaged place between the two.
func (b *sources) wentOn(last, next asked, gaps []gap) (records int, ok bool) {
	if at, ok := b.sent.begun[next.turn]; ok && next.turn != "" {
		return at, true
	}
	for _, g := range gaps {
		if !g.to.IsZero() && last.row.At.Before(g.to) && !next.row.At.Before(g.to) {
			records, ok = g.behind, true
		}
	}
	return records, ok
}

// compared compares the newest of some requests with the session, or with its first records. The requests are those between two
// compactions, newest first.
func (b *sources) compared(requests []asked, answers []told, have []sentItem, gaps []gap, records int) ([]check.Lost, bool) {
	newest := requests[0]
	date(requests)
	keys, in, damaged := holesIn(have, gaps, records)
	before := func(j int) bool { return newest.row.At.Before(b.sent.at[int(have[j].record)]) }
	all := slices.Concat(newest.items, answers)
	lost, ok := align(keys, keysOf(all), damaged, before)
	if !ok && len(answers) > 0 {
		lost, ok = align(keys, keysOf(newest.items), damaged, before)
	}
	var out []check.Lost
	for _, f := range lost {
		r := restorer{sources: b, gap: gaps[in[f.at]], file: newest.row.File, first: -1, last: records}
		if f.at > 0 {
			r.first = int(have[f.at-1].record)
		}
		if f.at < len(have) {
			r.last = int(have[f.at].record)
		}
		out = append(out, r.restored(all[f.from:f.to])...)
	}
	return out, ok
}

func keysOf(items []told) []uint64 {
	keys := make([]uint64, len(items))
	for i, item := range items {
		keys[i] = item.key
	}
	return keys
}

// holesIn says in front of which items, or of the end, something is damaged, and which gap that is; the first if there are
// several.
func holesIn(have []sentItem, gaps []gap, records int) (keys []uint64, in []int, is []bool) {
	in, is = make([]int, len(have)+1), make([]bool, len(have)+1)
	next, last := 0, -1
	for j := range in {
		this := records
		if j < len(have) {
			this = int(have[j].record)
			keys = append(keys, have[j].key)
		}
		for next < len(gaps) && gaps[next].behind <= last {
			next++
		}
		in[j], is[j] = next, next < len(gaps) && gaps[next].behind <= this
		last = this
	}
	return keys, in, is
}

// date sets when the items of the newest request were first sent, and which turns began with them: each older request that is a
// beginning of it shows that. It returns the oldest such request.
func date(requests []asked) (oldest asked) {
	newest := requests[0].items
	starts := []asked{requests[0]} // those requests, the newest first
	for _, r := range requests[1:] {
		last := starts[len(starts)-1].items
		if len(r.items) < len(last) && slices.EqualFunc(r.items, last[:len(r.items)], func(a, b told) bool { return a.key == b.key }) {
			starts = append(starts, r)
		}
	}
	for i, r := range starts {
		from, before := 0, r.row.At
		if i+1 < len(starts) {
			from, before = len(starts[i+1].items), starts[i+1].row.At
		}
		end := len(r.items) // the last words that are not the model's are those with which the turn began
		for end > from && !newest[end-1].asks {
			end--
		}
		begin := end
		for begin > from && newest[begin-1].asks {
			begin--
		}
		for k := from; k < len(r.items); k++ {
			item := &newest[k]
			if item.at = r.row.At; item.said {
				item.at = before // it answers that request
			}
			if begin <= k && k < end {
				item.turn = r.turn
			}
			item.older = i+1 == len(starts) && k < begin
		}
	}
	return starts[len(starts)-1]
}
