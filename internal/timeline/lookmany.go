package timeline

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hist-cli/hist/lint"
)

// Looked is a Glance, or why there is none.
type Looked struct {
	Session *Glance
	Err     error
}

// LookMany reads many sessions in parallel; the results are in the order of paths.
func LookMany(ctx context.Context, paths []string, opts LookOptions) []Looked {
	return LookManyBy(paths, func(path string) (*Glance, error) { return Look(ctx, path, opts) })
}

// LookManyBy is LookMany with another function in place of Look.
func LookManyBy(paths []string, look func(path string) (*Glance, error)) []Looked {
	out := make([]Looked, len(paths))
	var wg sync.WaitGroup
	var taken atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(paths)) {
		wg.Go(func() {
			for i := int(taken.Add(1)) - 1; i < len(paths); i = int(taken.Add(1)) - 1 {
				out[i].Session, out[i].Err = look(paths[i])
			}
		})
	}
	wg.Wait()
	return out
}

// replacedWithin is how soon after a turn went wrong a new thread must begin to count as its replacement.
const replacedWithin = 30 * time.Minute

// Replaced says whether fresh is a thread that was begun to replace lost, without its context: the last turn of lost went
// wrong, and soon afterwards, in the same directory and by the same kind of client, fresh began empty.
func Replaced(lost, fresh *Glance) bool {
	after := fresh.Created.Sub(lost.Turn.Last)
	return WentWrong(lost) && lost.Thread != fresh.Thread && lost.CWD != "" && lost.Header.CWD == fresh.Header.CWD && lost.Header.Source == fresh.Header.Source &&
		fresh.Header.ForkedFrom == "" && fresh.Header.BaseThread == "" && !fresh.Created.IsZero() && !lost.Turn.Last.IsZero() && after >= 0 && after < replacedWithin
}

// WentWrong says whether the last turn of a session failed, never ended or got no answer.
func WentWrong(s *Glance) bool {
	return s.Turn.State == Failed || s.Turn.State == Open || s.Turn.State == Unanswered
}

// Hinder takes what is found in the whole session: what keeps a client from resuming it is an obstacle, as one that head and tail show.
func (s *Glance) Hinder(found []lint.Finding) {
	if s.FaultRule != nil {
		return
	}
	for i := range found {
		if f := &found[i]; f.Impact == lint.Blocks || f.Rule.Empty && f.Impact == lint.Notes { // a client has left it so, but can't resume it
			s.Fault = f.Message
			return
		}
	}
}

// Obstacle returns what keeps a client from resuming the session as it is, as far as head and tail show; "" if nothing does.
func (s *Glance) Obstacle() string {
	switch {
	case s.Fault != "":
		return s.Fault
	case s.Header.NotResumed != "":
		return s.Header.NotResumed
	case s.Archived:
		return "it is in the archive"
	case !s.Named:
		return "a client can't find a file of this name"
	}
	return ""
}
