package beside

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
)

// maxPast is how many bytes of records a fork may take over from its ancestors; maxAncestors is how many ancestors it may have.
const (
	maxPast      = 64 << 20
	maxAncestors = 64
)

// clocks is by how much a clock may have been set back between a session and its fork, if nothing shows that the session was
// written anew since: what goes on within that time is not the fork's past then.
const clocks = time.Minute

// recordsBefore are the records on which a fork relies, oldest first, as far as they are certain to be its own past: those of its
// ancestors below the ordinal at which it left each of them, if they were written before it left. An ancestor that was restored
// from a copy and went on (rewritten) has other records under the same ordinals, which their times show.
//
// An ancestor is read as a repair reads it, and in the order of its ordinals: what broke its lines, or put them elsewhere, does not
// cost the fork its past. kept are the records that a repair would give back to the ancestor at a path, from elsewhere.
func recordsBefore(ctx context.Context, h session.Info, began time.Time, rewritten bool, find func(rolloutID string) string, kept func(path string) [][]byte) (records []pastRecord, has extent) {
	p := past{ctx: ctx, find: find, kept: kept, slack: clocks}
	if rewritten {
		p.slack = 0
	}
	has = p.of(h, began, 0)
	if p.err != nil {
		has = hasEnds
	}
	return p.records, has
}

// pastRecord is a record of an ancestor, or a line of it that is damaged where records are missing.
type pastRecord struct {
	Line    []byte // without a newline at its end
	Damaged bool
}

// extent is how much of its past a fork has left.
type extent int

const (
	hasEnds  extent = iota // what came first is missing, or what came last, or all
	hasParts               // some is missing in between
	hasWhole               // nothing is missing
)

type past struct {
	ctx     context.Context
	find    func(rolloutID string) string
	kept    func(path string) [][]byte
	slack   time.Duration // by how much a record may be younger than the fork
	records []pastRecord
	err     error
}

// ancestor is what could be read of a rollout.
type ancestor struct {
	header  session.Info
	began   time.Time
	records []numbered // in the order of their ordinals
	kept    bool       // some of them come from elsewhere, where not all that an ancestor holds is kept
}

// numbered is a record that has an ordinal, or a damaged line behind the record with it.
type numbered struct {
	pastRecord
	ordinal int64
	written time.Time
	at      int64 // the physical line
}

// spoil takes a damaged line instead of what could be read of it. One with a header in it is left out: the fork has its own.
func (a *ancestor) spoil(rec *session.Record) {
	n := len(a.records)
	for n > 0 && a.records[n-1].at == rec.Pos.Line {
		n--
	}
	a.records = a.records[:n]
	if bytes.Contains(rec.Original, []byte(`"session_meta"`)) {
		return
	}
	last := a.header.BaseOrdinal
	if n > 0 {
		last = a.records[n-1].ordinal
	}
	a.records = append(a.records, numbered{pastRecord{bytes.Clone(rec.Original), true}, last, time.Time{}, rec.Pos.Line})
}

// of takes the past of a rollout with this header that began at a time.
func (p *past) of(h session.Info, began time.Time, depth int) extent {
	path := p.find(h.BaseThread)
	if path == "" || depth == maxAncestors {
		return hasEnds
	}
	base, ok := p.read(path, h.BaseOrdinal)
	if !ok {
		return hasEnds
	}
	next, before := int64(1), hasWhole // behind the header, which is not taken
	if base.header.BaseThread != "" {
		next, before = base.header.BaseOrdinal+1, p.of(base.header, base.began, depth+1)
	}
	return min(before, p.take(base, next, h.BaseOrdinal, began))
}

// read reads the records of a rollout whose ordinals are below one, as far as there is something to read, and as many as a fork may
// take. It is false if those are not numbered, or are too many. A header that can't be read is left empty.
func (p *past) read(path string, end int64) (a ancestor, ok bool) {
	src, err := source.Open(path)
	if err != nil {
		return a, false
	}
	defer src.Close()
	in, err := src.Reader(p.ctx)
	if err != nil {
		return a, false
	}
	defer in.Close()
	every := func(*finding.Finding) bool { return true }
	records := normalize.New(in, normalize.Options{Decoder: codex.Decoder{}, Mend: every})
	size, spoiled := 0, int64(0) // the newest damaged line
	for p.ctx.Err() == nil {
		rec, err := records.Next()
		if err != nil {
			p.err = errors.Join(p.err, damage(err))
			break
		}
		switch {
		case rec.Blank && !rec.Zeros:
		case rec.Kind == session.Unreadable || rec.Torn || rec.Pos.Line == spoiled:
			if rec.Pos.Line > spoiled && rec.Passed == 0 {
				size += len(rec.Original)
				a.spoil(rec)
			}
			spoiled = rec.Pos.Line
		case rec.Kind == session.Header && a.began.IsZero():
			a.header, a.began = codex.ReadHeader(rec.Raw), writtenAt(rec.Raw)
			if !a.header.Paginated() {
				return a, false
			}
		case rec.Kind != session.Header && rec.Ordinal.State == session.GoodOrdinal && rec.Ordinal.Value < end:
			size += len(rec.Raw)
			a.records = append(a.records, numbered{pastRecord{bytes.Clone(rec.Raw), false}, rec.Ordinal.Value, writtenAt(rec.Raw), rec.Pos.Line})
		}
		if size > maxPast {
			return a, false
		}
	}
	p.err = errors.Join(p.err, p.ctx.Err())
	for _, line := range p.kept(path) {
		if n := gjson.GetBytes(line, "ordinal"); n.Type == gjson.Number && n.Int() < end {
			a.records, a.kept = append(a.records, numbered{pastRecord{line, false}, n.Int(), writtenAt(line), 0}), true
		}
	}
	slices.SortStableFunc(a.records, func(x, y numbered) int { return cmp.Compare(x.ordinal, y.ordinal) })
	return a, true
}

// take takes the records of a rollout from one ordinal up to another that were written before a time. Of several with one
// ordinal the first is taken, and none behind one that is not sure to be the fork's own past. Damaged lines are, where ordinals are
// missing.
func (p *past) take(from ancestor, next, end int64, before time.Time) extent {
	has, first := hasWhole, next
	var damaged []pastRecord
	for _, r := range from.records {
		switch {
		case r.Damaged && r.ordinal == next-1:
			damaged = append(damaged, r.pastRecord)
		case r.Damaged || r.ordinal < next:
		case r.written.After(before.Add(p.slack)): // one whose time can't be read stands between others
			return hasEnds
		default:
			switch {
			case r.ordinal > next && next == first && len(damaged) == 0 && !from.kept:
				has = hasEnds // there is no trace of what the ancestor began with
			case r.ordinal > next:
				has = min(has, hasParts)
				p.records = append(p.records, damaged...)
			}
			p.records, damaged = append(p.records, r.pastRecord), nil
			next = r.ordinal + 1
		}
	}
	switch {
	case next == end:
		return has
	case from.kept && next > first: // the fork's own records tell by their numbers that some are missing in front of them
		return min(has, hasParts)
	}
	return hasEnds
}

// damage returns an error that is not the end of the file.
func damage(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// headerAt is what the first line of a rollout says as its header, whether it is one or not.
func headerAt(ctx context.Context, path string) (session.Info, bool) {
	line := firstLine(linesIn(ctx, path))
	return codex.ReadHeader(line), line != nil
}

// writtenAt is when a line was written, zero if it does not say.
func writtenAt(line []byte) time.Time {
	t, err := time.Parse(time.RFC3339, gjson.GetBytes(line, "timestamp").String())
	if err != nil {
		return time.Time{}
	}
	return t
}
