package repair

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/hist-cli/hist/internal/escape"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/surgery"
	"github.com/hist-cli/hist/lint"
)

//go:embed report.html
var pageText string

// htmlBytes is how much of a changed line the HTML report shows.
const htmlBytes = 2 << 10

// maxChanges is how many changes of an operation a page shows: unlike what a repair mends, they are many and alike.
const maxChanges = 100

// PageOptions say what a page shows beside the reports.
type PageOptions struct {
	Content bool                // show changed lines as they are; without it, each text in them is replaced by its length
	Next    []string            // the command that makes what a dry run shows, nil if there is none
	About   func(i int) Session // describes the session of the i-th report; nil: only its file is known
}

// Session says which session a part of a page is about. Empty fields are not shown.
type Session struct {
	Title    string // the file otherwise
	Where    string // its working directory, and when it was last changed
	Timeline string // a link to the page of its timeline
}

// part is what a page shows of one report.
type part struct {
	*Report
	Session
	Index int    // index among all reports; the part's anchor is #session-INDEX
	Worst string // the worst impact of what was found, "" if nothing was
}

// parsed is parsed once, because a report is written for each session of a home.
var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("report").Funcs(template.FuncMap{
		"title":   ruleTitle,
		"visible": visible,
		"command": func(words []string) string { return format.Command(words...) },
		"lines":   Entry.lines,
		"bytes":   surgery.Bytes,
		"first":   func(n int, list []Entry) []Entry { return list[:min(n, len(list))] },
		"shown": func(o *Operated) int {
			if o != nil {
				return maxChanges
			}
			return math.MaxInt
		},
	}).Parse(pageText))
})

// HTML writes reports as one page that needs no other file. Its script only adds buttons that copy a command.
func HTML(w io.Writer, reports []*Report, opts PageOptions) error {
	var told, healthy []part
	for i, r := range reports {
		one := part{Report: r, Index: i, Worst: r.worst()}
		if opts.About != nil {
			one.Session = opts.About(i)
		}
		if len(r.Edits) == 0 && len(r.Left) == 0 && len(reports) > 1 {
			healthy = append(healthy, one)
		} else {
			told = append(told, one)
		}
	}
	slices.SortStableFunc(told, func(a, b part) int {
		return cmp.Or(cmp.Compare(weight(b.Worst), weight(a.Worst)), cmp.Compare(b.saved(), a.saved()))
	})
	name := "repair"
	if len(reports) > 0 && reports[0].Operation != nil {
		name = reports[0].Operation.Name
	}
	return parsed().Execute(escape.HTML(w), struct {
		Name          string // of the command
		Run, Summary  string
		Content       bool
		Next          []string
		Told, Healthy []part
		Style         template.CSS
		Copy          template.JS
	}{name, runOf(reports), summary(reports), opts.Content, opts.Next, told, healthy, format.Style, format.Copy})
}

// weight orders names of impacts; "" is below all.
func weight(impact string) int {
	i, err := lint.ParseImpact(impact)
	if err != nil {
		return -1
	}
	return int(i)
}

// worst is the worst impact of what was repaired and what was left, "" if there is neither.
func (r *Report) worst() (name string) {
	for impact := range r.found {
		if weight(impact) > weight(name) {
			name = impact
		}
	}
	return name
}

// found yields the impact and the rule of what was repaired, and then of what was left.
func (r *Report) found(yield func(impact, rule string) bool) {
	for i := range r.Edits {
		if !yield(r.Edits[i].Impact, r.Edits[i].Rule) {
			return
		}
	}
	for _, l := range r.Left {
		if !yield(l.Impact, l.Rule) {
			return
		}
	}
}

// Main is the rule of the worst of what was repaired and left, "" if it is no repair.
func (r part) Main() string {
	if r.Operation != nil {
		return ""
	}
	for impact, rule := range r.found {
		if impact == r.Worst {
			return rule
		}
	}
	return ""
}

// Segment is a part of the bar that shows what becomes of a session's history.
type Segment struct {
	Class, Name string
	Items       int64
}

