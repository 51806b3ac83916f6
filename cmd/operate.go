package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/surgery"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

// operationFlags are those of every command that changes healthy sessions, after its own. One whose name is own is left out: the
// command has another with that name.
func operationFlags(own string, flags ...cli.Flag) []cli.Flag {
	return append(flags, withoutFlag(own, []cli.Flag{
		&cli.BoolFlag{Name: "in-place", Aliases: []string{"i"}, Usage: "change the session's own file and keep its id; the original is kept in the run's record"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `PATH` instead, keeping the id: a new file, an existing directory, or - for standard output"},
		lastFlag(), agentFlag(),
		&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "write nothing, only report"},
		&cli.BoolFlag{Name: "diff", Aliases: []string{"d"}, Usage: "print a unified diff of the changed lines"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "print each change"},
		&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "text", Usage: "`FORMAT` of the report: text, or json (one object per session)"},
		&cli.StringFlag{Name: "html", Usage: "also write the report to `FILE` as a page for a browser; it must not exist"},
		&cli.BoolFlag{Name: "show-content", Usage: "show changed lines as they are, including words of the conversation"},
		colorFlag(),
	})...)
}

// withoutFlag leaves a flag out of a list.
func withoutFlag(name string, flags []cli.Flag) []cli.Flag {
	return slices.DeleteFunc(flags, func(f cli.Flag) bool { return f.Names()[0] == name })
}

// operation is a command that changes healthy sessions.
type operation struct {
	name   string
	forget bool // see repair.Operation
	plan   func(s *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error)
	// pick leaves out sessions of a whole home; nil if the command wants sessions to be named.
	pick  func([]target) []target
	move  *surgery.MoveOptions // nil for all but move
	sizes bool                 // of several sessions, each is told by its sizes, in a row of a table
	// beside does what else belongs to it once the sessions are done, with the same record; nil if there is nothing.
	beside func(r *repairRun) error
	only   int // how many of the operands are operated on, from the first; 0: all
}

// operate carries out an operation on the sessions that the command line names.
func (e *env) operate(c *cli.Context, op operation) error {
	r := e.newRun(c)
	r.operation, r.move, r.beside = op.on(), op.move, op.beside
	operands, err := operandsOf(c)
	if err != nil {
		return err
	}
	if len(operands) == 0 && op.pick == nil {
		return usage("hist %s takes a session: a file, a session's id, or --last", op.name)
	}
	if err := r.flags(operands); err != nil {
		return err
	}
	if op.only > 0 {
		operands = operands[:op.only]
	}
	list, err := e.targets(c.Context, operands, c.String("agent"))
	if err != nil {
		return err
	}
	if len(operands) == 0 {
		if list = op.pick(list); len(list) == 0 {
			none := "no session is that old"
			if op.move != nil {
				none = "no session works in " + op.move.From
			}
			fmt.Fprintln(e.out, none)
			if r.beside == nil {
				return nil
			}
		}
	}
	if err := r.fits(list, operands); err != nil {
		return err
	}
	r.bar = e.newProgress(list, passesOfRepair)
	defer func() { r.bar.end() }()
	r.print.whole, r.print.nothing = len(list) > 1, "nothing to gain"
	if op.sizes && len(list) > 1 && !r.print.diff && !r.print.verbose {
		r.print.sizes = &sizeTable{}
	}
	return r.all(c.Context, list)
}

// on is the operation as package repair takes it.
func (op operation) on() *repair.Operation {
	return &repair.Operation{Name: op.name, Forget: op.forget, Plan: func(s *surgery.Session) (*surgery.Plan, error) {
		of := all.Surgeon(s.Agent)
		if of == nil {
			return nil, surgery.Refuse("hist can't %s sessions of %s yet", op.name, s.Agent.Title)
		}
		return op.plan(s, of)
	}}
}

// kept is the operation with a record of the original.
func (op operation) kept() *repair.Operation {
	op.forget = false
	return op.on()
}

// operationOf is the command's operation with a plan for one session.
func (r *repairRun) operationOf(plan func(*surgery.Session, surgery.Surgeon) (*surgery.Plan, error)) *repair.Operation {
	return operation{name: r.operation.Name, plan: plan}.on()
}

// codeOfOperation is the exit code for an error of an operation, 0 if it is none.
func codeOfOperation(err error) int {
	switch {
	case errors.Is(err, surgery.ErrUsage):
		return ExitUsage
	case errors.Is(err, repair.ErrUnsound):
		return ExitFindings
	}
	return 0
}

// unsound is the error about a session that must be repaired first. Where that was done, it names the copy: that one takes operations.
func unsound(ctx context.Context, path string, err error) (copied string, _ error) {
	if !errors.Is(err, repair.ErrUnsound) {
		return "", err
	}
	c := copyOf(ctx, inspect.NewCopies(), path)
	if c.Thread == "" || c.InPart {
		return "", err
	}
	return c.Thread, fmt.Errorf("%s: it is damaged; take its repaired copy, %s", path, c.Thread)
}

