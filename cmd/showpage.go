package cmd

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/escape"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

//go:embed showpage.html
var pageText string

// timelinePage writes a session as one page for a browser. It needs no network and works without scripts; a script only adds keys. One
// turn is held in memory at a time, because its first line says how it ended.
type timelinePage struct {
	w            io.Writer
	t            *template.Template
	shown        *shown
	report       string // a link to the report of its repair, "" if there is none
	turn         *pageTurn
	marks        map[*lint.Finding]string
	turns, calls int64
	spent        int // about how many bytes have been written
	err          error
}

// pageTurn is what the page shows of a turn, or of entries outside turns.
type pageTurn struct {
	Number  int
	When    string
	How     string
	Bad     bool // something in it went wrong, so it is shown open
	Calls   string
	Entries []pageEntry
	LeftOut string // what the page leaves out of it
	left    int
}

// pageEntry is one line of a turn.
type pageEntry struct {
	Mark, Class, Time, Stamp string
	Kind                     string // its class for the page's filters: words, call, failed or finding
	Name, How                string
	Line                     int64
	Bad                      bool
	Blocks                   []pageBlock
}

type pageBlock struct{ Title, Text string }

// pageFinding is one line in the list of findings.
type pageFinding struct {
	Mark, Impact, Message string
	weight                lint.Impact
}

// maxListed is how many findings the list at the top has, the worst first; all findings are shown in their places.
const maxListed = 100

// next is the command to go on with: the repair if something can be repaired, with another that shows what it would change, otherwise
// the resume; nil if no command names the session.
func (s *shown) next() (command, preview []string) {
	name := nameOf(s.summary.Header.ID, s.path)
	switch {
	case s.path == "-":
		return nil, nil
	case mendable(s.findings):
		return []string{"hist", "repair", name}, []string{"hist", "repair", "-n", "--html", "repair.html", name}
	case s.summary.Header.ID == "":
		return nil, nil
	}
	return s.resume, nil
}

func newPage(w io.Writer, report string) *timelinePage {
	return &timelinePage{w: escape.HTML(w), report: report, t: template.Must(template.New("page").Parse(pageText)), marks: map[*lint.Finding]string{}}
}

func (p *timelinePage) begin(s *shown) error {
	p.shown = s
	var listed []pageFinding
	for i := range s.findings {
		f := &s.findings[i]
		p.marks[f] = fmt.Sprintf("finding-%d", i+1)
		if f.Impact != lint.Notes {
			listed = append(listed, pageFinding{p.marks[f], f.Impact.String(), oneLine(findingLine(f)), f.Impact})
		}
	}
	slices.SortStableFunc(listed, func(a, b pageFinding) int { return cmp.Compare(b.weight, a.weight) })
	listed = listed[:min(len(listed), maxListed)]
	facts := s.facts()
	for i := range facts {
		facts[i][1] = oneLine(facts[i][1])
	}
	h := s.summary.Header
	next, preview := s.next()
	p.write("head", map[string]any{
		"Path": oneLine(s.path), "ID": oneLine(h.ID), "Title": cmp.Or(s.title, strings.TrimSpace("Session "+short(oneLine(h.ID)))), "Where": changed(oneLine(h.CWD), s.modified), "Report": p.report, "Next": format.Command(next...), "Preview": format.Command(preview...),
		"Damaged": len(listed) > 0, "Style": format.Style, "Facts": facts, "Verdict": s.verdict(), "Findings": listed,
	})
	return p.err
}

func (p *timelinePage) entry(e *timeline.Entry) error {
	switch e.Kind {
	case timeline.TurnStart:
		p.flush(false)
		p.turns++
		p.turn = &pageTurn{Number: e.Turn, When: day(e.Time), How: string(timeline.Open)}
		if e.Unsent {
			p.turn.When = strings.TrimSpace(p.turn.When + " " + notSent)
		}
		return p.err
	case timeline.TurnEnd:
		p.turn.How = turnEnd(e)
		if e.Calls > 0 {
			p.turn.Calls = count(e.Calls, "call", "calls")
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
	full := p.spent > maxPage && !line.Bad && line.Kind != "words" || p.spent > 2*maxPage || len(p.turn.Entries) >= maxEntries
	if full && line.Kind != "finding" {
		p.turn.left++
		return p.err
	}
	p.spent += line.size()
	p.turn.Entries = append(p.turn.Entries, line)
	return p.err
}

func (p *timelinePage) line(e *timeline.Entry) pageEntry {
	l := pageEntry{Class: "plain", Time: clock(e.Time), Stamp: day(e.Time), Name: oneLine(describeEntry(e)), Line: e.Pos.Line}
	switch e.Kind {
	case timeline.Prompt, timeline.Answer, timeline.Thought:
		l.Name, l.How, l.Kind = e.Kind.String(), length(e), "words"
	case timeline.Call:
		l.Class, l.Name, l.How = callClass(e), oneLine(callName(e)), outcome(e)
		l.Bad, l.Kind = l.Class == "loses", "call"
		if l.Class == "loses" || l.Class == "failed" {
			l.Kind = "failed"
		}
	case timeline.Finding:
		l.Class, l.Mark = e.Finding.Impact.String(), p.marks[e.Finding]
		l.Name, l.How = l.Class, oneLine(findingLine(e.Finding))
		l.Bad, l.Kind = e.Finding.Impact != lint.Notes, "finding"
	}
	for _, b := range []pageBlock{{"", e.Text}, {"input", e.Asked}, {"output", e.Got}} {
		if b.Text != "" {
			l.Blocks = append(l.Blocks, pageBlock{b.Title, printable(b.Text)})
		}
	}
	return l
}

// No browser could open the page of a very long session. After maxPage bytes, it has only prompts, answers and what went wrong;
// after twice that, only findings; and never more than maxEntries entries of a turn. What is left out is counted in its place.
const (
	maxPage    = 6 << 20
	maxEntries = 5000
)

// size is about how many bytes an entry takes in the page.
func (l *pageEntry) size() int {
	n := 160 + len(l.Name) + len(l.How)
	for _, b := range l.Blocks {
		n += 60 + len(b.Text)
	}
	return n
}

// callClass is the CSS class of a call's outcome.
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
	text := format.Words(f.Message, f.Count)
	if f.Pos.Line > 0 { // otherwise it is about the file as a whole
		text += fmt.Sprintf(" (line %d)", f.Pos.Line)
	}
	return text + " [" + f.Rule.Name + "]"
}

// flush writes the turn in hand; the last turn is shown open.
func (p *timelinePage) flush(last bool) {
	if p.turn == nil {
		return
	}
	if n := p.turn.left; n > 0 {
		p.turn.LeftOut = count(n, "entry is", "entries are") + " left out of this page, which would be too large; hist show prints them in the terminal."
	}
	p.write("turn", map[string]any{"Turn": p.turn, "Open": last || p.turn.Bad})
	p.turn = nil
}

func (p *timelinePage) end() error {
	p.flush(true)
	p.write("foot", map[string]any{"Turns": count(p.turns, "turn", "turns"), "Calls": count(p.calls, "call", "calls"), "Version": Version(), "Copy": format.Copy})
	return p.err
}

func (p *timelinePage) write(part string, data any) {
	if p.err == nil {
		p.err = p.t.ExecuteTemplate(p.w, part, data)
	}
}
