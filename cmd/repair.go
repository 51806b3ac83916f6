package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/preresume"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/surgery"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

func repairCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "repair", Usage: "write a repaired copy of sessions that resumes, and report what changed", ArgsUsage: "[PATH|ID ...]",
		Description: "By default, the copy is a new thread beside the original, which is not touched; hist prints the command that\nresumes it. A session with nothing to repair is left alone. Every repair is recorded below $XDG_STATE_HOME/hist/runs\n(~/.local/state/hist/runs), and hist undo undoes it.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "in-place", Aliases: []string{"i"}, Usage: "replace the session's own file and keep its id; the original is kept in the run's record"},
			&cli.BoolFlag{Name: "move-databases", Usage: "with --in-place: afterwards, move databases that the client can't read into the run's record; no client may run"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `PATH` instead, keeping the id: a new file, an existing directory, or - for standard output"},
			lastFlag(), anyFlag(), agentFlag(),
			&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "write nothing, only report"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "without PATH or ID, repair the whole home without asking"},
			&cli.StringFlag{Name: "only", Usage: "make only fixes of these `KINDS`, separated by commas: exact, recovered, stand-in, set-aside"},
			&cli.StringSliceFlag{Name: "rule", Usage: "repair only what this `RULE` finds, including its notes; may be given more than once"},
			&cli.BoolFlag{Name: "tidy", Usage: "also repair notes that have a fix"},
			&cli.BoolFlag{Name: "keep-orphans", Usage: "turn an output whose call can't be rebuilt into a note to the model"},
			&cli.BoolFlag{Name: "strip-encrypted", Usage: "set aside what another account or provider encrypted and nobody can read any more; never in place"},
			&cli.BoolFlag{Name: "drop-thinking", Usage: "take out the thinking behind what is changed: newer Claude models' APIs may refuse it there"},
			clientFlag("codex", "repair for"), clientFlag("claude", "repair for"), clientFlag("pi", "repair for"),
			&cli.StringFlag{Name: "error", Usage: "the `TEXT` of the error of a failed resume; what it names is mended, too"},
			&cli.StringFlag{Name: "error-file", Usage: "a `FILE` with that error instead"},
			&cli.StringFlag{Name: "branch", Usage: "make Claude Code continue the branch that holds the record with this `UUID`"},
			&cli.BoolFlag{Name: "chain-parallel", Usage: "put the outputs of parallel calls one after the other, so that Claude Code up to 2.1.2 sends them all"},
			providerFlag(),
			&cli.BoolFlag{Name: "diff", Aliases: []string{"d"}, Usage: "print a unified diff of the changed lines instead of the list of edits"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "also print byte offsets and renumbered lines"},
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "text", Usage: "`FORMAT` of the report: text, or json (one object per session)"},
			&cli.StringFlag{Name: "html", Usage: "also write the report to `FILE` as a page for a browser; it must not exist"},
			&cli.BoolFlag{Name: "show-content", Usage: "show changed lines as they are, including words of the conversation"},
			colorFlag(),
		},
		Action: e.repair,
	}
}

// fewSessions is how many named sessions have their changes listed; of more, each has a line.
const fewSessions = 3

type repairRun struct {
	env        *env
	c          *cli.Context
	said       string // the error that the user has brought
	mode       repair.Mode
	instead    repair.Mode // the mode that a dry run tries
	choice     repair.Choice
	by         clients
	kept       lint.KeptBy
	dependants agent.DependantsBy
	print      *reportPrinter
	run        *runs.Run
	records    func() []runs.Manifest // of earlier runs
	codes      map[int]bool
	bar        *progress
	operation  *repair.Operation // nil to repair
	move       *surgery.MoveOptions
	beside     func(r *repairRun) error // see operation
}

// passesOfRepair is how often a repair reads a session: once to find what is wrong, once to write the copy.
const passesOfRepair = 2

func (e *env) newRun(c *cli.Context) *repairRun {
	return &repairRun{env: e, c: c, kept: inspect.KeptOfMany(), dependants: inspect.DependantsOfMany(), codes: map[int]bool{}, records: sync.OnceValue(func() []runs.Manifest {
		list, _ := runs.List() // a run whose record can't be read names no copy
		return list
	})}
}

