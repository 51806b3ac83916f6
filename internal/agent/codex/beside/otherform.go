package beside

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/session"
)

// said follows the items of a session that lies in the home twice. A client that turns a session into another form writes all of
// its records anew, so that no line of the older file is in the newer one: only what was said is the same.
type said struct {
	keys  []uint64 // of the items, see sent.key
	at    []int    // the records that hold them
	back  bool     // something was taken back or summed up: which items stand is not known here
	twice int8     // the session lies in the home twice: 1 yes, -1 no, 0 not asked yet
}

// say notes an item of the session that so many readable records come before.
func (b *sources) say(rec *session.Record, records int) {
	s := &b.said
	if s.twice == 0 {
		if s.twice = -1; len(b.files()) > 1 {
			s.twice = 1
		}
	}
	switch {
	case s.twice < 0 || rec.Torn:
	case rec.Kind == session.Rollback || rec.Kind == session.Compaction:
		s.back = true
	case inHistory(rec) && len(s.at) < maxCompared:
		s.keys, s.at = append(s.keys, b.sent.key(rec)), append(s.at, records)
	}
}

// otherForm are the items that a file of the session in another form has, and the session lacks: each between two that are neighbours in
// the session, or behind its last one in the same turn.
func (b *sources) otherForm(ctx context.Context) []check.Lost {
	if b.said.twice < 1 || b.said.back || len(b.said.at) == 0 || !b.unrepaired() {
		return nil
	}
	b.further = true
	for _, path := range b.files() {
		if lost := b.retold(ctx, path); len(lost) > 0 {
			return lost
		}
	}
	return nil
}

// retold are those that one file has; none if it has a line of the session, and so its form.
func (b *sources) retold(ctx context.Context, path string) (lost []check.Lost) {
	next, size := 0, 0
	var pending []check.Lost
	for line, err := range linesIn(ctx, path) {
		if errors.Is(err, io.EOF) {
			if next == len(b.said.at) {
				lost = append(lost, pending...)
			}
			break
		}
		text := bytes.TrimRight(line.Raw, "\r\n")
		if _, here := b.at[b.mark(text)]; here || err != nil || ctx.Err() != nil {
			return nil
		}
		rec := b.decode(text)
		switch {
		case rec == nil || rec.Kind == session.Rollback || rec.Kind == session.Compaction:
			return nil
		case !inHistory(rec):
			continue
		}
		key := b.sent.key(rec)
		for at := next; at < min(next+maxAhead, len(b.said.at)); at++ {
			if b.said.keys[at] != key {
				continue
			}
			if at == next {
				lost = append(lost, pending...)
			}
			next, pending, rec = at+1, nil, nil
			break
		}
		switch {
		case rec == nil || next == 0: // what comes before all else, the client adds by itself
		case rec.Boundary && next == len(b.said.at): // another turn
			return lost
		default:
			if size += len(rec.Raw); size > maxKeptText {
				return nil
			}
			one := b.lost(rec, b.said.at[next-1]+1, path)
			one.Line, one.Ordinal = codex.ItemRecord(one.At, []byte(gjson.GetBytes(text, "payload").Raw)), -1
			pending = append(pending, one)
		}
	}
	return lost
}

// maxAhead is how many items the session may have that the other file lacks, in one place.
const maxAhead = 64
