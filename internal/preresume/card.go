package preresume

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// Limits of a card, whatever the session holds.
const (
	MaxCardLines = 40
	MaxCardBytes = 4096
)

// Card is what to check before going on. Names in its lines are in backquotes.
type Card struct {
	Title    string
	Sections []Section
}

// Section is a heading and the lines below it.
type Section struct {
	Title string
	Lines []string
}

// CardOptions say what the card may use.
type CardOptions struct {
	Lint    lint.Options // with which the result was made
	CWD     string       // the current working directory; "" if it is not known
	Content bool         // show the beginning of prompts
	Live    bool         // the session is being written now, for instance by the agent that asks for the card
}

// MakeCard makes the card of a session and its lint result. The error is ctx's, or what kept the session from being read; a
// compressed stream that is truncated or damaged is read up to that point.
func MakeCard(ctx context.Context, src timeline.Source, result *lint.Result, opts CardOptions) (*Card, error) {
	sent, err := timeline.Sent(ctx, src, result, opts.Lint)
	if err != nil {
		return nil, err
	}
	in, err := src.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f := &facts{live: opts.Live, agent: result.Summary.Agent}
	read := timeline.Options{Agent: all.Named(result.Summary.Agent), Findings: result.Findings, Content: opts.Content, Live: opts.Live, Sent: sent}
	if err := timeline.Read(ctx, in, read, f.entry); err != nil && !errors.Is(err, source.ErrCorrupt) {
		return nil, err
	}
	f.finish()
	h := result.Summary.Header
	f.cwd = cmp.Or(f.cwd, h.CWD)
	c := &Card{Title: "Restart card: thread " + name(h.ID)}
	c.add("Where it stopped", f.stopLines(h)...)
	c.add("Prompts", f.promptLines(opts.Content)...)
	c.add("Working directory", directoryLines(ctx, f.cwd, opts.CWD, h)...)
	c.add("Sandbox", f.sandboxLines()...)
	if f.notSaved {
		c.add("Save", "the last turn did not save its work by the tool that the turns before it used: save it now")
	}
	if n := f.damaged(); n > 0 {
		c.add("Session file", fmt.Sprintf("findings that are more than notes: %d; `hist lint` names them, `hist repair` fixes them", n))
	}
	return c, nil
}

func (c *Card) add(title string, lines ...string) {
	if len(lines) > 0 {
		c.Sections = append(c.Sections, Section{title, lines})
	}
}

// stopLines say where the session stopped, and what was running then.
func (f *facts) stopLines(h session.Info) []string {
	var lines []string
	switch {
	case f.stopped != nil:
		how := "never ended"
		if f.stopped.over {
			how = "was cut off, and has been repaired"
		}
		s := fmt.Sprintf("turn %d, which began on line %d, %s; its last record is of %s", f.stopped.number, f.stopped.line, how, stamped(f.stopped))
		if f.stopped.resumed > 0 {
			s += fmt.Sprintf("; the session went on at line %d", f.stopped.resumed)
		}
		lines = append(lines, s)
		if n := f.stopped.unknown; len(n) > 0 {
			lines = append(lines, "side effects unknown, no output of: "+names(n, f.stopped.more), "check what they did before running them again")
		} else {
			lines = append(lines, "no call was left without an output then")
		}
	case f.turn.number == 0:
		lines = append(lines, "the session has no turn")
	case f.live && !f.turn.over:
		lines = append(lines, fmt.Sprintf("nowhere: turn %d runs now, and no turn before it was cut off", f.turn.number))
	default:
		lines = append(lines, fmt.Sprintf("nowhere: its last turn, %d, is %s%s", f.turn.number, f.turn.state, shownDetail(f.turn.detail)))
	}
	if f.lost > 0 {
		lines = append(lines, fmt.Sprintf("calls of other turns that have no output: %d, the newest %s", f.lost, names(f.older[max(0, len(f.older)-3):], 0)))
	}
	if h.Version != "" {
		lines = append(lines, "written by "+all.Named(f.agent).Title+" "+name(h.Version))
	}
	return lines
}

func shownDetail(s string) string {
	if s == "" {
		return ""
	}
	return " (" + name(s) + ")"
}

func stamped(t *turnFacts) string {
	if t.last.IsZero() {
		return "an unknown time"
	}
	return t.last.Format("2006-01-02 15:04:05 UTC")
}

