package lint

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
)

// Options say what is known of a session beside its bytes.
type Options struct {
	Name     Name                // what its file is called
	Live     bool                // somebody writes it now: an unfinished end is no damage
	ForCodex string              // the version of the client that will resume it; "" is the newest known
	Mend     func(*Finding) bool // which findings may be mended; nil: all that are more than notes
	// SiblingVersion returns the client version that the newest other session nearby was written by, "" if none is
	// known; it is asked only for a session without a header. nil knows none.
	SiblingVersion func() string
	StripEncrypted bool // encrypted items are to be set aside: no provider that is left can read them
	KeepOrphans    bool // an output whose call can't be rebuilt is kept as a note to the model
	Fresh          bool // an empty file is so young that its first record may be on its way
	// WakePrefix begins the messages by which a harness wakes its agent, "" is "[WAKE]"; SaveTool is the tool by which
	// an agent saves its work at the end of a turn, "" is "add_memory". The restart rules look for them.
	WakePrefix, SaveTool string
	Provider             string // the model API to judge by, "" is the one that the session names; see ProviderFor
	Processors           int    // how many processors the work may be spread over; 0: all
}

// Name is what the name of a session's file says about it.
type Name struct {
	Base      string // the file's name without folders; "" if there is none (stdin)
	Canonical bool   // the client's own form
	ThreadID  string // from the name, "" if it has none
	Time      string // from the name, local, "2006-01-02T15-04-05"
	InHome    bool   // the file lies where the client looks for sessions
}

// Result is what lint knows of a session at its end.
type Result struct {
	Findings []Finding // by place
	Summary  Summary
}

// Summary is what a session is and holds.
type Summary struct {
	Bytes    int64 // of the uncompressed file
	Records  int64 // logical records that can be read once mended
	Header   codex.Header
	Encoding normalize.Encoding
	// Seen is the number of items of the model's history that the client reads from the file as it is; Items the
	// number in it once every line is mended.
	Seen, Items int64
	// Lost is the number of items that are known to be missing and can't be had back.
	Lost int64
	// Partial is why the file could not be read to its end, nil if it was.
	Partial error
}

// checker looks at a session's records one by one for the rules of one family.
type checker interface {
	Record(rec *session.Record)
	End()
}

// run is one session on its way through the rules.
type run struct {
	opts     Options
	framer   *normalize.Normalizer
	history  history
	header   codex.Header
	provider Provider // whose API the session is judged by
	newer    bool     // the session's client is newer than any that has been measured
	findings []Finding
	folded   map[*Rule]int // where in findings the first of those stands that are folded
	holes    holes

	current   *session.Record // nil at the end
	last      session.Pos     // of the last readable record, zero if there is none
	first     Ref             // of the first readable record
	records   int64
	lost      int64
	headerAt  session.Pos // zero if there is no header
	paginated bool
	partial   error
}

// Session lints the session in r. Findings come back sorted by place; the error is ctx's. What ends the reading
// too early (a read error, a broken compressed stream) is in Summary.Partial, with all findings up to there.
func Session(ctx context.Context, r io.Reader, opts Options) (*Result, error) {
	s := &run{opts: opts, folded: map[*Rule]int{}}
	s.setHeader(codex.Header{})
	s.framer = normalize.New(r, normalize.Options{Decoder: codex.Decoder{}, Mend: opts.Mend, Live: opts.Live, Scanners: normalize.Scanners(opts.Processors)})
	defer s.framer.Close()
	// Order matters in four places: the header tells the others the mode, an item that the client can't read is none
	// for those that come later, holes must know a record before the rules ask about it, and the restart rules ask for
	// the turn in hand before the next one begins.
	header := &headerChecker{run: s, ids: map[string]*int64{}}
	turns := newTurnChecker(s)
	checkers := []checker{
		header, newItemChecker(s), &ordinalChecker{run: s}, newCallChecker(s), &messageChecker{run: s, seed: maphash.MakeSeed()},
		newRestartChecker(s, turns), &saveChecker{run: s}, &sandboxChecker{run: s}, turns,
	}
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rec, err := s.framer.Next()
		s.current = rec
		s.framing()
		if err != nil {
			s.current = nil
			s.ended(err)
			break
		}
		s.take(rec, checkers)
	}
	for _, c := range checkers {
		c.End()
	}
	s.framing()
	return s.result(), nil
}

