package cmd

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// timelinePrinter shows a session to people, line by line, so that a pager may be put behind it.
type timelinePrinter struct {
	unsent       bool // the turn is not sent
	clipped      bool // the first words of prompts and answers are shown
	w            *bufio.Writer
	st           *styles
	width        int // of the terminal, in columns; 0 if it is not one
	shown        *shown
	turns, calls int64
}

func (p *timelinePrinter) begin(s *shown) error {
	p.shown, p.turns, p.calls = s, 0, 0
	fmt.Fprintln(p.w, p.st.path.Sprint(oneLine(s.path)))
	for _, fact := range s.facts() {
		fmt.Fprintf(p.w, "    %s %s\n", p.st.dim.Sprintf("%-8s", fact[0]), oneLine(fact[1]))
	}
	return p.w.Flush()
}

// facts are what is known of a session as a whole, as names and values.
func (s *shown) facts() [][2]string {
	h := s.summary.Header
	client := s.summary.Agent
	if a := all.Named(client); a != nil {
		client = a.Title
	}
	facts := [][2]string{
		{"thread", h.ID},
		{"client", strings.TrimSpace(client + " " + h.Version)},
		{"source", h.Source},
		{"provider", h.Provider},
		{"cwd", h.CWD},
		{"history", h.Mode},
		{"size", fmt.Sprintf("%s in %s", count(s.summary.Bytes, "byte", "bytes"), count(s.summary.Records, "record", "records"))},
	}
	if s.newer != "" {
		facts = append(facts, [2]string{"replaced", "by a revert, from some turn on: " + s.newer})
	}
	facts = slices.DeleteFunc(facts, func(f [2]string) bool { return f[1] == "" || f[1] == client })
	for i := range facts {
		facts[i][1] = shortened(facts[i][1], longestFact)
	}
	return facts
}

// longestFact is how many characters of a value are shown.
const longestFact = 200