// Bar divides the items of the history by what becomes of them; none if there are none.
func (h History) Bar() []Segment {
	sent := min(h.Before, h.After)
	told, dropped, lost := h.gone()
	all := []Segment{
		{"sent", "sent with and without the repair", sent},
		{"gained", "only because of the repair", h.After - sent},
		{"told", "lost, and the model is told so", told},
		{"lost", "lost", lost - told},
		{"dropped", "no longer sent", dropped},
	}
	return slices.DeleteFunc(all, func(s Segment) bool { return s.Items <= 0 })
}

// gone counts the items that the model will not have: those that are lost, those of them that it is told of, and those that need
// no longer be sent.
func (h History) gone() (told, dropped, lost int64) {
	lost = h.Items - h.After
	told = max(0, min(h.Told, lost))
	// Items that the client sent before and no longer sends need not be lost: they may be copies.
	dropped = max(0, min(lost-told, h.Before-h.After-told))
	return told, dropped, lost - dropped
}

// Open says whether something in the session is not repaired, or not yet.
func (r part) Open() bool { return r.Unrepaired() || len(r.Edits) > 0 && r.Mode == DryRun.String() }

// saved is how many bytes shorter an operation makes the session.
func (r part) saved() int64 {
	if r.Operation == nil {
		return 0
	}
	return r.Operation.Before - r.Operation.After
}

// Class is what the bytes of a class are in the session and in the result.
type Class struct {
	surgery.Size
	After int64
}

// Classes are those that the session or the result has bytes of.
func (s Sizes) Classes() (list []Class) {
	for i, z := range s.Before {
		c := Class{Size: z}
		if i < len(s.After) {
			c.After = s.After[i].Bytes
		}
		if c.Bytes > 0 || c.After > 0 {
			list = append(list, c)
		}
	}
	return list
}

// Sum is all bytes of the session, or of the result.
func (s Sizes) Sum(after bool) (n int64) {
	list := s.Before
	if after {
		list = s.After
	}
	for _, z := range list {
		n += z.Bytes
	}
	return n
}

// Rest is what the result's bar leaves free, so that it is as long as its share of the longer one; before is the same for the session's.
func (s Sizes) Rest(after bool) int64 { return max(0, s.Sum(!after)-s.Sum(after)) }

// Badge is the state of a session in a few words.
func (r part) Badge() string {
	if o := r.Operation; o != nil {
		return o.badge(r.Mode == DryRun.String())
	}
	text := "nothing to repair"
	if len(r.Edits) > 0 {
		text = "repaired"
		if r.Mode == DryRun.String() {
			text = "can be repaired"
		}
	}
	if left := len(r.Report.Left); r.Unrepaired() {
		text = fmt.Sprintf("%s, %d left unrepaired", text, left)
	}
	return strings.TrimPrefix(text, "nothing to repair, ")
}

// badge is what becomes of a session in a few words.
func (o *Operated) badge(dry bool) string {
	text := "done"
	if dry {
		text = "can be done"
	}
	if o.After != o.Before {
		text += fmt.Sprintf(": %s → %s", surgery.Bytes(o.Before), surgery.Bytes(o.After))
	}
	return text
}

