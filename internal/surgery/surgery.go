package surgery

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

// What callers must tell apart; test with errors.Is.
var (
	// ErrRefused says that the session does not allow the operation, and why.
	ErrRefused = errors.New("refused")
	// ErrUsage says that what was asked for can't be meant, and what would be right.
	ErrUsage = errors.New("wrong usage")
)

// Refuse is an ErrRefused with these words.
func Refuse(format string, args ...any) error {
	return &saidError{ErrRefused, fmt.Sprintf(format, args...)}
}

// Usage is an ErrUsage with these words.
func Usage(format string, args ...any) error {
	return &saidError{ErrUsage, fmt.Sprintf(format, args...)}
}

// saidError is one of the errors above, in words of its own.
type saidError struct {
	is    error
	words string
}

func (e *saidError) Error() string { return e.words }
func (e *saidError) Unwrap() error { return e.is }

// Session is a session that is operated on. It is held whole.
type Session struct {
	Agent   *agent.Agent
	Info    session.Info
	Text    []byte
	Records []session.Record // in the order of the file
	Sent    *session.Sent    // what its client sends; nil if no reader of this agent is known
	Damaged error            // what must be repaired first, and how; nil if it is sound
	history check.History
	sentAt  map[session.Pos]bool // records of which something is sent; nil until it is asked for
}

// Read takes a session apart. The records' bytes point into text, which must not change.
func Read(a *agent.Agent, about session.Info, text []byte, name check.Name) (*Session, error) {
	s := &Session{Agent: a, Info: about, Text: text, history: a.NewHistory()}
	in := normalize.New(bytes.NewReader(text), normalize.Options{Decoder: a.Decoder, Mend: func(*finding.Finding) bool { return false }})
	defer in.Close()
	run := check.NewRun(check.Options{Name: name}, s.history, in)
	checkers := a.NewCheckers(run)
	for {
		rec, err := in.Next()
		run.Begin(rec)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, c := range checkers {
			c.Record(rec)
		}
		run.Done(rec)
		s.Records = append(s.Records, held(rec, text))
		in.Faults()
	}
	for _, c := range checkers {
		c.End()
	}
	return s, nil
}

// held is a record whose bytes stay: they are the text's, where the record stands in it as it is.
func held(rec *session.Record, text []byte) session.Record {
	r := session.Record{Pos: rec.Pos, Offset: rec.Offset, Size: rec.Size, Kind: rec.Kind, Type: rec.Type, Model: rec.Model, Boundary: rec.Boundary, Answer: rec.Answer, Ordinal: rec.Ordinal}
	if end := rec.Offset + int64(len(rec.Raw)); end <= int64(len(text)) && bytes.Equal(rec.Raw, text[rec.Offset:end]) {
		r.Raw = text[rec.Offset:end]
	} else {
		r.Raw = bytes.Clone(rec.Raw)
	}
	return r
}

// MaySend says whether a record may be a part of what is sent: branches that were left and what a compaction replaced are not.
func (s *Session) MaySend(at session.Pos) bool {
	return s.history.Counts(at) && !s.history.RolledBack(at)
}

// Plan is what an operation changes.
type Plan struct {
	Groups []*Group
	// Copy says that a copy is wanted even if nothing in it changes but who it is.
	Copy bool
	// Sends is how what the client sends of the result must relate to what it sends of the session.
	Sends Relation
	// Like, if not nil, is another reading, to which what is sent of the result must relate as AsLike says.
	Like   *session.Sent
	AsLike Relation
	// Says is what becomes of a text that is changed where it stands; nil if a change is more than that.
	Says func(text string) string
	// Closed are the calls that get an output of the plan's, because theirs is cut.
	Closed []string
	// Notes are what is lost for good, and what else the user should know, in sentences.
	Notes []string
}

// Group is changes that are made for one reason.
type Group struct {
	Name  string // a word or two with hyphens, for reports
	Why   string // in words, of each record that is changed
	Edits []finding.Edit
	Saved int64 // bytes that the session gets smaller by
	rule  *finding.Rule
}

// Group adds a group to the plan.
func (p *Plan) Group(name, why string) *Group {
	g := &Group{Name: name, Why: why}
	p.Groups = append(p.Groups, g)
	return g
}

// Drop takes a record out.
func (g *Group) Drop(rec *session.Record) {
	g.Edits = append(g.Edits, finding.Edit{At: rec.Pos, Op: finding.Remove})
	g.Saved += rec.Size
}

// Cut changes parts of a record. Cuts that put the same there are none.
func (g *Group) Cut(rec *session.Record, cuts ...session.Cut) {
	if cuts = slices.DeleteFunc(cuts, func(c session.Cut) bool { return c.New != nil && bytes.Equal(rec.Raw[c.Start:c.End], c.New) }); len(cuts) == 0 {
		return
	}
	g.Edits = append(g.Edits, finding.Edit{At: rec.Pos, Op: finding.Splice, Cuts: cuts})
	for _, c := range cuts {
		g.Saved += int64(c.End - c.Start - len(c.New))
	}
}

// Behind puts a new record behind another one.
func (g *Group) Behind(rec *session.Record, line []byte) {
	g.Edits = append(g.Edits, finding.Edit{At: rec.Pos, Op: finding.After, New: finding.Content{Literal: line}, Tail: true})
	g.Saved -= int64(len(line)) + 1
}

// InFront puts a new record in front of another one.
func (g *Group) InFront(rec *session.Record, line []byte) {
	g.Edits = append(g.Edits, finding.Edit{At: rec.Pos, Op: finding.Before, New: finding.Content{Literal: line}})
	g.Saved -= int64(len(line)) + 1
}

// Empty says that the plan changes nothing.
func (p *Plan) Empty() bool {
	for _, g := range p.Groups {
		if len(g.Edits) > 0 {
			return false
		}
	}
	return !p.Copy
}

// Saved is how many bytes smaller the result is.
func (p *Plan) Saved() (n int64) {
	for _, g := range p.Groups {
		n += g.Saved
	}
	return n
}

// Findings are the plan's changes in the form that a repair takes. Their rules are no rules of lint: they only name the reasons.
func (p *Plan) Findings() (list []finding.Finding) {
	for _, g := range p.Groups {
		if len(g.Edits) == 0 {
			continue
		}
		g.rule = &finding.Rule{Name: g.Name, Family: "surgery", Impact: finding.Notes, Fix: finding.SetAside, Title: g.Why}
		list = append(list, finding.Finding{Rule: g.rule, Impact: finding.Notes, Fix: finding.SetAside, Pos: g.Edits[0].At, Message: g.Why, Edits: g.Edits})
	}
	return list
}

// Sum tells plans for the same session apart by where they change it and by how much. What they put there may differ from run to run:
// new ids, times, and the tags of secrets.
func (p *Plan) Sum() string {
	h := sha256.New()
	for _, g := range p.Groups {
		for i := range g.Edits {
			e := &g.Edits[i]
			fmt.Fprintln(h, g.Name, e.At, e.Op, len(e.New.Literal))
			for _, c := range e.Cuts {
				fmt.Fprintln(h, c.Start, c.End, len(c.New))
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Names are the groups' names.
func (p *Plan) Names() (names []string) {
	for _, g := range p.Groups {
		names = append(names, g.Name)
	}
	return names
}

// Empty says that the group changes nothing.
func (g *Group) Empty() bool { return len(g.Edits) == 0 }
