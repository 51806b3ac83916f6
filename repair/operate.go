package repair

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/surgery"
	"github.com/hist-cli/hist/lint"
)

// ErrUnsound says that an operation was asked for on a session that must be repaired first.
var ErrUnsound = errors.New("repair it first")

// errEmptied says that an operation would take everything out of a session.
var errEmptied = surgery.Usage("nothing would be left of the session; begin a new one instead")

// Operation is what a user wants done with a healthy session, instead of a repair. Its changes take the same way to a file as those
// of rules do: the result is linted, what the client sends of both is compared, and undo brings the session back.
type Operation struct {
	Name string // of the command, for reports
	// Plan says what to change.
	Plan func(s *surgery.Session) (*surgery.Plan, error)
	// Record is what the run's record calls the plan; "" for a sum of it, by which another run knows that it would do the same.
	Record string
	// Forget says that the run's record must not hold what the operation takes out. Then there is no undo in place.
	Forget bool
}

// operated is what is known of an operation on its way.
type operated struct {
	plan  *surgery.Plan
	sent  *session.Sent // of the session
	print *surgery.Print
	size  int64  // bytes of the result
	text  []byte // the session
}

// errSame says that what an operation would make of a session is that session.
var errSame = errors.New("the result is the session as it is")

// nothingToGain forgets the plan of an operation that would change nothing.
func (w *job) nothingToGain() {
	w.op.plan, w.op.print, w.op.size = &surgery.Plan{}, nil, int64(len(w.op.text))
	w.plan, w.made, w.run = planFor(nil, nil, w.Choice), nil, nil
	w.notes = nil
}

// operate plans the operation on a session that lint has found sound.
func (w *job) operate(ctx context.Context) error {
	if worst := unsound(w.found.Findings); worst != nil {
		return w.repairFirst(worst)
	}
	s, err := w.takenApart(ctx)
	if err != nil {
		return w.named(err)
	}
	w.op = &operated{sent: s.Sent, size: int64(len(s.Text)), text: s.Text}
	if w.op.plan, err = source.Promptly(ctx, func() (*surgery.Plan, error) { return w.Operation.Plan(s) }); err != nil {
		return w.named(err)
	}
	w.plan = planFor(w.op.plan.Findings(), nil, Choice{Rules: append(w.op.plan.Names(), "")})
	w.plan.copies = w.op.plan.Copy && w.effectiveMode() != InPlace
	w.Choice = nothing
	w.notes = append(w.notes, w.op.plan.Notes...)
	return nil
}

// planSum is what the record says of an operation's plan, "" for a repair.
func (w *job) planSum() string {
	if w.op == nil {
		return ""
	}
	return cmp.Or(w.Operation.Record, w.op.plan.Sum())
}

// takenApart is the session as an operation looks at it.
func (w *job) takenApart(ctx context.Context) (*surgery.Session, error) {
	text, err := w.text(ctx)
	if err != nil {
		return nil, err
	}
	s, err := source.Promptly(ctx, func() (*surgery.Session, error) {
		return surgery.Read(w.agent, w.found.Summary.Header, text, w.Lint.Name)
	})
	if err != nil {
		return nil, err
	}
	s.Sent, err = w.readSent(ctx, text, w.Lint.Name.Base)
	return s, err
}

// ReadSession reads a session for those who tell what its client sends of it. If it must be repaired first, that is an error if a sound one is
// asked for, else its Damaged; both wrap ErrUnsound.
func ReadSession(ctx context.Context, src *source.Source, opts lint.Options, home string, sound bool) (*surgery.Session, error) {
	w := &job{Job: Job{Source: src, Lint: opts, Home: home}}
	w.Lint.Home = home
	var err error
	if w.found, err = lint.Source(ctx, src, w.Lint); err != nil {
		return nil, err
	}
	if p := w.found.Summary.Partial; p != nil {
		return nil, fmt.Errorf("%s: %w: %w", src.Path, ErrPartial, p)
	}
	var damaged error
	if worst := unsound(w.found.Findings); worst != nil {
		if damaged = w.repairFirst(worst); sound {
			return nil, damaged
		}
	}
	w.agent = all.Named(w.found.Summary.Agent)
	s, err := w.takenApart(ctx)
	if err != nil {
		return nil, w.named(err)
	}
	s.Damaged = damaged
	return s, nil
}

