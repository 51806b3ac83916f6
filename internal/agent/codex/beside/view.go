package beside

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex/rules"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// projection compares the client's view of a rollout with the file.
func (h *Home) projection(ctx context.Context, src *source.Source, res *lint.Result, rolloutID string) ([]lint.Finding, error) {
	view, ok, err := projectionOf(ctx, h.dir, rolloutID)
	if errors.Is(err, errDamaged) {
		return nil, err
	}
	if _, err = known(view, err); err != nil || !ok {
		return nil, err
	}
	fault := ""
	if view.Offset > res.Summary.Bytes {
		fault = fmt.Sprintf("the client shows another state of this session than the file has: its database goes to byte %d, the file to %d", view.Offset, res.Summary.Bytes)
	} else if fault, err = misplaced(ctx, src, view, res.Summary.Bytes); fault == "" && err == nil {
		fault, err = emptied(ctx, src, view, res.Summary.Header)
	}
	if fault == "" || err != nil {
		return nil, err
	}
	f := ofFile(rules.ProjectionStale, fault)
	f.Reproject = true
	return []lint.Finding{f}, nil
}

// emptied looks whether a view that has read turns lists none of them, or one of them without its items: the client does not read them again
// (reports of updates of the desktop app; 0.171.0 stays so at each resume, and makes its view anew once the rows are gone: measured).
func emptied(ctx context.Context, src *source.Source, view projection, header session.Info) (string, error) {
	if view.Hollow != "" {
		return fmt.Sprintf("the client shows nothing of what was said in turn %s: its database lists the turn, and no item of it", view.Hollow), nil
	}
	if view.Listed || header.SubagentStart > 0 {
		return "", nil
	}
	r, err := src.Reader(ctx)
	if err != nil {
		return "", err
	}
	defer r.Close()
	lines := bufio.NewReaderSize(io.LimitReader(r, view.Offset), 1<<16)
	for {
		head, err := lines.ReadSlice('\n')
		if bytes.Contains(head[:min(len(head), lineHead)], turnCompleted) {
			return fmt.Sprintf("the client shows no turn of this session: its database has read the file up to byte %d, and lists none", view.Offset), nil
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
	}
}

// turnCompleted is what the beginning of a line says that ends a turn. Inside a text, its quotes would be escaped.
var turnCompleted = []byte(`"type":"task_complete"`)

// lineHead is how many bytes of a line are read for its ordinal and its turn, which the client writes behind the time.
const lineHead = 256

// misplaced looks whether the places that a view names are beginnings of lines, and those of its turns the records
// and the turns that it says: a file that was put back from a copy and went on has other turns of the same length.
func misplaced(ctx context.Context, src *source.Source, view projection, size int64) (string, error) {
	at := func(offset int64) source.Ref {
		from := max(0, offset-1)
		return source.Ref{Offset: from, Length: min(lineHead, size-from)}
	}
	refs := []source.Ref{at(view.Offset)}
	for _, t := range view.Turns {
		if t.Offset < 0 || t.Offset >= size {
			return fmt.Sprintf("the client shows another state of this session than the file has: its database says that turn %s begins at byte %d, but it has %d", t.ID, t.Offset, size), nil
		}
		refs = append(refs, at(t.Offset))
	}
	heads, err := src.Extract(ctx, refs)
	if err != nil {
		return "", err
	}
	if view.Offset > 0 && view.Offset < size && heads[0][0] != '\n' {
		return fmt.Sprintf("the client shows another state of this session than the file has: its database goes up to the middle of a line (byte %d)", view.Offset), nil
	}
	for i, t := range view.Turns {
		head := heads[i+1]
		if t.Offset > 0 {
			if head[0] != '\n' {
				return fmt.Sprintf("the client shows another state of this session than the file has: its database says that turn %s begins in the middle of a line (byte %d)", t.ID, t.Offset), nil
			}
			head = head[1:]
		}
		if n := gjson.GetBytes(head, "ordinal"); n.Type == gjson.Number && n.Int() != t.Ordinal {
			return fmt.Sprintf("the client shows another state of this session than the file has: its database says that turn %s begins at byte %d with record %d; there is record %d", t.ID, t.Offset, t.Ordinal, n.Int()), nil
		}
		if id := gjson.GetBytes(head, "payload.turn_id"); id.Type == gjson.String && id.Str != t.ID {
			return fmt.Sprintf("the client shows another state of this session than the file has: its database says that turn %s begins at byte %d; turn %s does", t.ID, t.Offset, id.Str), nil
		}
	}
	return "", nil
}