func shortened(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

func (p *timelinePrinter) entry(e *timeline.Entry) error {
	switch e.Kind {
	case timeline.TurnStart:
		p.turns++
		when := day(local(e.Time))
		if p.unsent = e.Unsent; e.Unsent {
			when = strings.TrimSpace(when + "  " + notSent)
		}
		fmt.Fprintf(p.w, "\n%s  %s\n", p.st.bold.Sprintf("turn %d", e.Turn), p.st.dim.Sprint(when))
	case timeline.Finding:
		f := e.Finding
		text := folded(fmt.Sprintf("            %s: %s", f.Impact, oneLine(findingLine(f))), p.width, 14)
		fmt.Fprintln(p.w, strings.Replace(text, f.Impact.String()+":", p.st.impact[f.Impact].Sprintf("%s:", f.Impact), 1))
	default:
		if e.Kind == timeline.Call {
			p.calls++
		}
		line := p.line(e)
		if e.Unsent && !p.unsent {
			line += "  " + p.st.dim.Sprint(notSent)
		}
		fmt.Fprintf(p.w, "  %s  %s\n", p.st.dim.Sprint(clock(local(e.Time))), line)
		p.content(e)
	}
	return nil
}

// notSent is said of what stands in the session, but is not sent any more.
const notSent = "(not sent)"

func (p *timelinePrinter) line(e *timeline.Entry) string {
	words := oneLine(describeEntry(e))
	if p.clipped && e.Text != "" {
		room := proseWidth
		if p.width > 0 {
			room = p.width
		}
		said := strings.Join(strings.Fields(printable(e.Text)), " ")
		words = e.Kind.String() + ": " + clip(said, room-len(e.Kind.String())-clockColumns)
	}
	switch {
	case e.Kind == timeline.Call:
		return p.st.bold.Sprint(oneLine(callName(e))) + ": " + p.how(e).Sprint(oneLine(outcome(e)))
	case e.Kind == timeline.TurnEnd && e.State != timeline.Completed && e.State != timeline.Running:
		return p.st.impact[lint.Loses].Sprint(words)
	}
	return words
}

// clockColumns are what a line takes beside an entry's words.
const clockColumns = 14

// how is the colour of a call's outcome, by its class.
func (p *timelinePrinter) how(e *timeline.Entry) *color.Color {
	switch callClass(e) {
	case "loses":
		return p.st.impact[lint.Loses]
	case "failed":
		return p.st.removed
	case "ok":
		return p.st.added
	}
	return p.st.dim
}

func describeEntry(e *timeline.Entry) string {
	switch e.Kind {
	case timeline.Prompt, timeline.Answer, timeline.Thought:
		return e.Kind.String() + ": " + length(e)
	case timeline.Call:
		return callName(e) + ": " + outcome(e)
	case timeline.Output:
		return fmt.Sprintf("an output for call %s, which is not open", e.CallID)
	case timeline.Note:
		return fmt.Sprintf("a note by the script of call %s", e.CallID)
	case timeline.Settings:
		return shortened(settings(e), longestFact)
	case timeline.Compaction:
		return "the history so far was replaced by a summary"
	case timeline.Rollback:
		return count(e.Calls, "turn was", "turns were") + " taken back"
	case timeline.TurnEnd:
		return turnEnd(e)
	}
	return e.Kind.String()
}

func callName(e *timeline.Entry) string {
	if e.Within != "" {
		return fmt.Sprintf("%s, run by the script of %s", e.Tool, e.Within)
	}
	if e.CallID == "" {
		return e.Tool
	}
	return fmt.Sprintf("%s (%s)", e.Tool, e.CallID)
}

func length(e *timeline.Entry) string {
	s := count(e.Chars, "character", "characters")
	if e.Images > 0 {
		s += ", " + count(e.Images, "image", "images")
	}
	return s
}

func outcome(e *timeline.Entry) string {
	how := e.Outcome.State.String()
	switch {
	case !e.Answered && e.Outcome.State == session.Untold:
		return "no output"
	case !e.Answered && e.Outcome.State == session.Running:
		return "running now"
	case !e.Answered:
		how = "no output, but an event says " + how
	case e.Outcome.State == session.StoodIn:
		return "unknown: its output was lost"
	}
	if e.Outcome.Exit != "" && e.Outcome.Exit != "0" {
		how += ", exit code " + e.Outcome.Exit
	}
	return how + took(e.Outcome.Took)
}

func turnEnd(e *timeline.Entry) string {
	s := string(e.State)
	switch e.State {
	case timeline.Open:
		s = "never ended"
	case timeline.Running:
		s = "runs now"
	case timeline.Interrupted, timeline.Failed:
		if e.Detail != "" && e.Detail != s {
			s += " (" + e.Detail + ")"
		}
	}
	return s + took(e.Took)
}

// took is a duration, rounded to what a person can use.
func took(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < time.Second:
		d = d.Round(10 * time.Millisecond)
	case d < time.Minute:
		d = d.Round(100 * time.Millisecond)
	default:
		d = d.Round(time.Second)
	}
	if d == 0 {
		return ""
	}
	return " after " + d.String()
}

// content prints an entry's words below it, if it has any.
func (p *timelinePrinter) content(e *timeline.Entry) {
	if p.clipped {
		return
	}
	for _, block := range []struct{ mark, text string }{{"", e.Text}, {"> ", e.Asked}, {"< ", e.Got}} {
		if block.text == "" {
			continue
		}
		for line := range strings.Lines(strings.TrimRight(block.text, "\n")) {
			fmt.Fprintf(p.w, "            %s%s\n", p.st.dim.Sprint(block.mark), oneLine(strings.TrimSuffix(line, "\n")))
		}
	}
}

func (p *timelinePrinter) end() error {
	line := fmt.Sprintf("\n%s, %s; %s. Times are %s.", count(p.turns, "turn", "turns"), count(p.calls, "call", "calls"), p.shown.verdict(), time.Now().Format("MST"))
	fmt.Fprintln(p.w, line)
	if p.shown.counts.damage() > 0 && p.shown.path != "-" {
		fmt.Fprintln(p.w, "next: "+format.Command(p.shown.repair...))
	}
	return p.w.Flush()
}

func (s *shown) verdict() string {
	found := s.counts.damage()
	line := "no damage was found"
	switch {
	case found > 0:
		line = count(found, "finding", "findings")
	case s.summary.Partial != nil:
		line = "the rest could not be read"
	}
	if n := s.counts[lint.Notes]; n > 0 {
		line += ", " + count(n, "note", "notes")
	}
	return line
}

func day(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return t.Format("2006-01-02 15:04:05")
}

