package cmd

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/preresume"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// show prints an answer, as one JSON object or in words.
func (p *preRun) show(a *preresume.Answer) error {
	if p.c.Bool("quiet") {
		p.env.brief(a)
		return nil
	}
	w := bufio.NewWriter(p.out())
	a.Command = nextOf(a)
	var err error
	if p.c.Bool("json") {
		err = format.Write(w, a)
	} else {
		words(w, a, widthOf(p.out()))
	}
	return writing("the answer", err, w.Flush())
}

// brief prints one line if there is something worth an interruption: the session was repaired, can't be resumed, or there is a
// warning.
func (e *env) brief(a *preresume.Answer) {
	text := ""
	switch {
	case a.Repaired && a.OK():
		text = fmt.Sprintf("repaired thread %s before its resume; undo with: hist undo %s", a.Thread, a.Run)
	case a.RepairError != "":
		text = fmt.Sprintf("%s: %s; not repaired: %s", a.Verdict, a.Reason, a.RepairError)
	case !a.OK():
		text = fmt.Sprintf("%s: %s", a.Verdict, a.Reason)
	case a.Warning != "":
		text = a.Warning
	default:
		return
	}
	fmt.Fprintln(e.err, "hist: "+oneLine(text))
}

// words prints the answer for people: per line, a name and a value.
func words(w *bufio.Writer, a *preresume.Answer, width int) {
	line := func(name, text string) { // nothing if there is no text
		if text != "" {
			fmt.Fprintln(w, folded(fmt.Sprintf("  %-15s %s", name, oneLine(text)), width, 18))
		}
	}
	command := func(name, text string) { fmt.Fprintf(w, "  %-15s %s\n", name, oneLine(text)) } // whole, to be pasted
	fmt.Fprintf(w, "%s: %s\n", a.Verdict, oneLine(a.Reason))
	sessionWords(a, line)
	troubleWords(a, line)
	next := nextOf(a)
	if len(next) == 0 && a.Verdict == preresume.InUse {
		next = waiting(a.Thread, a.Path)
	}
	if len(next) > 0 && !a.OK() {
		command("next", format.Command(next...))
	}
	resume := "resume"
	switch {
	case a.OK():
	case a.Verdict == preresume.InUse:
		resume = "later"
	case a.RepairError != "":
		return // the copy has an id of its own, which the repair tells
	case len(a.Before) > 0, a.Next == preresume.RepairThenResume:
		resume = "then"
	default:
		return // the client does not take it
	}
	if len(a.Resume) > 0 {
		command(resume, fromHere(a.CWD, a.Resume))
	}
}

// nextOf is the command to run after an answer, nil if there is only to wait, or a person has to act.
func nextOf(a *preresume.Answer) []string {
	switch {
	case len(a.Before) > 0:
		return a.Before
	case a.Next == preresume.RepairThenResume && a.RepairError != "": // in place it was refused
		return slices.Concat([]string{"hist", "repair"}, a.With(), []string{repairOperand(a)})
	case a.Next == preresume.RepairThenResume:
		return slices.Concat([]string{"hist", "repair", "--in-place"}, a.With(), []string{repairOperand(a)})
	case a.OK():
		return a.Resume
	case a.Next == preresume.Locate, a.Agent == "": // it is elsewhere, or is no session
		return []string{"hist", "list"}
	case a.Next == preresume.SeeFindings && a.Turn != nil: // of what can't be read, nothing can be shown
		return []string{"hist", "show", repairOperand(a)}
	}
	return nil
}

// fromHere is a session's command to paste: where the session's directory is another than this one, and is there, it goes to that
// directory first.
func fromHere(dir string, command []string) string {
	there, err := os.Stat(dir)
	if err == nil && there.IsDir() && filepath.IsAbs(dir) {
		if here, err := os.Stat("."); err == nil && !os.SameFile(here, there) {
			return format.Command("cd", dir) + " && " + format.Command(command...)
		}
	}
	return format.Command(command...)
}

func sessionWords(a *preresume.Answer, line func(name, text string)) {
	line("thread", a.Thread)
	line("file", a.Path)
	if a.Path != "" && a.Turn != nil { // otherwise nothing was read of it
		line("size", bytesOf(a.Size))
	}
	line("directory", a.CWD)
	line("client", clientWords(a))
	if a.Turn != nil {
		line("last turn", turnWords(a.Turn))
	}
	if q := a.Prompt; q != nil && q.Present {
		answered := "not answered"
		if q.Answered {
			answered = "answered"
		}
		line("last prompt", fmt.Sprintf("%d characters, %s", q.Chars, answered))
		line("", q.Text)
	}
}

