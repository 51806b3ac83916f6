package beside

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"

	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
)

// compare walks through a copy beside the session and takes what is between two records that stand next to each other there
// and have a hole between them. A parent's are known by what stands behind their times; between them no hole is needed, if
// something was said there and nothing taken back.
func (c *copies) compare(ctx context.Context, path string, parent bool) []check.Lost {
	src, err := source.Open(path)
	if err != nil {
		return nil
	}
	defer src.Close()
	in, err := src.Reader(ctx)
	if err != nil {
		return nil
	}
	defer in.Close()
	beside := &comparison{copies: c, path: path, parent: parent, sure: true, again: map[uint64]bool{}}
	r := jsonl.NewReader(in)
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			beside.end()
			return beside.out
		}
		// What the copy holds behind its own damage is not known.
		if err != nil || ctx.Err() != nil || !beside.line(bytes.TrimRight(line.Raw, "\r\n")) {
			return beside.out
		}
	}
}

// comparison is the walk through one copy.
type comparison struct {
	*copies

	path   string
	parent bool // the copy is the session's parent
	again  map[uint64]bool
	next   int // behind which records of the session the walk is
	size   int // of all that was pending, in bytes

	out     []check.Lost
	pending []check.Lost // what the copy has behind the last record that both have
	sure    bool         // that is all that the copy has there
	said    bool         // something of it is sent to the model
}

// line looks at the next line of the copy; false if that was too much to go on.
func (b *comparison) line(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	rec := b.decode(text)
	switch {
	case rec == nil:
		b.sure = false
		return true
	case rec.Kind == session.Header:
		return true
	}
	i, here, known := b.find(rec)
	switch {
	case !known:
		b.sure = false
	case here && i < b.next, repeats(b.again, maphash.Bytes(b.seed, rec.Raw)):
		// The copy has a doubled block.
	case here:
		b.fill(i)
	default:
		return b.hold(rec)
	}
	return true
}

func (b *comparison) find(rec *session.Record) (i int, here, known bool) {
	if b.parent {
		return b.inherited(rec, b.next)
	}
	return b.same(rec)
}

// hold keeps a record that the session does not have, until it is known what follows it.
func (b *comparison) hold(rec *session.Record) bool {
	if b.size += len(rec.Raw); b.size > maxKeptText {
		return false
	}
	b.pending = append(b.pending, b.lost(rec, b.next, b.path))
	b.said = b.said || rec.Model
	b.sure = b.sure && !(b.parent && (rec.Kind == session.Rollback || rec.Kind == session.Compaction))
	return true
}

// fill takes what is pending in front of record i of the session, if that is the next one and something is lost there.
func (b *comparison) fill(i int) {
	lost := b.holes[i]
	if b.parent {
		lost = (lost || b.said && b.next > 0) && !b.torn[i]
	}
	if lost && i == b.next && b.sure {
		b.out = append(b.out, b.pending...)
	}
	b.pending, b.sure, b.said, b.next = nil, true, false, i+1
}

// end takes what a copy has behind the session's end. What a parent has there may have come later, or been left out.
func (b *comparison) end() {
	if !b.parent && b.next == len(b.records) && b.sure && b.holes[b.next] {
		b.out = append(b.out, b.pending...)
	}
}

// repeats says whether a record of a copy stood in it before, and remembers it. No two records are the same to the last
// byte: each has the time at which it was written.
func repeats(seen map[uint64]bool, sum uint64) bool {
	again := seen[sum]
	seen[sum] = true
	return again
}
