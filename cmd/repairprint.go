package cmd

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/preresume"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

// reportPrinter shows what repairs did.
type reportPrinter struct {
	w       *bufio.Writer
	st      *styles
	json    bool
	diff    bool
	content bool
	verbose bool
	dry     bool       // nothing is written of the session in hand
	width   int        // of the terminal, in columns; 0 if it is not one
	whole   bool       // all sessions were asked for, so those with nothing to repair are only counted
	batch   bool       // a line a session
	sizes   *sizeTable // of an operation on several sessions that is told in one; nil: none
	anew    bool       // the copies are threads of their own
	mended  int64      // of a batch: sessions that were repaired, or would be
	healthy int64      // how many these are
	nothing string     // what is said of these
	page    string     // file for the HTML report, "" for none
	// timelines says that the directory beside the page was made
	timelines bool
	reports   []*repair.Report // for the page
	env       *env
	c         *cli.Context
}

func (e *env) reportPrinter(c *cli.Context, toErr bool) (*reportPrinter, error) {
	var to io.Writer = e.out
	if toErr {
		to = e.err // the session itself goes to standard output
	}
	st, err := styled(c, to)
	if err != nil {
		return nil, err
	}
	p := &reportPrinter{env: e, c: c, w: bufio.NewWriter(to), st: st, diff: c.Bool("diff"), content: c.Bool("show-content"), verbose: c.Bool("verbose"), width: widthOf(to), nothing: "nothing to repair", page: c.String("html")}
	switch f := c.String("format"); f {
	case "text":
	case "json":
		p.json = true
		switch {
		case p.diff:
			return nil, usage("--diff is for text; the JSON report has every edit")
		case p.content && p.page == "":
			return nil, usage("--show-content is for text and --html; the JSON report never has words of the conversation")
		}
	default:
		return nil, usage("--format is %q; it takes text or json", f)
	}
	return p, nil
}

func (p *reportPrinter) report(rep *repair.Report) error {
	p.dry = rep.Mode == repair.DryRun.String()
	if op := rep.Operation; p.dry && (len(rep.Edits) > 0 || op != nil && op.Sent != nil) {
		rep.Next = p.next(rep)
	}
	if p.page != "" {
		p.reports = append(p.reports, rep)
	}
	switch {
	case p.json:
		if err := format.Write(p.w, rep); err != nil {
			return err
		}
	case rep.Operation != nil:
		p.operated(rep)
	case len(rep.Edits) == 0 && (rep.Mode == runs.NewThread || p.dry) && rep.Run != "":
		was := "was"
		if p.dry {
			was = "would be"
		}
		if p.whole && len(rep.Resume) > 0 {
			fmt.Fprintln(p.w, folded(fmt.Sprintf("%s  repaired before: nothing %s written, for the copy is still there", shortOf(lint.NameOf(rep.Source, true).ThreadID, rep.Source), was), p.width, 4))
			fmt.Fprintf(p.w, "    %s\n", p.st.bold.Sprint(resumeOf(p.c.Context, rep.Target, rep.Resume)))
			break
		}
		fmt.Fprintf(p.w, "%s: repaired before, and the copy is still there: nothing %s written\n  copy: %s\n", oneLine(rep.Source), was, oneLine(rep.Target))
		p.resume(rep)
	case len(rep.Edits) == 0 && !rep.Unrepaired() && rep.Target == "" && p.whole:
		p.healthy++
	case len(rep.Edits) == 0 && !rep.Unrepaired():
		fmt.Fprintf(p.w, "%s: nothing to repair\n", oneLine(rep.Source))
		if rep.Target != "" {
			fmt.Fprintf(p.w, "  copied to: %s\n", oneLine(rep.Target))
		}
	case p.batch:
		p.row(rep)
	default:
		p.text(rep)
	}
	return p.w.Flush()
}

