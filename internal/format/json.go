package format

import (
	"encoding/json"
	"io"

	"github.com/hist-cli/hist/internal/escape"
)

// Write writes a value as one line of JSON.
func Write(w io.Writer, v any) error { return escape.Line(w, v) }

// jsonl writes one object a finding.
type jsonl struct{ w io.Writer }

func newJSONL(w io.Writer, _ About) Printer { return &jsonl{w} }

func (p *jsonl) Session(s *Session) error {
	for i := range s.Findings {
		if err := Write(p.w, &s.Findings[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *jsonl) End() error { return nil }

// Schema names the JSON form and its version, which changes when a field changes its meaning or is removed.
const Schema = "hist.lint/1"

// document writes one object that holds all sessions.
type document struct {
	w     io.Writer
	about About
	count int
	next  []string // of the first session that has one
}

func newJSON(w io.Writer, about About) Printer { return &document{w: escape.JSON(w), about: about} }

type documentHead struct {
	Schema  string `json:"schema"`
	Version string `json:"hist"`
}

type documentSession struct {
	Path     string    `json:"path"`
	Error    string    `json:"error,omitempty"`
	Findings []Finding `json:"findings"`
	Next     []string  `json:"next,omitempty"` // the command to run now, if something can be repaired
}

// open writes what comes before a session.
func (p *document) open() error {
	p.count++
	if p.count > 1 {
		_, err := io.WriteString(p.w, ",")
		return err
	}
	head, err := json.Marshal(documentHead{Schema, p.about.Version})
	if err == nil {
		_, err = p.w.Write(append(head[:len(head)-1], `,"sessions":[`...))
	}
	return err
}

func (p *document) Session(s *Session) error {
	if err := p.open(); err != nil {
		return err
	}
	out := documentSession{Path: s.Path, Findings: s.Findings, Next: s.Next}
	if s.Findings == nil {
		out.Findings = []Finding{}
	}
	if p.next == nil {
		p.next = s.Next
	}
	if s.Err != nil {
		out.Error = s.Err.Error()
	}
	return Write(p.w, out)
}

func (p *document) End() error {
	if p.count == 0 {
		if err := p.open(); err != nil {
			return err
		}
	}
	if p.next == nil {
		_, err := io.WriteString(p.w, "]}\n")
		return err
	}
	next, err := json.Marshal(p.next)
	if err == nil {
		_, err = p.w.Write(append(append([]byte(`],"next":`), next...), "}\n"...))
	}
	return err
}
