package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
)

// maxPast is how many bytes of records a fork may take over from its ancestors; maxAncestors is how many of those it has.
const (
	maxPast      = 64 << 20
	maxAncestors = 64
)

// clocks is how far a clock may have been put back between a session and its fork.
const clocks = time.Minute

// Past are the records that a fork relies on, as far as it is sure that they are its own past, oldest first: those of its
// ancestors below the ordinal at which it parted from each, written before it did. whole says that none is missing. An
// ancestor that was put back from a copy and went on has other records under the same ordinals: their times tell.
func Past(ctx context.Context, h session.Info, began time.Time, find func(rolloutID string) string) (lines [][]byte, whole bool) {
	p := past{ctx: ctx, find: find}
	whole = p.of(h, began, 0)
	return p.lines, whole && p.err == nil
}

type past struct {
	ctx   context.Context
	find  func(rolloutID string) string
	lines [][]byte
	bytes int
	err   error
}

// of takes the past of a rollout with a header, that began at a time.
func (p *past) of(h session.Info, began time.Time, depth int) bool {
	path := p.find(h.BaseThread)
	if path == "" || depth == maxAncestors {
		return false
	}
	base, at, ok := headerAt(p.ctx, path)
	if !ok || !base.Paginated() {
		return false
	}
	next, whole := int64(1), true // behind the header, which is not taken
	if base.BaseThread != "" {
		next, whole = base.BaseOrdinal+1, p.of(base, at, depth+1)
	}
	return p.take(path, next, h.BaseOrdinal, began) && whole
}

// take takes the records of a rollout from one ordinal up to another that were written before a time. It is false if one is
// missing. Those behind one that is not sure to be the fork's own past are not taken.
func (p *past) take(path string, next, end int64, before time.Time) bool {
	src, err := source.Open(path)
	if err != nil {
		return false
	}
	defer src.Close()
	in, err := src.Reader(p.ctx)
	if err != nil {
		return false
	}
	defer in.Close()
	whole := true
	r := jsonl.NewReader(in)
	for next < end {
		line, err := r.Next()
		if err != nil || p.ctx.Err() != nil {
			p.err = errors.Join(p.err, p.ctx.Err(), damage(err))
			return false
		}
		if !jsonl.Valid(line.Raw) || gjson.GetBytes(line.Raw, "type").Str == "session_meta" {
			continue
		}
		v := gjson.GetManyBytes(line.Raw, "ordinal", "timestamp")
		if n := v[0].Int(); v[0].Type != gjson.Number || n < next {
			continue
		} else if n >= end {
			return false
		} else if n > next {
			whole = false
		}
		if t, err := time.Parse(time.RFC3339, v[1].String()); err != nil || t.After(before.Add(clocks)) {
			return false
		}
		if p.bytes += len(line.Raw); p.bytes > maxPast {
			return false
		}
		p.lines = append(p.lines, bytes.Clone(line.Raw))
		next = v[0].Int() + 1
	}
	return whole
}

// damage is an error that is not the end of the file.
func damage(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// headerAt is a rollout's header, and when it was written.
func headerAt(ctx context.Context, path string) (session.Info, time.Time, bool) {
	line, ok := firstLine(ctx, path)
	if !ok {
		return session.Info{}, time.Time{}, false
	}
	return codex.ReadHeader(line), Written(line), true
}

// Written is when a line was written, zero if it does not say.
func Written(line []byte) time.Time {
	t, err := time.Parse(time.RFC3339, gjson.GetBytes(line, "timestamp").String())
	if err != nil {
		return time.Time{}
	}
	return t
}
