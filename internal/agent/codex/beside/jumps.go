package beside

import (
	"cmp"
	"slices"
	"time"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

// jumps follows the client's counts of tokens, and the turns. If the sum grows by more than the answer before it took, or by an
// answer that is not there, an answer is lost. If a turn ends whose beginning is not there, the beginning is lost, mostly with
// the prompt. There may be no other sign of either, so this is where the log is asked.
type jumps struct {
	total    int64 // the newest sum, 0 if none is known
	at       int   // how many readable records come before what follows it
	from     time.Time
	answered bool // an answer follows it
	mixed    bool // the sums are those of two writers
	found    []jump

	begun   map[string]int // the turns that begin in the session
	inTurn  bool           // a turn has begun and not ended
	start   int            // how many readable records come before what follows its beginning
	startAt time.Time      // when that was
	ended   int            // how many readable records come before what follows the newest end of a turn; 0 if none has ended
	endedAt time.Time      // when that was
	first   int            // the first item after it that is in no turn, 0 if there is none
	firstAt time.Time      // when that was
}

// jump is a place where something is missing: an answer between two counts of tokens, or the beginning of a turn between the
// end of the turn before and an item. Its numbers are those of these records.
type jump struct {
	behind, before int
	from, to       time.Time
}

// See takes a record that count readable ones come before.
func (j *jumps) See(rec *session.Record, count int) {
	j.turns(rec, count)
	switch {
	case rec.Kind == session.Unreadable || j.mixed:
	case rec.Model && rec.Kind != session.Output && answers(rec):
		j.answered = true
	case rec.Type == "event_msg/token_count":
		total, took := codex.Tokens(rec)
		if total <= 0 || total == j.total && codex.Time(rec).Equal(j.from) { // a copy of the newest one, in a doubled block
			return
		}
		switch grown := total - j.total; {
		case j.total == 0 || total == took: // the first, or that of a client that began anew
		case grown < 0:
			j.mixed, j.found = true, nil // with two writers, the ends of turns show nothing either
		case took > 0 && (grown > took || grown == took && !j.answered) && len(j.found) < maxGaps:
			j.found = append(j.found, jump{j.at, count, j.from, codex.Time(rec)})
		}
		j.total, j.at, j.from, j.answered = total, count+1, codex.Time(rec), false
	}
}

// turns notes items that follow the end of a turn, and are followed by the end of another turn whose beginning is missing.
func (j *jumps) turns(rec *session.Record, count int) {
	switch {
	case rec.Kind == session.TurnStart:
		j.inTurn, j.start, j.startAt = true, count+1, codex.Time(rec)
	case rec.Kind == session.TurnEnd:
		if _, begins := j.begun[string(rec.TurnID)]; !begins && len(rec.TurnID) > 0 && !j.mixed && len(j.found) < maxGaps {
			switch {
			case j.inTurn: // the end of the turn before is lost as well
				j.found = append(j.found, jump{j.start, count - 1, j.startAt, codex.Time(rec)})
			case j.first > 0:
				j.found = append(j.found, jump{j.ended, j.first - 1, j.endedAt, j.firstAt})
			}
		}
		j.inTurn, j.ended, j.endedAt, j.first = false, count+1, codex.Time(rec), 0
	case rec.Model && !j.inTurn && j.ended > 0 && j.first == 0:
		j.first, j.firstAt = count, codex.Time(rec)
	}
}

// jumped are the places between the session's items where what is missing may have been: in front of each item between the two
// counts, and of the next one after them. If something is damaged between these, that is the place.
func (s *sent) jumped(have []sentItem, damaged []gap) (gaps []gap) {
	for _, jump := range s.jumps.found {
		if jump.behind <= s.behind {
			continue // a compaction has taken it out of what is sent
		}
		if slices.ContainsFunc(damaged, func(g gap) bool { return jump.behind <= g.behind && g.behind <= jump.before+1 }) {
			continue
		}
		next, _ := slices.BinarySearchFunc(have, jump.behind, func(item sentItem, at int) int { return cmp.Compare(int(item.record), at) })
		for ; next < len(have); next++ {
			behind := jump.behind
			if next > 0 && int(have[next-1].record) >= behind { // in front of the events that belong to the item
				behind = min(s.next(have[next-1]), int(have[next].record))
			}
			gaps = append(gaps, gap{behind: behind, from: jump.from, to: jump.to})
			if int(have[next].record) > jump.before {
				break
			}
		}
	}
	return gaps
}
