package format

import (
	"encoding/xml"
	"io"

	"github.com/hist-cli/hist/internal/escape"
)

// junit writes the XML that CI servers show as test results: a suite a session, a case a finding.
type junit struct {
	w     io.Writer
	began bool
}

func newJUnit(w io.Writer, _ About) Printer { return &junit{w: escape.XML(w)} }

type suite struct {
	XMLName  xml.Name   `xml:"testsuite"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Cases    []testCase `xml:"testcase"`
}

type testCase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	File    string   `xml:"file,attr,omitempty"`
	Line    int64    `xml:"line,attr,omitempty"`
	Failure *outcome `xml:"failure"`
	Error   *outcome `xml:"error"`
	Skipped *outcome `xml:"skipped"`
}

type outcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// Session writes a suite. A finding below the threshold is a skipped case; a session without findings is one case
// that passed.
func (p *junit) Session(s *Session) error {
	out := suite{Name: s.Path}
	for i := range s.Findings {
		f := &s.Findings[i]
		c := testCase{Name: place(f) + ": " + f.Rule, Class: s.Path, File: s.Path, Line: f.Line}
		what := &outcome{Message: Words(f.Message, f.Count), Type: f.Rule, Text: f.Impact + "; fix: " + f.Fix}
		if f.Fails {
			c.Failure = what
			out.Failures++
		} else {
			what.Type = "" // a skipped element has no type
			c.Skipped = what
			out.Skipped++
		}
		out.Cases = append(out.Cases, c)
	}
	switch {
	case s.Err != nil:
		out.Errors = 1
		out.Cases = append(out.Cases, testCase{Name: "read", Class: s.Path, File: s.Path, Error: &outcome{Message: s.Err.Error()}})
	case len(out.Cases) == 0:
		out.Cases = []testCase{{Name: "no damage was found", Class: s.Path, File: s.Path}}
	}
	out.Tests = len(out.Cases)
	if err := p.begin(); err != nil {
		return err
	}
	enc := xml.NewEncoder(p.w)
	enc.Indent("  ", "  ")
	if err := enc.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(p.w, "\n")
	return err
}

func (p *junit) begin() error {
	if p.began {
		return nil
	}
	p.began = true
	_, err := io.WriteString(p.w, xml.Header+"<testsuites name=\"hist\">\n")
	return err
}

func (p *junit) End() error {
	if err := p.begin(); err != nil {
		return err
	}
	_, err := io.WriteString(p.w, "</testsuites>\n")
	return err
}