// row is one session of a batch in a line: what became of it, then, where there is a copy, the command that goes on with that.
func (p *reportPrinter) row(rep *repair.Report) {
	line := shortOf(cmp.Or(lint.NameOf(rep.Source, true).ThreadID, rep.Thread), rep.Source) + "  "
	switch {
	case len(rep.Edits) == 0 || rep.Target == "" && !p.dry && rep.Mode != repair.ToStream.String():
		line += "left as it is: nothing of it can be repaired this way"
	default:
		p.mended++
		line += count(len(rep.Edits), "change", "changes") + ": " + rep.History.Words()
	}
	fmt.Fprintln(p.w, folded(line, p.width, 4))
	switch {
	case len(rep.Edits) == 0 || rep.Target == "" || p.dry:
	case rep.Refused(), len(rep.Resume) == 0, rep.Mode != runs.NewThread:
		fmt.Fprintf(p.w, "    written: %s\n", oneLine(rep.Target))
	default:
		fmt.Fprintf(p.w, "    %s\n", p.st.bold.Sprint(resumeOf(p.c.Context, rep.Target, rep.Resume)))
	}
}

// summary is the last line of a batch.
func (p *reportPrinter) summary() {
	switch {
	case p.mended == 0:
	case p.c.Bool("dry-run"):
		fmt.Fprintf(p.w, "%s would be repaired; nothing was written (dry run); -v shows each change\n", count(p.mended, "session", "sessions"))
	default:
		fmt.Fprintf(p.w, "%s repaired\n", count(p.mended, "session was", "sessions were"))
	}
}

func (p *reportPrinter) end(ctx context.Context, run *runs.Run) error {
	if p.page != "" {
		if err := p.pages(ctx); err != nil {
			return err
		}
	}
	p.summary()
	if p.sizes != nil {
		p.sizes.end(p.w, p.width, p.c.Bool("dry-run"))
	}
	if p.healthy > 0 {
		fmt.Fprintf(p.w, "%s: %s\n", count(p.healthy, "session", "sessions"), p.nothing)
	}
	if run != nil && !p.json && len(run.Manifest.Files) > 0 && disk.IsDir(run.Path()) {
		fmt.Fprintf(p.w, "undo:   hist undo %s\n", run.Manifest.Run)
		if len(run.Manifest.Files) > 1 {
			fmt.Fprintf(p.w, "        hist undo %s SESSION undoes one of them\n", run.Manifest.Run)
		}
	}
	return p.w.Flush()
}

// renumbered is how many records only got another ordinal; they count neither as untouched nor as edited.
func renumbered(rep *repair.Report) string {
	for i := range rep.Edits {
		if e := &rep.Edits[i]; e.Rule == repair.Renumber {
			return fmt.Sprintf("%d renumbered, ", e.Lines)
		}
	}
	return ""
}

// edited says of which record that was edited no change is listed: a copy's header has another id.
func (p *reportPrinter) edited(rep *repair.Report) string {
	named := func(a *agent.Agent) bool { return a.Reidentify != nil && a.HomeAbove(rep.Source) != "" }
	if of := all.ByName(filepath.Base(rep.Source)); rep.Totals.Edited == 0 || !p.anew || of == nil && !slices.ContainsFunc(all.Homed(), named) {
		return ""
	}
	return " (with its header, for a copy has an id of its own)"
}