// repairFirst is the error about a session that is not sound.
func (w *job) repairFirst(worst *lint.Finding) error {
	return fmt.Errorf("%s: line %d: %s [%s]: %w: hist repair %s", w.Source.Path, worst.Pos.Line, worst.Message, worst.Rule.Name, ErrUnsound, w.Source.Path)
}

// unsound is the worst finding that is more than a note, nil if there is none.
func unsound(findings []lint.Finding) (worst *lint.Finding) {
	for i := range findings {
		if f := &findings[i]; f.Impact > lint.Notes && (worst == nil || f.Impact > worst.Impact) {
			worst = f
		}
	}
	return worst
}

// text is the whole session.
func (w *job) text(ctx context.Context) ([]byte, error) {
	in, err := w.Source.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return source.ReadAll(in, w.found.Summary.Bytes)
}

// readSent reads what the client sends of a text; nil if no reader of its agent is known.
func (w *job) readSent(ctx context.Context, text []byte, base string) (*session.Sent, error) {
	if w.agent.ReadSent == nil {
		return nil, nil
	}
	at := w.readAt(ctx, base)
	return source.Promptly(ctx, func() (*session.Sent, error) { return w.agent.ReadSent(text, at, w.Lint.For[w.agent.Name]) })
}

func (w *job) readAt(ctx context.Context, base string) agent.ReadAt {
	return agent.ReadAt{Base: base, Parent: lint.Parents(ctx, w.agent, w.Home, w.found.Summary.Header)}
}

// prove lints nothing: it compares what is sent of the result with what is sent of the session.
func (w *job) prove(ctx context.Context, text []byte) error {
	if f := unsound(w.copied.Findings); f != nil {
		return fmt.Errorf("%w: line %d would have %s (%s)", ErrVerify, f.Pos.Line, f.Rule.Name, f.Message)
	}
	if w.effectiveMode() == InPlace && bytes.Equal(text, w.op.text) {
		return errSame
	}
	w.op.size = int64(len(text))
	if err := w.weighed(text); err != nil {
		return err
	}
	base := w.copyOptions().Name.Base
	after, err := w.readSent(ctx, text, base)
	if err != nil || after == nil || w.op.sent == nil {
		return err
	}
	w.op.print, err = source.Promptly(ctx, func() (*surgery.Print, error) { return w.op.plan.Prove(w.op.sent, after) })
	if ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		return fmt.Errorf("%w: %w", ErrVerify, err)
	}
	if err := w.op.plan.ProveLike(after); err != nil {
		return fmt.Errorf("%w: compared with the other copy, %w", ErrVerify, err)
	}
	return nil
}

func unpacked(data []byte) ([]byte, error) {
	d, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return io.ReadAll(d)
}

// forget removes the run's record, which holds the original.
func (w *job) forget(rep *Report) error {
	rep.Notes = append(rep.Notes, "no record of this run is kept, because it would hold what was taken out: there is no undo")
	rep.Run, rep.Forgotten = "", true
	if err := runs.Remove(w.run.Manifest.Run); err != nil {
		return fmt.Errorf("the session is done, but the run's record still holds what was taken out: %w", err)
	}
	return nil
}

// Operated is what a report says of an operation.
type Operated struct {
	Name   string         `json:"name"`
	Before int64          `json:"bytes_before"` // of the uncompressed text
	After  int64          `json:"bytes_after"`
	Sent   *surgery.Print `json:"sent,omitempty"` // what two readings showed; absent if nothing was written, or no reader is known
	Parts  []Portion      `json:"parts"`          // what was changed, by reason
}

// Portion is the changes that an operation makes for one reason.
type Portion struct {
	Name    string `json:"name"`
	Why     string `json:"why"`
	Changes int    `json:"changes"`
	Saved   int64  `json:"bytes_saved"` // negative if the result is larger by it
}

// operated is the report's part about the operation, nil for a repair.
func (w *job) operated() *Operated {
	if w.op == nil {
		return nil
	}
	o := &Operated{Name: w.Operation.Name, Before: w.found.Summary.Bytes, After: w.op.size, Sent: w.op.print, Parts: []Portion{}}
	for _, g := range w.op.plan.Groups {
		if len(g.Edits) > 0 {
			o.Parts = append(o.Parts, Portion{g.Name, g.Why, len(g.Edits), g.Saved})
		}
	}
	return o
}