// local is a time as people here read it; one that is not known stays unknown.
func local(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Local()
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "        "
	}
	return t.Format("15:04:05")
}

// settings are the model and the directory of the following turns, as far as they are known.
func settings(e *timeline.Entry) string {
	words := append([]string{"settings:"}, strings.Fields(e.Model)...)
	if e.CWD != "" {
		words = append(words, "in", e.CWD)
	}
	return strings.Join(words, " ")
}

// jsonTimeline writes one object per entry, or one for the whole session.
type jsonTimeline struct {
	w       *bufio.Writer
	whole   bool
	entries int
	next    []string
}

// jsonEntry is the documented form of an entry.
type jsonEntry struct {
	Kind    string  `json:"kind"`
	Line    int64   `json:"line"`
	Offset  int64   `json:"offset"`
	Time    string  `json:"time,omitempty"`
	Turn    int     `json:"turn,omitempty"`
	Chars   int     `json:"chars,omitempty"`
	Images  int     `json:"images,omitempty"`
	Tool    string  `json:"tool,omitempty"`
	CallID  string  `json:"call_id,omitempty"`
	Within  string  `json:"within,omitempty"`
	Outcome string  `json:"outcome,omitempty"`
	Exit    string  `json:"exit_code,omitempty"`
	State   string  `json:"state,omitempty"`
	Unsent  bool    `json:"unsent,omitempty"`
	Detail  string  `json:"detail,omitempty"`
	Count   int     `json:"count,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	Rule    string  `json:"rule,omitempty"`
	Impact  string  `json:"impact,omitempty"`
	Message string  `json:"message,omitempty"`
	CWD     string  `json:"cwd,omitempty"`
	Model   string  `json:"model,omitempty"`
	Text    string  `json:"text,omitempty"`
	Asked   string  `json:"asked,omitempty"`
	Got     string  `json:"got,omitempty"`
}

func (p *jsonTimeline) begin(s *shown) error {
	if !p.whole {
		return nil
	}
	p.next, _ = s.next()
	p.entries = 0
	var head bytes.Buffer
	err := format.Write(&head, struct {
		Schema string `json:"schema"`
		Agent  string `json:"agent"`
		Thread string `json:"thread_id"`
		Path   string `json:"path"`
	}{"hist.show/1", s.summary.Agent, s.summary.Header.ID, s.path})
	p.w.Write(bytes.TrimSuffix(head.Bytes(), []byte("}\n"))) //nolint:errcheck // Flush returns it
	p.w.WriteString(`,"entries":[`)                          //nolint:errcheck // as above
	return err
}

func (p *jsonTimeline) end() error {
	if p.whole {
		p.w.WriteString(`],"next":`) //nolint:errcheck // Flush returns it
		if err := format.Write(p.w, append([]string{}, p.next...)); err != nil {
			return err
		}
		p.w.WriteString("}\n") //nolint:errcheck // as above
	}
	return p.w.Flush()
}

func (p *jsonTimeline) entry(e *timeline.Entry) error {
	j := jsonEntry{
		Kind: e.Kind.String(), Line: e.Pos.Line, Offset: e.Offset, Turn: e.Turn, Unsent: e.Unsent, Chars: e.Chars, Images: e.Images, Tool: e.Tool, CallID: e.CallID, Within: e.Within,
		Detail: e.Detail, Count: e.Calls, Seconds: e.Took.Seconds(), CWD: e.CWD, Model: e.Model, Text: e.Text, Asked: e.Asked, Got: e.Got,
	}
	if !e.Time.IsZero() {
		j.Time = e.Time.Format(time.RFC3339Nano)
	}
	switch e.Kind {
	case timeline.Call:
		j.Outcome, j.Exit, j.Seconds = e.Outcome.State.String(), e.Outcome.Exit, e.Outcome.Took.Seconds()
		if !e.Answered && e.Outcome.State != session.Running {
			j.Outcome = "no output"
		}
	case timeline.TurnEnd:
		j.State = string(e.State)
	case timeline.Finding:
		j.Rule, j.Impact, j.Message = e.Finding.Rule.Name, e.Finding.Impact.String(), e.Finding.Message
	}
	if p.entries++; p.whole && p.entries > 1 {
		p.w.WriteByte(',') //nolint:errcheck // Flush returns it
	}
	return format.Write(p.w, j)
}