// ended notes why there are no more records. A compressed stream that breaks off is damage like any other: what came
// before the break is the session.
func (s *run) ended(err error) {
	switch {
	case errors.Is(err, io.EOF):
	case errors.Is(err, source.ErrCorrupt):
		f := Finding{
			Rule: ruleCorruptZst, Impact: Blocks, Fix: Recovered, Pos: session.Pos{Line: s.last.Line + 1}, Offset: s.framer.Offset(),
			Message: "the compressed stream breaks off here: the client can't read the file at all", Source: "the part before the break",
		}
		if s.records == 0 {
			f.Fix, f.Source = NoFix, ""
		}
		s.report(f)
	default:
		s.partial = err
	}
}

// take shows one record to every checker.
func (s *run) take(rec *session.Record, checkers []checker) {
	if rec.Kind != session.Unreadable {
		s.records++
		if s.first.Pos.Line == 0 {
			s.first = refOf(rec)
		}
	}
	s.holes.record(rec)
	for _, c := range checkers {
		c.Record(rec)
	}
	s.history.add(rec, !rec.Mended && !rec.Refused && rec.Ordinal.State != session.BadOrdinal)
	if rec.Kind != session.Unreadable {
		s.last = rec.Pos
	}
}

// framing takes over what the framer found.
func (s *run) framing() {
	for _, f := range s.framer.Faults() {
		s.report(f)
	}
}

// report adds a finding. Where it is about the record in hand, what names that record is noted.
func (s *run) report(f Finding) {
	if rec := s.current; rec != nil && f.Pos == rec.Pos {
		f.On = refOf(rec)
		if f.IDs == "" {
			f.IDs = strings.Trim(string(bytes.Join([][]byte{rec.ID, rec.CallID, rec.TurnID}, []byte(" "))), " ")
		}
	}
	if f.Rule.Tidy { // the first stands for all that say the same, line after line
		if at, ok := s.folded[f.Rule]; ok {
			s.findings[at].Count++
			return
		}
		s.folded[f.Rule] = len(s.findings)
		f.Count = 1
	}
	s.findings = append(s.findings, f)
}

// result settles what could not be known before the end: which findings still count.
func (s *run) result() *Result {
	s.settle()
	slices.SortStableFunc(s.findings, func(a, b Finding) int {
		switch {
		case a.Pos.Less(b.Pos):
			return -1
		case b.Pos.Less(a.Pos):
			return 1
		}
		return 0
	})
	blocked := false
	for i := range s.findings {
		blocked = blocked || s.findings[i].Impact == Blocks
		s.lost += s.findings[i].Lost
		s.history.live.seen -= s.findings[i].Unseen
	}
	sum := Summary{
		Bytes: s.framer.Offset(), Records: s.records, Header: s.header, Encoding: s.framer.Encoding(),
		Seen: s.history.live.seen, Items: s.history.live.mended, Lost: s.lost, Partial: s.partial,
	}
	if blocked || sum.Seen < 0 {
		sum.Seen = 0
	}
	return &Result{Findings: s.findings, Summary: sum}
}

// settle turns losses in a part of the history that a compaction or a rollback has removed into notes.
func (s *run) settle() {
	out := s.findings[:0]
	for _, f := range s.findings {
		s.judge(&f)
		if !f.Framing && (f.Rule.Family == "calls" || f.Rule.Family == "items") && s.history.rolledBack(f.Pos) {
			continue // whatever a rolled-back turn holds is no damage
		}
		if (f.Impact == Loses || f.Impact == Rejects) && !f.Rule.Always && !s.history.counts(f.Pos) {
			f.Impact, f.Edits, f.Lost, f.Unseen = Notes, nil, 0, 0
			if !f.Framing { // the normalizer mends its own
				f.Fix, f.Source = NoFix, ""
			}
			f.Message += " (in a part of the history that is no longer sent)"
		}
		out = append(out, f)
	}
	s.findings = out
}

// judge gives a framing finding the impact that hangs on what the rest of the session is.
func (s *run) judge(f *Finding) {
	switch {
	case f.Rule == ruleOpenTurn && !s.paginated:
		f.Impact = Notes
	case f.Rule == normalize.InvalidUTF8 && !s.paginated:
		f.Impact = Blocks
	case f.Rule == normalize.NoFinalNewline && (codex.Before(s.header.Version, 0, 145) || s.olderThan(0, 145)):
		f.Impact = Loses
	case f.Framing && f.Impact == Loses && s.headerAt.Line > 0 && f.Pos.Less(s.headerAt):
		f.Impact = Blocks
		f.Message += "; standing before the header, it keeps the client from reading that"
	}
}