func (e *env) repair(c *cli.Context) error {
	r := e.newRun(c)
	operands, err := operandsOf(c)
	if err != nil {
		return err
	}
	if err := r.flags(operands); err != nil {
		return err
	}
	if err := r.readError(c.Context); err != nil {
		return err
	}
	list, err := e.targets(c.Context, operands, c.String("agent"))
	if err != nil {
		return err
	}
	if err := r.fits(list, operands); err != nil {
		return err
	}
	r.bar = e.newProgress(list, passesOfRepair)
	defer func() { r.bar.end() }()
	r.print.batch = (len(list) > fewSessions || len(operands) == 0 && len(list) > 1) && !r.print.diff && !r.print.verbose
	if r.print.whole = len(operands) == 0; r.print.whole {
		if list, err = r.agreed(c.Context, list); err != nil {
			return err
		}
		r.bar.end()
		r.bar = e.newProgress(list, passesOfRepair)
	}
	return r.all(c.Context, list)
}

// readError takes the error that the user has brought, and says so if it is not known.
func (r *repairRun) readError(ctx context.Context) error {
	r.said = r.c.String("error")
	if path := r.c.String("error-file"); path != "" {
		var err error
		if r.said, err = r.env.errorText(ctx, path); err != nil {
			return fmt.Errorf("--error-file %s: %w", path, disk.Cause(err))
		}
	}
	if r.said != "" && preresume.Explain(r.said) == nil {
		r.env.complain("note: " + preresume.UnknownError)
	}
	return nil
}

// fits returns an error for options that don't go together.
func (r *repairRun) fits(list []target, operands []string) error {
	if to := r.wanted(); (to == repair.ToFile && !disk.IsDir(r.c.String("output")) || to == repair.ToStream) && len(list) > 1 {
		return usage("--output names one file but there are %d sessions; give a directory", len(list))
	}
	if branch := r.c.String("branch"); branch != "" && (len(list) != 1 || len(operands) == 0) {
		return usage("--branch takes the uuid of a record of one session: name that session")
	}
	return nil
}

// all repairs the sessions one after the other, and ends the report; its error may be an exit code alone.
func (r *repairRun) all(ctx context.Context, list []target) error {
	for _, t := range list {
		if err := r.one(ctx, t); err != nil {
			// What was repaired before an interruption can be undone.
			if end := r.print.end(context.WithoutCancel(ctx), r.run); !errors.Is(err, end) {
				return errors.Join(err, end)
			}
			return err
		}
	}
	var err error
	switch {
	case r.beside == nil:
	case r.exit() != nil:
		r.env.complain("note: not every session could be moved, so what else its client keeps by the directory was left as it is")
	default:
		err = asInUse(r.beside(r))
	}
	if err := errors.Join(err, writing("the report", r.print.end(ctx, r.run))); err != nil {
		return err
	}
	return r.exit()
}

func (r *repairRun) flags(operands []string) error {
	if err := r.chosen(); err != nil {
		return err
	}
	var err error
	if r.by, err = judgedBy(r.c); err != nil {
		return err
	}
	if err := r.into(operands); err != nil {
		return err
	}
	if err := r.page(); err != nil {
		return err
	}
	if r.print, err = r.env.reportPrinter(r.c, r.mode == repair.ToStream); err != nil {
		return err
	}
	r.print.anew = r.wanted() == repair.NewThread
	return nil
}

// chosen decides what is to be repaired.
func (r *repairRun) chosen() error {
	c := r.c
	r.choice = repair.Choice{Rules: c.StringSlice("rule"), Tidy: c.Bool("tidy")}
	if err := knownRules(r.choice.Rules); err != nil {
		return err
	}
	kinds := strings.FieldsFunc(c.String("only"), func(x rune) bool { return x == ',' || x == ' ' })
	if c.IsSet("only") && len(kinds) == 0 {
		return usage("--only is empty; it takes exact, recovered, stand-in or set-aside")
	}
	for _, name := range kinds {
		fix, err := lint.ParseFix(name)
		if err != nil {
			return usage("--only: %w", err)
		}
		r.choice.Only = append(r.choice.Only, fix)
	}
	return nil
}