func (p *reportPrinter) text(rep *repair.Report) {
	fmt.Fprintln(p.w, p.st.path.Sprint(oneLine(rep.Source)))
	if p.diff {
		p.unified(rep)
	} else {
		p.edits(rep)
	}
	for _, l := range rep.Left {
		if l.Impact != lint.Notes.String() {
			fmt.Fprintln(p.w, folded(fmt.Sprintf("  %sleft as it is: %s [%s]", atLine(l.Line), oneLine(l.Reason), l.Rule), p.width, 4))
		}
	}
	t := rep.Totals
	aside := ""
	if t.SetAside > 0 || p.verbose {
		aside = fmt.Sprintf(", %d taken out", t.SetAside)
	}
	fmt.Fprintln(p.w, folded(fmt.Sprintf("  records: %d read, %d untouched, %s%d edited%s, %d added%s", t.Read, t.Untouched, renumbered(rep), t.Edited, p.edited(rep), t.Added, aside), p.width, 4))
	fmt.Fprintln(p.w, folded("  "+rep.History.Words(), p.width, 4))
	if rep.Proof != "" {
		fmt.Fprintf(p.w, "  untouched lines: SHA-256 %s, the same before and after\n", rep.Proof[:16]+"…")
	}
	if rep.Aside != "" {
		fmt.Fprintf(p.w, "  taken out, and kept: %s\n", oneLine(rep.Aside))
	}
	for _, n := range rep.Notes {
		fmt.Fprintln(p.w, folded("  "+oneLine(n), p.width, 4))
	}
	switch {
	case p.dry:
		p.unwritten(rep)
	case rep.Mode == repair.ToStream.String():
	case rep.Target == "":
		fmt.Fprintln(p.w, "  nothing was written: none of it can be repaired this way")
		p.goOn(rep)
	default:
		if rep.Proof != "" { // else the file was healthy, and something beside it was repaired
			p.written(rep)
		}
		p.resume(rep)
	}
}

// written says where the copy of a session is.
func (p *reportPrinter) written(rep *repair.Report) {
	word := "written"
	if rep.Mode == runs.NewThread {
		word = "copy"
	}
	fmt.Fprintf(p.w, "  %s: %s\n", word, oneLine(rep.Target))
}

// unwritten ends what is told of a dry run, with the command that does what it shows.
func (p *reportPrinter) unwritten(rep *repair.Report) {
	fmt.Fprintln(p.w, "  nothing was written (dry run)")
	if rep.Source != "-" {
		p.goOn(rep)
	}
}

// goOn prints the command that makes what a dry run shows, or a copy that mends what was left, if there is one.
func (p *reportPrinter) goOn(rep *repair.Report) {
	if len(rep.Next) > 0 {
		fmt.Fprintf(p.w, "next:   %s\n", p.st.bold.Sprint(format.Command(rep.Next...)))
	}
}

// resume prints the command that resumes the repaired session.
func (p *reportPrinter) resume(rep *repair.Report) {
	switch {
	case rep.Refused():
		fmt.Fprintln(p.w, "resume: its client refuses it, because of what was left as it is")
		p.goOn(rep)
	case all.Part(rep.Source):
		fmt.Fprintln(p.w, "resume: the session that it is a part of")
	case len(rep.Resume) == 0:
		fmt.Fprintln(p.w, "resume: no command of its client resumes it")
	case !found(rep.Target):
		fmt.Fprintf(p.w, "resume: %s\n%s", p.st.bold.Sprint(format.Command(rep.Resume...)), where(rep.Resume))
	default:
		p.gone(rep.Target)
		fmt.Fprintf(p.w, "resume: %s\n", p.st.bold.Sprint(resumeOf(p.c.Context, rep.Target, rep.Resume)))
	}
}

// gone says that the directory of a session that can be resumed is not there any more.
func (p *reportPrinter) gone(path string) {
	s, err := timeline.Look(p.c.Context, path, timeline.LookOptions{})
	if err != nil || !preresume.Gone(s.CWD) {
		return
	}
	fmt.Fprintln(p.w, folded(fmt.Sprintf("  its directory %s is gone; if it was moved:", oneLine(s.CWD)), p.width, 4))
	fmt.Fprintf(p.w, "    %s\n", format.Command("hist", "move", "--to", "DIRECTORY", nameOf(s.Thread, s.Path)))
}

