package beside

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
)

// lineageBreak is a place where the lineage of a fork does not hold: a history_base that its client can't follow.
type lineageBreak struct {
	What string // a clause: "the rollout ID is not there"
	// Refused: the client does not resume the fork. Otherwise it resumes it without the record that is cut.
	Refused bool
	// Rewritten: the ancestor's file is not the one that the fork was made of.
	Rewritten bool
}

// lineageOf follows the history_base of a rollout from its header to the first ancestor, and returns the first break, nil if there is
// none. find gives the path of the rollout with an id, "" if there is none. What a client does with
// each break was measured with 0.169.0: it refuses a missing rollout ("missing source rollout"), a circle ("cycle
// detected"), a legacy one ("source rollout is not paginated") and an offset past the end ("cutoff byte offset is past
// the source rollout"); it resumes at an offset inside a line and drops the line; ordinals it does not compare.
func lineageOf(ctx context.Context, h session.Info, rolloutID string, find func(rolloutID string) string) (*lineageBreak, error) {
	seen := map[string]bool{rolloutID: true}
	for h.BaseThread != "" {
		if seen[h.BaseThread] {
			return &lineageBreak{What: fmt.Sprintf("history_base leads in a circle back to rollout %s", h.BaseThread), Refused: true}, nil
		}
		seen[h.BaseThread] = true
		path := find(h.BaseThread)
		if path == "" {
			return &lineageBreak{What: fmt.Sprintf("history_base names rollout %s, which is neither in sessions nor in the archive", h.BaseThread), Refused: true}, nil
		}
		base, ok := headerAt(ctx, path)
		switch {
		case !ok:
			return &lineageBreak{What: fmt.Sprintf("history_base names %s, whose header can't be read", path), Refused: true}, nil
		case !base.Paginated():
			return &lineageBreak{What: fmt.Sprintf("history_base names %s, which is not paginated", path), Refused: true}, nil
		}
		if b, err := parted(ctx, path, h); b != nil || err != nil {
			return b, err
		}
		h = base
	}
	return nil, nil
}

// maxTail is how far in front of the cutoff its last record is looked for, in bytes.
const maxTail = 1 << 20

// parted looks whether the offset at which a fork parted from a rollout is the end of a line, and that line is the record that the fork
// parted from: an ancestor that was put back from a copy and went on has another one there, and no client compares them. Its time alone
// tells nothing, for a clock can be put back.
func parted(ctx context.Context, path string, h session.Info) (*lineageBreak, error) {
	src, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	from := max(0, h.BaseOffset-maxTail)
	got, err := src.Extract(ctx, []source.Ref{{Offset: from, Length: h.BaseOffset - from}})
	switch {
	case h.BaseOffset < 1, errors.Is(err, source.ErrRange), errors.Is(err, source.ErrCorrupt):
		return &lineageBreak{What: fmt.Sprintf("history_base points past what can be read of %s (byte %d)", path, h.BaseOffset), Refused: true, Rewritten: true}, nil
	case err != nil:
		return nil, err
	case !bytes.HasSuffix(got[0], []byte("\n")):
		return &lineageBreak{What: fmt.Sprintf("history_base points into a line of %s (byte %d): the client drops that record", path, h.BaseOffset), Rewritten: true}, nil
	}
	text := bytes.TrimRight(got[0], "\n")
	at := bytes.LastIndexByte(text, '\n')
	if at < 0 && from > 0 {
		return nil, nil // one very long record
	}
	last := text[at+1:]
	n := gjson.GetBytes(last, "ordinal")
	if n.Type == gjson.Number && h.BaseOrdinal > 0 && n.Int() != h.BaseOrdinal-1 {
		return &lineageBreak{What: fmt.Sprintf("history_base ends after record %d of %s, but record %d is there: that session was reset to an earlier state and continued, so the fork inherits a different history", h.BaseOrdinal-1, path, n.Int()), Rewritten: true}, nil
	}
	return nil, nil
}
