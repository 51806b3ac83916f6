package check

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// Checker looks at a session's records one by one for the rules of one family.
type Checker interface {
	Record(rec *session.Record)
	End()
}

// Settler is a Checker that is asked about every finding at the end of the session, when everything is known: it may change
// the finding's impact and words.
type Settler interface {
	Settle(f *finding.Finding)
}

// Explainer is a Checker that is asked about every finding at the end of the session, before Settler: one that says no more than what the
// checker has found is not reported.
type Explainer interface {
	Explains(f *finding.Finding) bool
}

// History follows which part of a session the model will be sent.
type History interface {
	// Add takes the next record into account; seen says whether the client can read it from the file as it is.
	// Counts and RolledBack answer for the records so far.
	Add(rec *session.Record, seen bool)
	// Counts says whether what is at a place is part of what is sent.
	Counts(at session.Pos) bool
	// RolledBack says whether a place is in turns that the user took back: nothing there is damage.
	RolledBack(at session.Pos) bool
	// Items is how many items are sent: those that the client reads from the file as it is, and all once it is mended.
	Items() (seen, mended int64)
}

// Run is one session on its way through the rules.
type Run struct {
	opts    Options
	history History
	in      Input
	holes   Holes

	findings []finding.Finding
	folded   map[*finding.Rule]int // indexes in findings: for each rule that is Tidy, the one that stands for all
	framing  []int                 // indexes in findings of those that the normalizer mends
	row      row
	more     map[alike]int    // indexes in findings: the one that counts those beyond maxFindings, or maxOfRule
	listed   map[alike]int    // how many findings of their own there are
	all      map[bool]int     // the same of all rules, by whether a repair mends them
	claims   map[int]*Claim   // by indexes in findings
	about    map[int][]*About // by indexes in findings

	refusals []Refusal

	current  *session.Record // nil at the end
	last     session.Pos     // of the last readable record, zero if there is none
	first    finding.Ref     // of the first readable record
	records  int64
	header   session.Info
	headerAt session.Pos
}

// Input is where a session's records come from: the normalizer.
type Input interface {
	// Offset is how many bytes of text have been read.
	Offset() int64
	// TurnsWritten says whether the session's client writes where turns begin, as far as the session has been read.
	TurnsWritten() bool
}

// NewRun begins a session.
func NewRun(opts Options, history History, in Input) *Run {
	return &Run{opts: opts, history: history, in: in, folded: map[*finding.Rule]int{}, more: map[alike]int{}, listed: map[alike]int{}, all: map[bool]int{}, about: map[int][]*About{}, claims: map[int]*Claim{}}
}

// Options is what is known of the session beside its bytes.
func (r *Run) Options() *Options { return &r.opts }

// History is what the model will be sent, up to the record in hand.
func (r *Run) History() History { return r.history }

// Holes are the places where records are known to be missing.
func (r *Run) Holes() *Holes { return &r.holes }

// Offset is how many bytes of text have been read.
func (r *Run) Offset() int64 { return r.in.Offset() }

// TurnsWritten says whether the session's client writes where turns begin, as far as the session has been read.
func (r *Run) TurnsWritten() bool { return r.in.TurnsWritten() }

// Records is how many records could be read so far, the one in hand included.
func (r *Run) Records() int64 { return r.records }

// First is where the first readable record stands, zero if none has come.
func (r *Run) First() finding.Ref { return r.first }

// Last is the place of the last readable record before the one in hand, zero if there is none.
func (r *Run) Last() session.Pos { return r.last }

// Header is who the session is, as far as that is known, and the place of the record that says so: zero if none does.
func (r *Run) Header() (session.Info, session.Pos) { return r.header, r.headerAt }

// SetHeader says who the session is. It is for the agent's checker of headers.
func (r *Run) SetHeader(h session.Info, at session.Pos) { r.header, r.headerAt = h, at }

// Begin takes the next record in hand, before the checkers see it.
func (r *Run) Begin(rec *session.Record) {
	r.current = rec
	if rec == nil {
		return
	}
	if rec.Kind != session.Unreadable {
		r.records++
		if r.first.Pos.Line == 0 {
			r.first = finding.RefOf(rec)
		}
	}
	r.holes.record(rec)
}

// Done lets go of a record that the checkers have seen.
func (r *Run) Done(rec *session.Record) {
	r.history.Add(rec, !rec.Mended && !rec.Refused && rec.Ordinal.State != session.BadOrdinal)
	if rec.Kind != session.Unreadable {
		r.last = rec.Pos
	}
}

// Report adds a finding. If it is about the record in hand, it also gets the record's place and ids.
func (r *Run) Report(f finding.Finding) {
	if rec := r.current; rec != nil && f.Pos == rec.Pos {
		f.On = finding.RefOf(rec)
		if f.IDs == "" {
			f.IDs = strings.Trim(string(bytes.Join([][]byte{rec.ID, rec.CallID, rec.TurnID}, []byte(" "))), " ")
		}
	}
	if f.Rule.Tidy { // the first stands for all that say the same, line after line
		if at, ok := r.folded[f.Rule]; ok {
			r.findings[at].Count++
			return
		}
		r.folded[f.Rule] = len(r.findings)
		f.Count = 1
	}
	if r.inRow(&f) || r.tooMany(&f) {
		return
	}
	if f.Framing {
		r.framing = append(r.framing, len(r.findings))
	}
	r.findings = append(r.findings, f)
}

