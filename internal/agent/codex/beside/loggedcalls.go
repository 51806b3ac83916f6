package beside

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/session"
)

// loggedCall is a call that the client's log shows.
type loggedCall struct {
	codex.LoggedCall
	at   time.Time
	file string
	row  int64
}

// loggedCalls are calls that the session has lost and that the log shows one by one, without their outputs. Each goes into the
// only gap into which its time falls, or in front of its output if that is in the session.
func (b *sources) loggedCalls(ctx context.Context, had []check.Lost) (lost []check.Lost) {
	if b.sent.unknown || len(b.gaps) == 0 && !b.sent.pairs {
		return nil
	}
	b.further = true
	if b.sent.paginated {
		return b.numberedCalls(ctx, had)
	}
	known, alone := b.sentCalls(had)
	for _, call := range b.callsInLog(ctx) {
		key := b.sent.callKey(call.ID)
		behind, ok := alone[key]
		if !ok {
			behind, ok = b.gapAt(call.at)
		}
		if !ok || known[key] {
			continue
		}
		if call.ID == "" && (behind < len(b.records) || b.sent.hasAsked(call.Input)) { // it may be a call that is there
			continue
		}
		id := cmp.Or(call.ID, fmt.Sprintf("call_hist_log_%d", call.row))
		line := codex.CallRecord(call.at, call.Type, id, call.Tool, call.Input)
		if b.decode(line) == nil {
			continue
		}
		lost = append(lost, check.Lost{Ordinal: -1, Placed: true, Behind: behind, At: call.at, From: call.file, Retold: true, Line: line})
	}
	return lost
}

// sentCalls are the keys of the session's calls, and of those in the records that were found for it. alone are the places of
// the outputs without a call, by the call's key.
func (b *sources) sentCalls(had []check.Lost) (known map[uint64]bool, alone map[uint64]int) {
	known, alone = map[uint64]bool{}, map[uint64]int{}
	for _, item := range b.sent.items {
		switch item.kind {
		case session.Call:
			known[item.key] = true
		case session.Output:
			if _, noted := alone[item.call()]; !noted && !known[item.call()] {
				alone[item.call()] = int(item.record)
			}
		}
	}
	for _, l := range had {
		if rec := b.decode(l.Line); rec != nil && rec.Kind == session.Call {
			known[b.sent.key(rec)] = true
		}
	}
	return known, alone
}

// gapAt is the only gap after the newest compaction into which a time falls.
func (b *sources) gapAt(at time.Time) (behind int, ok bool) {
	for _, g := range b.gaps {
		if g.behind > b.sent.behind && !at.Before(g.from) && (g.to.IsZero() || at.Before(g.to)) {
			if ok {
				return 0, false // it may belong to either gap
			}
			behind, ok = g.behind, true
		}
	}
	return behind, ok
}

// callsInLog are the calls that the log shows, in their order.
func (b *sources) callsInLog(ctx context.Context) (calls []loggedCall) {
	var done []loggedCall
	kind, size := "", 0
	err := LoggedCalls(ctx, b.dir, b.name.ThreadID, func(row LogRow) bool {
		c, ok := codex.CallFromLog(b.name.ThreadID, row.Text)
		one := loggedCall{c, row.At, row.File, row.ID}
		switch {
		case !ok:
			kind = ""
		case c.Type != "":
			kind = c.Type
		case c.ID != "":
			one.at = row.At.Add(-c.Took)
			done = append(done, one)
		case kind != "":
			one.Type, kind = kind, ""
			calls = append(calls, one)
		}
		size += len(c.Input)
		return size < maxAsked
	})
	if !b.read(err) {
		return nil // a log that can't be read is not used
	}
	named(calls, done)
	return calls
}

// startSlack is how much later than its row a call may seem to have begun, because its duration is given in whole milliseconds.
const startSlack = 20 * time.Millisecond

// named gives calls their ids, which are in the rows about their ends. If several calls of one tool were running when one of
// them ended, none of them gets an id, because it can't be known whose it is.
func named(calls, done []loggedCall) {
	slices.SortStableFunc(done, func(a, b loggedCall) int { return a.at.Compare(b.at) })
	waiting, unsure := map[[2]string][]int{}, map[int]bool{} // of each turn and tool: the calls that have no id yet
	for i, c := range calls {
		of := [2]string{c.Turn, c.Tool}
		waiting[of] = append(waiting[of], i)
	}
	for _, d := range done {
		of := [2]string{d.Turn, d.Tool}
		begun := waiting[of]
		if late := slices.IndexFunc(begun, func(i int) bool { return calls[i].at.After(d.at.Add(startSlack)) }); late >= 0 {
			begun = begun[:late]
		}
		if len(begun) == 0 {
			continue
		}
		for _, i := range begun {
			unsure[i] = unsure[i] || len(begun) > 1
		}
		if !unsure[begun[0]] {
			calls[begun[0]].ID = d.ID
		}
		waiting[of] = waiting[of][1:]
	}
}