// found says whether the agent finds a session where it is: inside its home, but not in its archive.
func found(path string) bool {
	for _, a := range all.Homed() {
		home := a.HomeAbove(path)
		if home == "" {
			continue
		}
		folder := a.Folder[strings.LastIndexByte(a.Folder, ' ')+1:]
		if rest, err := filepath.Rel(home, path); err == nil && strings.HasPrefix(filepath.ToSlash(rest), folder) {
			return true
		}
	}
	return false
}

// fixWords say, in a user's words, what each kind of fix promises.
var fixWords = map[string]string{
	lint.Exact.String(): "nothing that can be read is lost", lint.Recovered.String(): "recovered", lint.StandIn.String(): "a placeholder stands for what can't be known or read; the rest is kept",
	lint.SetAside.String(): "taken out of the session, and kept in the run's record",
}

func (p *reportPrinter) edits(rep *repair.Report) {
	for i := range rep.Edits {
		if e := &rep.Edits[i]; e.Rule != repair.Renumber || p.verbose { // otherwise it follows from the other edits
			p.edit(e)
		}
	}
}

func (p *reportPrinter) edit(e *repair.Entry) {
	where := ""
	if e.Rule != repair.Renumber { // renumbering names its lines in words
		where = atLine(cmp.Or(e.FoundLine, e.Line))
	}
	reason := oneLine(e.Reason)
	if e.Findings > 1 {
		reason += fmt.Sprintf(" (and %d more like it)", e.Findings-1)
	}
	rules := strings.Join(append([]string{e.Rule}, e.Also...), ", ")
	fmt.Fprintln(p.w, folded(fmt.Sprintf("  %s%s [%s]", where, reason, rules), p.width, 4))
	fmt.Fprintln(p.w, "    "+p.st.dim.Sprint(folded(p.mend(e), p.width-4, 4)))
	if p.dry || p.verbose {
		for _, words := range e.Placeholders() {
			fmt.Fprintln(p.w, "    "+p.st.dim.Sprint(folded("the placeholder: "+oneLine(words), p.width-4, 4)))
		}
	}
	if len(e.Before) == 1 && len(e.After) == 1 {
		limit := p.room()
		if p.width > 0 {
			limit /= 2 // of what differs; as much again stands around it
		}
		before, after := repair.Mark(p.shown(e.Before[0]), p.shown(e.After[0]), limit)
		fmt.Fprintf(p.w, "    %s %s\n    %s %s\n", p.st.removed.Sprint("-"), p.paint(before), p.st.added.Sprint("+"), p.paint(after))
		return
	}
	p.side(p.st.removed.Sprint("-"), e.Before)
	p.side(p.st.added.Sprint("+"), e.After)
}

// shownLines is how many lines of each side of a change are printed; --diff and --verbose print more.
const shownLines = 8

// side prints the lines of one side of a change.
func (p *reportPrinter) side(sign string, lines []repair.Excerpt) {
	more := 0
	if len(lines) > shownLines+1 && !p.verbose {
		more, lines = len(lines)-shownLines, lines[:shownLines]
	}
	for _, x := range lines {
		fmt.Fprintf(p.w, "    %s %s\n", sign, repair.Clip(p.shown(x), p.room()))
	}
	if more > 0 {
		fmt.Fprintf(p.w, "    %s %d more lines (all with --diff)\n", sign, more)
	}
}