// into decides where the copy goes.
func (r *repairRun) into(operands []string) error {
	c := r.c
	output, inPlace, stdin := c.String("output"), c.Bool("in-place"), slices.Contains(operands, "-")
	switch {
	case stdin && len(operands) > 1:
		return usage("standard input is repaired on its own; name files in a separate call")
	case c.Bool("move-databases") && !inPlace:
		return usage("--move-databases goes with --in-place: it changes what the client keeps beside all sessions of the home")
	case inPlace && c.IsSet("output"):
		return usage("--in-place and --output exclude each other")
	case inPlace && c.Bool("strip-encrypted"):
		return usage("--strip-encrypted works on a copy only; leave out --in-place")
	case c.IsSet("error") && c.IsSet("error-file"):
		return usage("--error and --error-file exclude each other")
	case inPlace && stdin:
		return usage("standard input can't be repaired in place")
	case inPlace:
		r.mode = repair.InPlace
	case output == "-", stdin && output == "":
		r.mode = repair.ToStream
	case output != "":
		r.mode = repair.ToFile
		if os.IsPathSeparator(output[len(output)-1]) && !disk.IsDir(output) {
			return fmt.Errorf("--output %s: no such directory", output)
		}
	}
	if c.Bool("dry-run") {
		r.instead, r.mode = r.mode, repair.DryRun
	}
	return nil
}

// page checks, before anything is repaired, whether the page for a browser can be written.
func (r *repairRun) page() error {
	page := r.c.String("html")
	switch page {
	case "":
		return nil
	case "-":
		return usage("--html names no file")
	}
	for _, path := range []string{page, timelinesOf(page)} {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s: %w; give --html another name", path, publish.ErrExists)
		}
	}
	if !disk.IsDir(filepath.Dir(page)) {
		return fmt.Errorf("--html %s: no such directory", page)
	}
	if r.wanted() != repair.ToFile {
		return nil
	}
	same, err := publish.SameFile(page, r.c.String("output"))
	if err == nil && same {
		err = usage("--html and --output both name %s", page)
	}
	return err
}

// wanted is where the copy goes, or would go without --dry-run.
func (r *repairRun) wanted() repair.Mode {
	if r.mode == repair.DryRun {
		return r.instead
	}
	return r.mode
}

// one repairs one session. An error is reported and counted; only an interruption ends the whole run.
func (r *repairRun) one(ctx context.Context, t target) error {
	rep, err := r.do(ctx, t)
	r.bar.clear()
	if rep != nil {
		if rep.Unrepaired() {
			r.codes[ExitFindings] = true
		}
		if perr := r.print.report(rep); perr != nil {
			return fmt.Errorf("writing the report: %w", perr)
		}
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Canceled
	case errors.Is(err, source.ErrChanged):
		r.codes[ExitInUse] = true
		err = fmt.Errorf("%w; repair it again once nobody writes it", err)
	case errors.Is(err, disk.ErrBusy), errors.Is(err, source.ErrLeased):
		r.codes[ExitInUse] = true
		if r.operation == nil && r.move == nil {
			err = fmt.Errorf("%w; %s repairs and resumes it once it is free", err, format.Command(waiting(lint.NameOf(t.path, t.home != "").ThreadID, t.path)...))
		}
	case codeOfOperation(err) != 0:
		code, copied := codeOfOperation(err), ""
		if copied, err = unsound(ctx, t.path, err); copied != "" && r.c.Bool("all") {
			r.env.complain(fmt.Sprintf("note: %s stays as it is, because it was repaired as %s", t.path, copied))
			return nil
		}
		r.codes[code] = true
	case errors.Is(err, repair.ErrBranch), errors.Is(err, repair.ErrPart):
		r.codes[ExitUsage] = true
	default:
		r.codes[ExitIO] = true
	}
	r.env.report(err)
	return nil
}