// AmendFraming lets a checker that knows more change what the normalizer found in a line. If there are several findings,
// change gets the newest; if there is none, it is not called.
func (r *Run) AmendFraming(line int64, change func(*finding.Finding)) {
	for i := len(r.framing) - 1; i >= 0; i-- { // they come in the order of the file
		f := &r.findings[r.framing[i]]
		if f.Pos.Line == line {
			change(f)
		}
		if f.Pos.Line <= line {
			return
		}
	}
}

// About is what checkers know of a record on a line in which the normalizer has found something. At the end of the session, the newest of
// these findings is settled by it.
type About struct {
	Rule    *finding.Rule // of that finding; nil if there is none
	Shown   bool          // the record is not sent to the model
	Nothing bool          // NULs stand for records that never reached the disk
	Mend    Mend          // how it becomes whole, or goes

	at session.Pos
}

// Mend is what mends a record, at least with that fix.
type Mend struct {
	Fix    finding.Fix
	Source string
	Edits  []finding.Edit
}

// About is what is known of the record at a place, for who knows more to add.
func (r *Run) About(at session.Pos) *About {
	i := sort.Search(len(r.framing), func(i int) bool { return r.findings[r.framing[i]].Pos.Line > at.Line }) - 1 // they come in the order of the file
	if i < 0 || r.findings[r.framing[i]].Pos.Line != at.Line {
		return &About{}
	}
	n := r.framing[i]
	k, known := slices.BinarySearchFunc(r.about[n], at, func(a *About, at session.Pos) int { return a.at.Compare(at) })
	if !known {
		r.about[n] = slices.Insert(r.about[n], k, &About{Rule: r.findings[n].Rule, at: at})
	}
	return r.about[n][k]
}

// settle changes a finding by what is known of a record on its line.
func (a *About) settle(f *finding.Finding) {
	if a.Shown {
		f.Impact = min(f.Impact, finding.Shows)
	}
	if a.Nothing && f.Fix != finding.SetAside { // a line with several holes is reported once
		f.Impact, f.Fix = finding.Loses, finding.SetAside
		f.Message += "; the records that belong there never reached the disk"
	}
	f.Fix, f.Source = max(f.Fix, a.Mend.Fix), cmp.Or(a.Mend.Source, f.Source)
	f.Edits = append(f.Edits, a.Mend.Edits...)
}

// Claim is a finding that counts only if nothing shows until the end of the session that it is wrong.
type Claim struct{ wrong bool }

// Refute says that it is wrong. Of no claim, nil, there is nothing to say.
func (c *Claim) Refute() {
	if c != nil {
		c.wrong = true
	}
}

// Claim reports a finding if that is not refuted until the end.
func (r *Run) Claim(f finding.Finding) *Claim {
	c, n := &Claim{}, len(r.findings)
	if r.Report(f); n < len(r.findings) && !r.findings[n].More {
		r.claims[n] = c
	}
	return c
}

// Refusal is an error with which a request ended.
type Refusal struct {
	Text  string      // the client's record of it
	On    finding.Ref // the newest such record
	Times int         // in a row
}

// keptRefusals is how many different errors in a row are kept.
const keptRefusals = 8

// maxRefusal is how much of an error is kept, in bytes.
const maxRefusal = 16 << 10

// Refused notes the error with which a turn ended. twice says that the client writes it a second time, which does not count.
func (r *Run) Refused(text []byte, on finding.Ref, twice bool) {
	if len(text) > maxRefusal {
		text = text[:maxRefusal]
	}
	for i := range r.refusals {
		if k := &r.refusals[i]; k.Text == string(text) {
			if !twice {
				k.Times++
				k.On = on
			}
			return
		}
	}
	if len(r.refusals) == keptRefusals {
		r.refusals = slices.Delete(r.refusals, 0, 1)
	}
	r.refusals = append(r.refusals, Refusal{string(text), on, 1})
}

// Answered says that a request was answered: what was refused before it is not refused any more.
func (r *Run) Answered() { r.refusals = r.refusals[:0] }

// Refusals are the errors since the last answer.
func (r *Run) Refusals() []Refusal { return r.refusals }

// Settle has the checkers say of each finding whether it is one, and what it means, now that everything is known.
func (r *Run) Settle(checkers []Checker) {
	for n, list := range r.about {
		for _, a := range list {
			a.settle(&r.findings[n])
		}
	}
	kept := r.findings[:0]
	for i := range r.findings {
		if c := r.claims[i]; c == nil || !c.wrong {
			kept = append(kept, r.findings[i])
		}
	}
	r.findings = kept
	for _, c := range checkers {
		if e, ok := c.(Explainer); ok {
			r.findings = slices.DeleteFunc(r.findings, func(f finding.Finding) bool { return e.Explains(&f) })
		}
	}
	for _, c := range checkers {
		if s, ok := c.(Settler); ok {
			for i := range r.findings {
				s.Settle(&r.findings[i])
			}
		}
	}
}

// Findings returns what was reported, in that order. After Settle, the caller may change them.
func (r *Run) Findings() []finding.Finding { return r.findings }