// Words say in a sentence how much of a session's history the model will have.
func (h History) Words() string {
	var text string
	switch {
	case h.Items == 0:
		return "the session holds no history for the model"
	case h.Refused:
		return fmt.Sprintf("the model will have nothing of the history (%s), because the client refuses the session as it is", inWords(int(h.Items)))
	case h.Items > h.After:
		text = fmt.Sprintf("the model will have %d of %d known items of the history", h.After, h.Items)
	case h.Partly:
		text = fmt.Sprintf("the model will have %s of the history; some of it is lost, and nobody can tell how much", inWords(int(h.After)))
	case h.Gap:
		text = fmt.Sprintf("the model will have %s of the history", inWords(int(h.After)))
	case h.Items == 1:
		text = "the model will have the only known item of the history"
	default:
		text = fmt.Sprintf("the model will have all %d known items of the history", h.Items)
	}
	if h.Before < h.After {
		text += fmt.Sprintf("; without the repair it has %d", h.Before)
	}
	told, dropped, lost := h.gone()
	switch {
	case lost <= 0:
	case told == lost:
		text += fmt.Sprintf("; %s lost, and the model is told so", are(lost))
	case told > 0:
		text += fmt.Sprintf("; %s lost, and the model is told so of %d", are(lost), told)
	default:
		text += fmt.Sprintf("; %s lost", are(lost))
	}
	if h.Partly && h.Items > h.After {
		text += "; some more of it is lost, and nobody can tell how much"
	}
	if h.Gap {
		text += "; records of it are missing, and nobody can tell how much they held"
	}
	if dropped > 0 {
		text += fmt.Sprintf("; %s no longer sent", are(dropped))
	}
	return text
}

// are is a number with its verb: "1 is", "2 are".
func are(n int64) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

// summary says in one sentence what became of all sessions.
func summary(reports []*Report) string {
	if len(reports) > 0 && reports[0].Operation != nil {
		return operatedOn(reports)
	}
	mended, left := 0, 0
	for _, r := range reports {
		if len(r.Edits) > 0 {
			mended++
		}
		if r.Unrepaired() {
			left++
		}
	}
	had, have := "had", "had"
	if len(reports) > 0 && reports[0].Mode == DryRun.String() {
		had, have = "has", "have"
	}
	text := fmt.Sprintf("%d of %d sessions %s something to repair", mended, len(reports), have)
	if len(reports) == 1 {
		text = "Nothing in the session was repaired"
		if mended == 1 {
			text = "The session " + had + " something to repair"
		}
	}
	if left > 0 {
		text += fmt.Sprintf("; in %d something is left unrepaired", left)
	}
	return text + "."
}

// operatedOn says in one sentence what an operation came to.
func operatedOn(reports []*Report) string {
	changed, before, after := 0, int64(0), int64(0)
	for _, r := range reports {
		if len(r.Edits) > 0 {
			changed++
		}
		before, after = before+r.Operation.Before, after+r.Operation.After
	}
	sizes := "the size stays"
	if before != after {
		sizes = fmt.Sprintf("%s become %s", surgery.Bytes(before), surgery.Bytes(after))
	}
	switch {
	case changed == 0:
		return "There is nothing to gain."
	case len(reports) == 1:
		return strings.ToUpper(sizes[:1]) + sizes[1:] + "."
	}
	return fmt.Sprintf("In %d of %d sessions, something changes: %s.", changed, len(reports), sizes)
}

// runOf is the run that all reports belong to, "" if nothing was recorded.
func runOf(reports []*Report) string {
	for _, r := range reports {
		if r.Run != "" {
			return r.Run
		}
	}
	return ""
}

func ruleTitle(name string) string {
	if r := lint.FindRule(name); r != nil {
		return r.Title
	}
	return ""
}

// changedLines are the lines of an edit, each in parts.
type changedLines struct{ Before, After [][]Part }

func (e Entry) lines(content bool) changedLines {
	shown := func(x Excerpt) string {
		if !content {
			return visible(Redact(x.Text))
		}
		return visible(string(x.Text))
	}
	var l changedLines
	if len(e.Before) == 1 && len(e.After) == 1 {
		before, after := Mark(shown(e.Before[0]), shown(e.After[0]), htmlBytes)
		return changedLines{[][]Part{before}, [][]Part{after}}
	}
	for _, x := range e.Before {
		l.Before = append(l.Before, []Part{{Text: Clip(shown(x), htmlBytes)}})
	}
	for _, x := range e.After {
		l.After = append(l.After, []Part{{Text: Clip(shown(x), htmlBytes)}})
	}
	return l
}

// visible replaces characters that a browser would not show, or that would change the direction of text, by a dot.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return '·'
		}
		return r
	}, strings.ToValidUTF8(s, "·"))
}