// operated prints what an operation did to one session.
func (p *reportPrinter) operated(rep *repair.Report) {
	op := rep.Operation
	if len(op.Parts) == 0 && rep.Target == "" && op.Sent == nil {
		if p.whole {
			p.healthy++
			return
		}
		fmt.Fprintf(p.w, "%s: nothing to gain: hist %s would change nothing\n", oneLine(rep.Source), op.Name)
		return
	}
	if p.sizes != nil {
		p.sizes.row(p.w, rep)
		return
	}
	fmt.Fprintln(p.w, p.st.path.Sprint(oneLine(rep.Source)))
	switch {
	case p.diff:
		p.unified(rep)
	case p.verbose:
		p.edits(rep)
	}
	p.portions(op)
	if op.Sent != nil {
		fmt.Fprintln(p.w, "  "+op.Sent.Words())
	}
	for _, n := range rep.Notes {
		fmt.Fprintln(p.w, folded("  "+oneLine(n), p.width, 4))
	}
	switch {
	case p.dry:
		p.unwritten(rep)
	case rep.Mode == repair.ToStream.String():
	default:
		p.written(rep)
		p.resume(rep)
	}
}

// sizeTable tells what an operation did to many sessions: a row each, and what holds of several of them once.
type sizeTable struct {
	rows, before, after int64
	copies              bool // the originals stay beside what was written
	notes               []string
}

func (t *sizeTable) row(w io.Writer, rep *repair.Report) {
	if t.rows == 0 {
		fmt.Fprintf(w, "%-10s  %8s  %8s  %6s  %s\n", "SESSION", "BEFORE", "AFTER", "SAVED", "WHAT IS SENT")
	}
	op := rep.Operation
	t.rows++
	t.before += op.Before
	t.after += op.After
	told := ""
	if op.Sent != nil {
		told = op.Sent.Words()
	} else if rep.Target != "" {
		told = "as an earlier run has made it"
	}
	switch rep.Mode {
	case runs.NewThread:
		told += "; copy: " + shortOf(lint.NameOf(rep.Target, true).ThreadID, rep.Target)
	case runs.Output:
		told += "; written: " + oneLine(rep.Target)
	}
	t.copies = t.copies || rep.Mode == runs.NewThread
	fmt.Fprintf(w, "%-10s  %s\n", shortOf(lint.NameOf(rep.Source, true).ThreadID, rep.Source), sizesOf(op.Before, op.After)+"  "+told)
	for _, n := range rep.Notes {
		if !slices.Contains(t.notes, n) {
			t.notes = append(t.notes, n)
		}
	}
}

// end writes the sums, and the notes of all sessions.
func (t *sizeTable) end(w io.Writer, width int, dry bool) {
	if t.rows == 0 {
		return
	}
	fmt.Fprintf(w, "%-10s  %s  %s\n", "all", sizesOf(t.before, t.after), count(t.rows, "session", "sessions"))
	for _, n := range t.notes {
		fmt.Fprintln(w, folded(oneLine(n), width, 2))
	}
	if t.copies {
		fmt.Fprintln(w, "the originals stay beside their copies, so nothing was freed yet")
	}
	if dry {
		fmt.Fprintln(w, "nothing was written (dry run); -v shows the changes by their reasons")
	}
}

func sizesOf(before, after int64) string {
	return fmt.Sprintf("%8s  %8s  %4.0f %%", surgery.Bytes(before), surgery.Bytes(after), 100*float64(before-after)/float64(max(before, 1)))
}

// portions prints the changes by reason, and what they save.
func (p *reportPrinter) portions(op *repair.Operated) {
	wide := 0
	for _, part := range op.Parts {
		wide = max(wide, len(part.Name))
	}
	for _, part := range op.Parts {
		size := ""
		if part.Saved > 0 {
			size = "-" + surgery.Bytes(part.Saved)
		} else if part.Saved < 0 {
			size = "+" + surgery.Bytes(-part.Saved)
		}
		fmt.Fprintln(p.w, strings.TrimRight(fmt.Sprintf("  %-*s  %6d %-7s  %s", wide, part.Name, part.Changes, inNumber(part.Changes, "change", "changes"), size), " "))
		if p.verbose {
			fmt.Fprintln(p.w, "    "+p.st.dim.Sprint(folded(part.Why, p.width-4, 4)))
		}
	}
	if op.After != op.Before {
		fmt.Fprintf(p.w, "  size: %s → %s (%+.0f %%)\n", surgery.Bytes(op.Before), surgery.Bytes(op.After), 100*float64(op.After-op.Before)/float64(max(op.Before, 1)))
	}
}

// exit is the command's exit code, by what went wrong with single sessions.
func (r *repairRun) exit() error {
	for _, code := range []int{ExitUsage, ExitInUse, ExitIO, ExitFindings} {
		if r.codes[code] {
			return exit(code)
		}
	}
	return nil
}