func (r *repairRun) do(ctx context.Context, t target) (*repair.Report, error) {
	if t.err != nil {
		return nil, t.err
	}
	src, err := r.env.open(t.path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	defer r.bar.begin(src)()
	opts := inspect.AtRest(src, t.home, r.by)
	opts.Kept, opts.Error = r.kept, r.said
	opts.Branch, opts.Provider = r.c.String("branch"), r.c.String("provider")
	opts.StripEncrypted, opts.KeepOrphans, opts.ChainParallel = r.c.Bool("strip-encrypted"), r.c.Bool("keep-orphans"), r.c.Bool("chain-parallel")
	if src.Real != "" {
		busy, err := all.InUse(src.Real, t.home, opts.Name.ThreadID)
		writes := r.mode != repair.DryRun || r.instead == repair.InPlace // a copy of a session that is being written would end in the middle of a record
		switch {
		case err != nil && writes:
			return nil, fmt.Errorf("%s: it is left alone, because hist can't tell whether somebody uses it: %w", t.path, err)
		case busy != nil && writes:
			return nil, fmt.Errorf("%s: %w", t.path, busy)
		}
		opts.Live = busy != nil
	}
	if r.mode == repair.DryRun && r.instead == repair.ToFile {
		if err := publish.CheckTarget(publish.Target{Path: r.output(src)}); err != nil {
			return nil, err
		}
	}
	job := repair.Job{
		Source: src, Lint: opts, Choice: r.choice, Mode: r.mode, Instead: r.instead, Output: r.output(src), Stream: r.env.out, Home: t.home, Begin: r.begin, Records: r.records,
		MoveDatabases: r.c.Bool("move-databases"), Dependants: r.dependants, Operation: r.operation,
		DropThinking: r.operation == nil && r.c.Bool("drop-thinking"), Sizes: r.print.page != "",
	}
	if r.move != nil {
		return r.moveOne(ctx, job, t, *r.move)
	}
	return repair.Do(ctx, job)
}

// output is the file that a copy goes to.
func (r *repairRun) output(src *source.Source) string {
	out := r.c.String("output")
	if r.wanted() != repair.ToFile || !disk.IsDir(out) {
		return out
	}
	if src.Real == "" {
		return filepath.Join(out, "stdin.jsonl")
	}
	return filepath.Join(out, src.Name)
}

// begin opens the record of the run, once for all sessions. If a repair failed before the record held anything, it has removed
// the record, and the next session begins another.
func (r *repairRun) begin() (*runs.Run, error) {
	if r.run != nil && disk.IsDir(r.run.Path()) {
		return r.run, nil
	}
	run, err := runs.New(Version())
	if err != nil {
		return nil, fmt.Errorf("nothing was repaired, because no record of the run can be kept: %w", err)
	}
	r.run = run
	return run, nil
}

// maxPreviewed is how many sessions are listed before the question.
const maxPreviewed = 20

// agreed asks before a whole home is repaired, and shows which sessions would be. It returns the sessions to repair; none if
// there is nothing to do or the answer is no.
func (r *repairRun) agreed(ctx context.Context, list []target) ([]target, error) {
	if r.c.Bool("yes") || r.mode == repair.DryRun || !slices.ContainsFunc(list, func(t target) bool { return t.err == nil }) {
		return list, nil
	}
	if !r.env.asks() {
		return nil, usage("this would repair the whole home; --yes does it, --dry-run shows it, and a path or an id repairs less")
	}
	var damaged []target
	mode := r.mode
	r.instead, r.mode = mode, repair.DryRun
	defer func() { r.instead, r.mode = 0, mode }()
	for _, t := range list {
		rep, err := r.do(ctx, t)
		r.bar.clear()
		if ctx.Err() != nil {
			return nil, context.Canceled
		}
		if err == nil && len(rep.Edits) == 0 && !rep.Unrepaired() {
			continue
		}
		damaged = append(damaged, t)
		if err == nil && len(damaged) <= maxPreviewed { // an error is reported by the repair itself
			fmt.Fprintf(r.env.err, "  %s  %s\n", shortOf(rep.Thread, t.path), count(len(rep.Edits), "change", "changes"))
		}
	}
	if more := len(damaged) - maxPreviewed; more > 0 {
		fmt.Fprintf(r.env.err, "  and %d more\n", more)
	}
	if len(damaged) == 0 {
		return list, nil // the repair says that there is nothing to do
	}
	what := "Write repaired copies of"
	if mode == repair.InPlace {
		what = "Replace"
	}
	r.bar.end() // it would overwrite the question
	yes, err := r.env.agreed(fmt.Sprintf("%s %s?", what, count(len(damaged), "session", "sessions")))
	if err != nil {
		return nil, err
	}
	if !yes {
		fmt.Fprintln(r.env.err, "Nothing was changed.")
		return nil, nil
	}
	return damaged, nil
}