// promptLines describe the last prompt, and which of those since the restart repeat an earlier one.
func (f *facts) promptLines(content bool) []string {
	switch {
	case f.prompt.line > 0:
	case f.unsent.line > 0:
		return []string{fmt.Sprintf("the last one, line %d%s, is no longer sent: it was taken back, left or replaced by a summary", f.unsent.line, f.unsent.at)}
	default:
		return nil
	}
	how := "got no answer"
	switch {
	case f.live && !f.turn.over:
		how = "is being worked on now"
	case f.prompt.answered:
		how = "was answered"
	case f.prompt.worked:
		how = "was worked on, and has no answer in words"
	}
	lines := []string{fmt.Sprintf("the last one, line %d%s, %d characters, %s", f.prompt.line, f.prompt.at, f.prompt.chars, how)}
	if f.unsent.line > f.prompt.line {
		lines = append(lines, fmt.Sprintf("line %d%s: a later one is no longer sent: it was taken back or left", f.unsent.line, f.unsent.at))
	}
	if content {
		lines = append(lines, "it begins: "+quoted(f.prompt.text))
	}
	if f.restart == 0 {
		return lines
	}
	var stale, fresh []prompt
	for _, p := range f.prompts {
		if f.stale[p.line] {
			stale = append(stale, p)
		} else {
			fresh = append(fresh, p)
		}
	}
	if len(stale) > 0 {
		lines = append(lines, fmt.Sprintf("since the restart, word for word as before it: %s; they bring nothing new", numbers(stale)))
	}
	if len(fresh) > 0 {
		lines = append(lines, fmt.Sprintf("since the restart, new: %s; the newest counts", numbers(fresh)))
	}
	return lines
}

// numbers lists the line numbers of prompts; if there are many, of the newest.
func numbers(list []prompt) string {
	const most = 6
	word, others := "line ", ""
	if len(list) > 1 {
		word = "lines "
	}
	if n := len(list); n > most {
		list, others = list[n-most:], fmt.Sprintf("%d others and ", n-most)
	}
	var out []string
	for _, p := range list {
		out = append(out, fmt.Sprintf("%d%s", p.line, p.at))
	}
	return others + word + strings.Join(out, ", ")
}

// directoryLines compare the working directory with what the session recorded of it.
func directoryLines(ctx context.Context, recorded, now string, h session.Info) []string {
	var lines []string
	if recorded == "" && now == "" {
		return []string{"the session records none"}
	}
	dir := cmp.Or(recorded, now)
	lines = append(lines, "recorded: "+name(dir))
	if now != "" && now != dir {
		lines = append(lines, "you are in another one: "+name(now))
	}
	state := checkoutOf(ctx, dir)
	if state.problem != "" {
		return append(lines, state.problem)
	}
	lines = append(lines, compare("commit", h.Commit, state.commit), compare("branch", h.Branch, state.branch))
	switch state.changed {
	case -1:
		lines = append(lines, "git status did not answer: look for changes yourself")
	case 0:
		lines = append(lines, "no file is changed against that commit")
	default:
		lines = append(lines, fmt.Sprintf("files changed against that commit, new ones too: %d; read `git status` before writing", state.changed))
	}
	return lines
}

// compare says whether the commit or branch is what it was when the session began.
func compare(what, then, now string) string {
	now = cmp.Or(now, "none")
	switch {
	case then == "":
		return fmt.Sprintf("%s: now %s; the session records none", what, name(now))
	case then == now:
		return fmt.Sprintf("%s: %s, as when the session began", what, name(now))
	}
	return fmt.Sprintf("%s: moved from %s, when the session began, to %s", what, name(then), name(now))
}

func (f *facts) sandboxLines() []string {
	lines := slices.Clone(f.sandbox)
	for i := range lines {
		lines[i] = plain(lines[i])
	}
	return lines
}

// names lists calls by tool and id.
func names(calls []call, more int) string {
	const most = 6
	if n := len(calls); n > most {
		calls, more = calls[:most], more+n-most
	}
	var out []string
	for _, c := range calls {
		s := fmt.Sprintf("%s (%s)", name(c.tool), name(c.id))
		if len(c.ran) > 0 {
			s += ", which had run " + strings.Join(c.ran, ", ")
		}
		out = append(out, s)
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

// name quotes a name from the session with backquotes, shortened.
func name(s string) string {
	const most = 80
	return "`" + clip(plain(s), most) + "`"
}

// quoted returns the beginning of a prompt, on one line and in quotation marks.
func quoted(s string) string {
	const most = 300
	return "“" + clip(plain(s), most) + "”"
}

// plain puts a text on one line and escapes what a terminal or Markdown would interpret, such as control characters.
func plain(s string) string {
	s = strconv.Quote(strings.ReplaceAll(s, "`", "'"))
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(s[1 : len(s)-1])
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// cutShort is the last line of a card that would be too long.
const cutShort = "(cut here; hist show has all)"

// Text returns the card for a terminal or a prompt, at most MaxCardLines lines and MaxCardBytes bytes.
func (c *Card) Text() string {
	return c.render("", "", "  ", func(s string) string { return strings.ReplaceAll(s, "`", "") })
}

// Markdown returns the card as Markdown, within the same limits.
func (c *Card) Markdown() string {
	return c.render("# ", "## ", "- ", func(s string) string { return s })
}

func (c *Card) render(title, section, item string, form func(string) string) string {
	lines := []string{title + form(c.Title)}
	for _, s := range c.Sections {
		lines = append(lines, section+s.Title)
		for _, l := range s.Lines {
			lines = append(lines, item+form(l))
		}
	}
	var b strings.Builder
	for i, l := range lines {
		if i+1 < len(lines) && i+1 == MaxCardLines || b.Len()+len(l)+len(cutShort)+2 > MaxCardBytes {
			b.WriteString(cutShort + "\n")
			break
		}
		b.WriteString(l + "\n")
	}
	return b.String()
}
