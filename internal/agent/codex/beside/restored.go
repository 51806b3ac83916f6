package beside

import (
	"slices"
	"time"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
)

// restorer writes the lost records of one gap anew; the gap is between two of the session's records.
type restorer struct {
	*sources
	gap
	file        string // the file that shows them
	first, last int
	torn        []tornItem
	at          time.Time
	out         []check.Lost
}

// restored are the records of the items that were lost in the gap, with the events that show them and the beginnings of their
// turns. A record that was cut off there is replaced by the whole one.
func (r *restorer) restored(items []told) []check.Lost {
	r.torn = slices.DeleteFunc(slices.Clone(r.sent.torn), func(t tornItem) bool { return t.behind != r.behind })
	if r.at.IsZero() {
		r.at = r.from
	}
	turn := r.turn
	for _, item := range items {
		if item.at.After(r.at) && (r.to.IsZero() || item.at.Before(r.to)) {
			r.at = item.at
		}
		if item.turn != "" && item.turn != turn && !r.sent.begins(item.turn) {
			turn = item.turn
			r.put(codex.NewTurnStarted(codex.KeptPlace{Turn: turn, At: r.at, Ordinal: -1}))
		}
		line := codex.ItemRecord(r.at, item.raw)
		var event []byte
		if rec := r.decode(line); !item.older {
			shown := r.sent.shownBetween(r.first, r.last, rec)
			if shown < 0 {
				event = codex.ItemEvent(r.at, rec)
			} else if !item.asks { // the event of something that the model says comes before its item
				r.behind = max(r.behind, shown+1)
			}
		}
		if item.asks {
			r.put(line)
			r.put(event)
		} else {
			r.put(event)
			r.put(line)
		}
	}
	return r.out
}

// put writes one record, if there is one.
func (r *restorer) put(line []byte) {
	rec := r.decode(line)
	if rec == nil {
		return
	}
	whole := len(r.torn) > 0 && r.torn[0].fits(rec)
	if whole {
		r.torn = r.torn[1:]
	}
	r.out = append(r.out, check.Lost{
		Ordinal: -1, Placed: true, Behind: r.behind, At: r.at, Whole: whole, From: r.file, Retold: true, Line: line,
	})
}