// troubleWords say what prevents the resume, what was done about it, and which other threads are involved.
func troubleWords(a *preresume.Answer, line func(name, text string)) {
	line("warning", a.Warning)
	if h := a.Holder; h != nil && h.PID != 0 {
		line("open in", fmt.Sprintf("process %d %s since %s", h.PID, orUnknown(h.Command), orUnknown(localStamp(h.Started))))
	}
	damageWords(a, line)
	if c := a.Counts; c.Blocks+c.Loses+c.Rejects+c.Shows > len(a.Findings) {
		line("finding", fmt.Sprintf("only the first %d are shown: hist lint names all", len(a.Findings)))
	}
	line("effects unknown", strings.Join(mapped(a.Unknown, func(c preresume.Call) string { return c.Tool + " " + c.ID }), ", "))
	for _, r := range a.Related {
		line(strings.ReplaceAll(r.Relation, "_", " "), strings.TrimSpace(r.Thread+"  "+format.Command(r.Resume...)))
	}
	if l := a.Replaceable; l != nil && l.Thread != a.Thread {
		line("left behind", fmt.Sprintf("%s (%s)  %s", l.Thread, l.State, format.Command(l.Resume...)))
	}
	if a.Error != nil {
		meaning := a.Error.Meaning
		if a.Error.Rule != "" {
			meaning += " [" + a.Error.Rule + "]"
		}
		line("the error", meaning)
		for _, other := range a.Error.Others {
			line("it also says", other)
		}
		if a.Next != preresume.RepairThenResume { // which the next command is
			line("what to do", a.Error.Next(repairOperand(a)))
		}
	}
	if a.Repaired {
		line("repaired", "undo with hist undo "+a.Run)
	}
	line("not repaired", a.RepairError)
	line("not read", a.NotRead)
}

// damageWords are the findings, the worst first; what is said often is said once, with how often.
func damageWords(a *preresume.Answer, line func(name, text string)) {
	said := map[preresume.Damage]int64{} // how often each thing is said, wherever it stands
	alike := func(f preresume.Damage) preresume.Damage {
		return preresume.Damage{Rule: f.Rule, Impact: f.Impact, Message: f.Message}
	}
	for _, f := range a.Findings {
		said[alike(f)]++
	}
	for _, of := range slices.Backward(lint.Impacts) {
		for _, f := range a.Findings {
			n := said[alike(f)]
			if f.Impact != of.String() || n < 0 {
				continue
			}
			if n > mostAlike {
				said[alike(f)] = -1
				f.Message = format.Words(f.Message, n)
			}
			at := ""
			if f.Line > 0 {
				at = fmt.Sprintf(", line %d", f.Line)
			}
			line("finding", fmt.Sprintf("%s%s: %s [%s]", f.Impact, at, f.Message, f.Rule))
		}
	}
}

// repairOperand names the session that an answer is about.
func repairOperand(a *preresume.Answer) string { return nameOf(a.Thread, a.Path) }

// nameOf names a session for a command: by its id, or by its file if the id is not enough to find it.
func nameOf(id, path string) string {
	if path == "" || len(id) == 36 && uuid.Validate(id) == nil && looked(path) && lint.NameOf(path, true).Canonical {
		return id
	}
	return operandOf(path)
}

// looked says whether a file is where ids are looked up.
func looked(path string) bool {
	homes, err := defaultHomes("")
	return err == nil && slices.ContainsFunc(homes, func(h agentHome) bool {
		return slices.ContainsFunc(h.agent.Sessions(h.dir), func(dir string) bool { return inside(path, dir) })
	})
}

// resumeOf is the command that resumes the session in a file, to be pasted.
func resumeOf(ctx context.Context, path string, command []string) string {
	s, err := timeline.Look(ctx, path, timeline.LookOptions{})
	if err != nil {
		return format.Command(command...)
	}
	return fromHere(s.CWD, command)
}

// clientWords are the client's version, the form of its history, its model and its provider, as far as they are known; "" without a version.
func clientWords(a *preresume.Answer) string {
	text := a.Version
	if text == "" {
		return ""
	}
	if a.Mode != "" {
		text += ", " + a.Mode
	}
	if a.Mode != "" || a.Model != "" || a.Provider != "" {
		text += ", model " + orUnknown(a.Model)
	}
	if a.Provider != "" {
		text += " of " + a.Provider
	}
	return text
}

func orUnknown(s string) string { return cmp.Or(s, "unknown") }

// localStamp is a time of an answer as people here read it.
func localStamp(stamp string) string {
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return stamp
	}
	return t.Local().Format("2006-01-02 15:04:05 MST")
}

func turnWords(t *preresume.Turn) string {
	text := t.State
	if t.Last != "" {
		text += " at " + localStamp(t.Last)
	}
	if t.ErrorClass != "" {
		text += ", " + t.ErrorClass
	}
	if t.ErrorCode != "" {
		text += " (" + t.ErrorCode + ")"
	}
	if t.Error != "" {
		text += ": " + t.Error
	}
	return text
}
