package cmd

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

//go:embed showpage.html
var pageText string

// page writes a session as one page for a browser. It needs no network and no script; a script only adds keys. One
// turn is held at a time: its first line says how it ended.
type page struct {
	w            io.Writer
	t            *template.Template
	shown        *shown
	turn         *pageTurn
	marks        map[*lint.Finding]string
	turns, calls int64
	err          error
}

// pageTurn is what the page shows of a turn, or of what stands outside of turns.
type pageTurn struct {
	Number  int
	When    string
	How     string
	Bad     bool // open it: something in it went wrong
	Calls   string
	Entries []pageEntry
}

// pageEntry is one line of a turn.
type pageEntry struct {
	Mark, Class, Time, Stamp string
	Name, How                string
	Line                     int64
	Bad                      bool
	Blocks                   []pageBlock
}

// pageBlock is some words of the conversation.
type pageBlock struct{ Title, Text string }

// pageFinding is one line in the list of findings.
type pageFinding struct{ Mark, Impact, Message string }

// maxListed is how many findings the list at the top has; all of them stand at their place.
const maxListed = 100

func newPage(w io.Writer) *page {
	return &page{w: format.HTML(w), t: template.Must(template.New("page").Parse(pageText)), marks: map[*lint.Finding]string{}}
}

func (p *page) begin(s *shown) error {
	p.shown = s
	var listed []pageFinding
	for i := range s.findings {
		f := &s.findings[i]
		p.marks[f] = fmt.Sprintf("finding-%d", i+1)
		if len(listed) < maxListed && f.Impact != lint.Notes {
			listed = append(listed, pageFinding{p.marks[f], f.Impact.String(), oneLine(findingLine(f))})
		}
	}
	facts := s.facts()
	for i := range facts {
		facts[i][1] = oneLine(facts[i][1])
	}
	p.write("head", map[string]any{"Path": oneLine(s.path), "Facts": facts, "Verdict": s.verdict(), "Findings": listed})
	return p.err
}

func (p *page) entry(e *timeline.Entry) error {
	switch e.Kind {
	case timeline.TurnStart:
		p.flush(false)
		p.turns++
		p.turn = &pageTurn{Number: e.Turn, When: day(e.Time), How: timeline.Open.String()}
		return p.err
	case timeline.TurnEnd:
		p.turn.How = turnEnd(e)
		if e.Calls > 0 {
			p.turn.Calls = count(int64(e.Calls), "call", "calls")
		}
		p.turn.Bad = p.turn.Bad || e.State != timeline.Completed && e.State != timeline.Running
		return p.err
	case timeline.Call:
		p.calls++
	}
	if p.turn == nil || e.Turn != p.turn.Number {
		p.flush(false)
		p.turn = &pageTurn{}
	}
	line := p.line(e)
	p.turn.Bad = p.turn.Bad || line.Bad
	p.turn.Entries = append(p.turn.Entries, line)
	return p.err
}

// line is what the page shows of an entry.
func (p *page) line(e *timeline.Entry) pageEntry {
	l := pageEntry{Class: "plain", Time: clock(e.Time), Stamp: day(e.Time), Name: oneLine(describeEntry(e)), Line: e.Pos.Line}
	switch e.Kind {
	case timeline.Prompt, timeline.Answer:
		l.Name, l.How = e.Kind.String(), length(e)
	case timeline.Call:
		l.Class, l.Name, l.How = callClass(e), oneLine(callName(e)), outcome(e)
		l.Bad = l.Class == "loses"
	case timeline.Finding:
		l.Class, l.Mark = e.Finding.Impact.String(), p.marks[e.Finding]
		l.Name, l.How = l.Class, oneLine(findingLine(e.Finding))
		l.Bad = e.Finding.Impact != lint.Notes
	}
	for _, b := range []pageBlock{{"text", e.Text}, {"given", e.Asked}, {"given back", e.Got}} {
		if b.Text != "" {
			l.Blocks = append(l.Blocks, pageBlock{b.Title, printable(b.Text)})
		}
	}
	return l
}

// callClass is how a call's outcome is coloured.
func callClass(e *timeline.Entry) string {
	switch {
	case e.Outcome.State == session.Running:
		return "plain"
	case !e.Answered || e.Outcome.State == session.StoodIn:
		return "loses"
	case e.Outcome.State == session.Failed || e.Outcome.State == session.Aborted:
		return "failed"
	case e.Outcome.State == session.Succeeded:
		return "ok"
	}
	return "plain"
}

func findingLine(f *lint.Finding) string {
	return fmt.Sprintf("%s (line %d) [%s]", f.Message, f.Pos.Line, f.Rule.Name)
}

// flush writes the turn in hand; the last one is shown open.
func (p *page) flush(last bool) {
	if p.turn == nil {
		return
	}
	p.write("turn", map[string]any{"Turn": p.turn, "Open": last || p.turn.Bad})
	p.turn = nil
}

func (p *page) end() error {
	p.flush(true)
	p.write("foot", map[string]any{"Turns": count(p.turns, "turn", "turns"), "Calls": count(p.calls, "call", "calls"), "Version": Version()})
	return p.err
}

func (p *page) write(part string, data any) {
	if p.err == nil {
		p.err = p.t.ExecuteTemplate(p.w, part, data)
	}
}
