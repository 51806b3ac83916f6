package timeline

import (
	"context"
	"io"
	"slices"
	"sort"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// maxSent is up to how many bytes of a session are read for what its client sends.
const maxSent = 256 << 20

// Source is a session that can be read several times.
type Source interface {
	Reader(ctx context.Context) (io.ReadCloser, error)
}

// Sent is what the client sends of a session that was linted as res; nil if that is not known. opts are those of lint.
func Sent(ctx context.Context, src Source, res *lint.Result, opts lint.Options) (*session.Sent, error) {
	about := &res.Summary
	a := all.Named(about.Agent)
	if a == nil || a.ReadSent == nil || about.Bytes > maxSent || about.Partial != nil {
		return nil, nil
	}
	in, err := src.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := source.ReadAll(in, about.Bytes)
	if err != nil {
		return nil, nil // it is read up to there, which shows less than it holds
	}
	return a.ReadSent(text, agent.ReadAt{Base: opts.Name.Base, Parent: lint.Parents(ctx, a, opts.Home, about.Header)}, opts.For[about.Agent])
}

// history is which records of a session's history are sent.
type history struct {
	lines  []int64 // of all of them, sorted
	unsent map[int64]bool
	turns  map[int]bool // of which something is sent
}

func historyOf(sent *session.Sent) history {
	h := history{unsent: map[int64]bool{}, turns: map[int]bool{}}
	if sent == nil || len(sent.Unsent) == 0 {
		return h
	}
	for i := range sent.Items {
		h.turns[sent.Items[i].Turn] = h.turns[sent.Items[i].Turn] || sent.Items[i].Made == ""
	}
	for at := range sent.From() {
		h.lines = append(h.lines, at.Line)
	}
	for _, at := range sent.Unsent {
		h.lines, h.unsent[at.Line] = append(h.lines, at.Line), true
	}
	slices.Sort(h.lines)
	return h
}

// lacks says whether an entry is not sent; of a turn's start, whether nothing of the turn is.
func (h *history) lacks(e *Entry) bool {
	switch e.Kind {
	case TurnStart:
		i := sort.Search(len(h.lines), func(i int) bool { return h.lines[i] >= e.Pos.Line })
		return i < len(h.lines) && h.unsent[h.lines[i]] && !h.turns[e.Turn]
	case Prompt, Answer, Thought, Call, Output:
		return h.unsent[e.Pos.Line]
	}
	return false
}