// mend says how an edit repairs the finding, and where, if not on the finding's own line.
func (p *reportPrinter) mend(e *repair.Entry) string {
	text := cmp.Or(fixWords[e.Fix], e.Fix)
	switch {
	case e.Moved != "":
		text = "moved to " + oneLine(cmp.Or(e.Kept, "the run's record"))
	case e.Lost > 0 && e.From != "":
		text = "a part of it comes from " + oneLine(e.From) + ", the rest is lost; a placeholder tells the model so"
	case e.Lost > 0:
		text = "its content is lost; a placeholder tells the model so"
	case e.From != "" && e.Fix == lint.SetAside.String():
		text = "recovered from " + oneLine(e.From) + "; the rest is " + text
	case e.From != "" && e.Fix == lint.StandIn.String():
		text = "recovered from " + oneLine(e.From) + "; a placeholder stands for what can't be known or read"
	case e.From != "":
		text += " from " + oneLine(e.From)
	case e.Fix == lint.Recovered.String():
		text = "what can be read of it is kept"
	}
	switch {
	case e.Line == 0:
	case p.verbose:
		text += fmt.Sprintf("; line %d, byte %d → line %d, byte %d", e.Line, e.Offset, e.LineAfter, e.OffsetAfter)
	case e.Line == e.FoundLine || e.FoundLine == 0:
	case len(e.Before) > 0 && len(e.After) == 0:
		text += fmt.Sprintf("; taken out of line %d", e.Line)
	case len(e.Before) > 0:
		text += fmt.Sprintf("; changed at line %d", e.Line)
	case e.Line == e.FoundLine+1: // the place where one would look anyway
	case e.Line > 1:
		text += fmt.Sprintf("; added after line %d", e.Line-1)
	default:
		text += "; added at the beginning"
	}
	if p.verbose {
		text = e.Impact + "; " + e.Fix + ": " + text
	}
	return text
}

// room is how much of a changed line is printed, in characters.
func (p *reportPrinter) room() int {
	if p.width > 0 {
		return max(20, p.width-8)
	}
	return shownBytes
}

// shown is a changed line as the user may see it.
func (p *reportPrinter) shown(x repair.Excerpt) string {
	if p.content {
		return oneLine(string(x.Text))
	}
	return oneLine(repair.Redact(x.Text))
}

// shownBytes is how much of a changed line is printed.
const shownBytes = 160

func (p *reportPrinter) paint(parts []repair.Part) (text string) {
	for _, part := range parts {
		if part.Changed {
			part.Text = p.st.marked.Sprint(part.Text)
		}
		text += part.Text
	}
	return text
}

// where says where a copy must be put to be resumed, for the program that resumes it.
func where(resume []string) string {
	for _, a := range all.Agents {
		if a.Home != nil && slices.Equal(a.Resume(resume[len(resume)-1]), resume) {
			return fmt.Sprintf("        once the file is in %s of %s's home\n", a.Folder, a.Title)
		}
	}
	return ""
}

// unified prints the changed lines as a unified diff without context.
func (p *reportPrinter) unified(rep *repair.Report) {
	target := cmp.Or(rep.Target, rep.Source)
	fmt.Fprintf(p.w, "--- %s\n+++ %s\n", oneLine(rep.Source), oneLine(target))
	for i := range rep.Edits {
		e := &rep.Edits[i]
		if len(e.Before)+len(e.After) == 0 {
			continue
		}
		fmt.Fprintf(p.w, "@@ -%s +%s @@ %s\n", hunkRange(e.Line, int64(len(e.Before))+e.MoreBefore), hunkRange(e.LineAfter, int64(len(e.After))+e.MoreAfter), e.Rule)
		p.hunk(e.Before, e.MoreBefore, "-", p.st.removed)
		p.hunk(e.After, e.MoreAfter, "+", p.st.added)
	}
}

// hunk prints one side of a hunk; lines beyond those that are kept are only counted.
func (p *reportPrinter) hunk(lines []repair.Excerpt, more int64, sign string, paint *color.Color) {
	for _, x := range lines {
		fmt.Fprintln(p.w, paint.Sprint(sign+p.shown(x)))
	}
	if more > 0 {
		fmt.Fprintf(p.w, "\\ %d more lines of %s are not shown\n", more, sign)
	}
}

// hunkRange is a range of lines as unified diffs write it; an empty range names the line before it.
func hunkRange(line, n int64) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", line-1)
	}
	return fmt.Sprintf("%d,%d", line, n)
}
