package beside

import (
	"cmp"
	"slices"
	"time"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

// jumps follows the client's count of tokens. Where its sum grows by more than the answer in front of it took, or by an
// answer that does not stand there, one is lost of which nothing else may tell; that is where the log is asked.
type jumps struct {
	total    int64 // the newest sum, 0 if none is known
	at       int   // so many readable records stand in front of what is behind it
	from     time.Time
	answered bool // an answer stands behind it
	mixed    bool // the sums are those of two writers
	found    []jump
}

// jump is where an answer is missing: between two counts of tokens, of which the records have these numbers.
type jump struct {
	behind, before int
	from           time.Time
}

// See notes a record, in front of which count readable ones stand.
func (j *jumps) See(rec *session.Record, count int) {
	switch {
	case rec.Kind == session.Unreadable || j.mixed:
	case rec.Model && rec.Kind != session.Output && answers(rec):
		j.answered = true
	case rec.Type == "event_msg/token_count":
		total, took := codex.Tokens(rec)
		if total <= 0 {
			return
		}
		switch grown := total - j.total; {
		case j.total == 0 || total == took: // the first, or that of a client that began anew
		case grown < 0:
			j.mixed, j.found = true, nil
		case took > 0 && (grown > took || grown == took && !j.answered) && len(j.found) < maxGaps:
			j.found = append(j.found, jump{j.at, count, j.from})
		}
		j.total, j.at, j.from, j.answered = total, count+1, codex.Time(rec), false
	}
}

// jumped are the places between the items of the session where what is missing may have stood: in front of each item between
// the two counts, and of the next one behind them.
func (s *sent) jumped(have []sentItem) (gaps []gap) {
	for _, jump := range s.jumps.found {
		if jump.behind <= s.behind {
			continue // a compaction has taken it out of what is sent
		}
		next, _ := slices.BinarySearchFunc(have, jump.behind, func(item sentItem, at int) int { return cmp.Compare(int(item.record), at) })
		for ; next < len(have); next++ {
			behind := jump.behind
			if next > 0 && int(have[next-1].record) >= behind { // in front of the events that belong to the item
				behind = min(s.next(have[next-1]), int(have[next].record))
			}
			gaps = append(gaps, gap{behind: behind, from: jump.from})
			if int(have[next].record) > jump.before {
				break
			}
		}
	}
	return gaps
}
