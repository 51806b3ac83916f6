package repair

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode"

	"github.com/hist-cli/hist/internal/escape"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/lint"
)

//go:embed report.html
var pageText string

// HTMLBytes is how much of a changed line the HTML report shows.
const HTMLBytes = 2 << 10

// HTML writes reports as one page that needs nothing beside it. content shows changed lines as they are; without it
// every text in them is shown by its length.
func HTML(w io.Writer, reports []*Report, content bool) error {
	page, err := template.New("report").Funcs(template.FuncMap{
		"title":   ruleTitle,
		"visible": visible,
		"command": func(words []string) string { return format.Command(words...) },
		"lines":   func(e Entry) changedLines { return e.lines(content) },
		"percent": func(part, whole int64) int64 { return part * 100 / max(whole, 1) },
	}).Parse(pageText)
	if err != nil {
		return err
	}
	var told, healthy []*Report
	for _, r := range reports {
		if len(r.Edits) == 0 && len(r.Left) == 0 {
			healthy = append(healthy, r)
		} else {
			told = append(told, r)
		}
	}
	if len(reports) == 1 {
		told, healthy = reports, nil
	}
	return page.Execute(escape.HTML(w), struct {
		Run, Summary  string
		Content       bool
		Told, Healthy []*Report
	}{runOf(reports), summary(reports), content, told, healthy})
}

// summary is what became of all sessions, in one sentence.
func summary(reports []*Report) string {
	mended, left := 0, 0
	for _, r := range reports {
		if len(r.Edits) > 0 {
			mended++
		}
		if r.Unrepaired() {
			left++
		}
	}
	text := fmt.Sprintf("%d of %d sessions had something to mend", mended, len(reports))
	if len(reports) == 1 {
		text = map[bool]string{true: "The session had something to mend", false: "Nothing of the session was mended"}[mended == 1]
	}
	if left > 0 {
		text += fmt.Sprintf("; in %d something is left as it is", left)
	}
	return text + "."
}

// runOf is the run that all of the reports are of, "" if nothing was recorded.
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
		before, after := Mark(shown(e.Before[0]), shown(e.After[0]), HTMLBytes)
		return changedLines{[][]Part{before}, [][]Part{after}}
	}
	for _, x := range e.Before {
		l.Before = append(l.Before, []Part{{Text: Clip(shown(x), HTMLBytes)}})
	}
	for _, x := range e.After {
		l.After = append(l.After, []Part{{Text: Clip(shown(x), HTMLBytes)}})
	}
	return l
}

// visible puts a dot where a browser would show nothing or turn the text around, so that what is seen is what stands there.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return '·'
		}
		return r
	}, strings.ToValidUTF8(s, "·"))
}
