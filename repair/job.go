package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// Mode is where the repaired session goes.
type Mode uint8

// The modes.
const (
	NewThread Mode = iota // a copy beside the original, under a new thread id
	InPlace               // the file itself is replaced
	ToFile                // a copy at Job.Output, under the same id
	ToStream              // the same, written to Job.Stream
	DryRun                // nothing is written
)

var modeNames = [...]string{runs.NewThread, runs.InPlace, runs.Output, "stream", "dry-run"}

// String is the mode's name in a report.
func (m Mode) String() string { return modeNames[m] }

// ErrPartial says that the session could not be read to its end, so no copy of it can be made.
var ErrPartial = errors.New("the session can't be read to its end")

// ErrDependants says that other sessions point into the bytes that an in-place repair would move.
var ErrDependants = errors.New("other sessions point into this file")

// ErrPart says that a copy under a new id was asked for of a file that is no session by itself.
var ErrPart = errors.New("it is a part of another session, so no client would find a copy under a new id: give --in-place or --output")

// ErrBranch says that a branch was chosen, or chaining was asked for, in a session that has no branches.
var ErrBranch = errors.New("its agent's sessions have no branches")

// ErrForeign says that the session belongs to another user, and that a repair in place would take it from them.
var ErrForeign = errors.New("it belongs to another user: an in-place repair would change its owner, and hist can't tell whether they are using it; repair without --in-place makes a copy")

// Job is one session to repair.
type Job struct {
	Path   string         // the session's file; used if Source is nil
	Source *source.Source // the open session; it stays open
	Lint   lint.Options   // Name, and what is known of the session beside its bytes; Mend is set by Do
	Choice Choice
	// Operation, if not nil, is done instead of a repair; Choice then has no meaning.
	Operation *Operation
	Mode      Mode
	Instead   Mode      // DryRun: the mode that is tried
	Output    string    // ToFile: a path that does not exist yet
	Stream    io.Writer // ToStream
	Home      string    // the agent's home that the file is in, for its locks; "" if it is in none
	// MoveDatabases, with InPlace: move databases that keep the client from resuming the session into the run's record.
	MoveDatabases bool
	// Sizes asks for Report.Sizes, for which the session and the result are held whole.
	Sizes bool
	// DropThinking takes out the thinking that the repair would leave behind what it changes and that is bound to that.
	DropThinking bool
	// Records returns the manifests of earlier runs, newest first. If it is nil, a copy is made even if an earlier run made the
	// same.
	Records func() []runs.Manifest
	// Dependants lists the sessions that rely on this one's bytes; a run over many sessions shares one. If it is nil, every
	// header of the home is read.
	Dependants agent.DependantsBy
	// Begin opens the record of the run when something is going to be written; it is not called for DryRun and ToStream. If it
	// is nil, the record is kept where the command keeps records.
	Begin func() (*runs.Run, error)

	aside interface { // ToStream: holds in the end what has left the session; for tests
		io.Writer
		Reset()
	}
}

// job is a Job in progress.
type job struct {
	Job
	agent     *agent.Agent
	found     *lint.Result
	plan      *plan
	made      *output  // nil until a copy is made
	passes    *settled // nil if one pass is enough
	copied    *lint.Result
	notes     []string                          // what else was done, or left alone, for the report
	sourceSum func() (sha256 string, err error) // hash of the source's bytes; nil until hashSource
	run       *runs.Run                         // its record; nil until begin
	thread    string                            // id of the copy's thread
	standIn   string                            // DryRun: the id that stands for it in the copy
	target    string

	cleared bool      // rows of the client's view
	op      *operated // nil for a repair
	read    readings
	sizes   Sizes
}

// Do repairs one session. If there is nothing to mend it writes nothing, except that ToFile and ToStream still copy the session
// byte for byte. An error without a report means that nothing was published and the source is as it was. An error together with
// a report means that the session is done, but something else is not: the run's record, or a database that was to be moved.
func Do(ctx context.Context, j Job) (*Report, error) {
	if j.Source == nil {
		src, err := source.Open(j.Path)
		if err != nil {
			return nil, err
		}
		defer src.Close()
		j.Source = src
		if j.Lint.Name.Base == "" {
			j.Lint.Name = lint.NameOf(j.Path, j.Home != "")
		}
	}
	if j.Begin == nil {
		j.Begin = func() (*runs.Run, error) { return runs.New("") }
	}
	if j.DropThinking {
		if err := j.findBound(ctx); err != nil {
			return nil, err
		}
	}
	w := &job{Job: j}
	if w.Lint.Home = j.Home; w.Lint.Kept == nil {
		w.Lint.Kept = inspect.Kept
	}
	defer func() { w.passes.close() }()
	w.Lint.Mend, w.Lint.Listed = j.Choice.Allows, inspect.Listed
	ctx, stop := context.WithCancel(source.With(ctx, j.Source))
	defer stop()
	if err := w.look(ctx); err != nil {
		return nil, err
	}
	if w.Mode == InPlace {
		release, err := w.lock()
		if err != nil {
			return nil, err
		}
		defer release()
	}
	rep, err := w.doWhatKeeps(ctx)
	return w.finish(ctx, rep, err)
}

// findBound tries the repair, to learn which thinking it would leave behind what it changes.
func (j *Job) findBound(ctx context.Context) error {
	try := *j
	try.DropThinking, try.Records = false, nil
	if j.Mode != DryRun {
		try.Mode, try.Instead = DryRun, j.Mode
	}
	rep, err := Do(ctx, try)
	if err != nil {
		return err
	}
	j.Lint.DropThinking, j.Records = rep.Bound, nil
	return nil
}

// doWhatKeeps carries out the plan, without the rules because of which less would be sent or no copy would ever be settled, and without any if
// the copy would hold no record.
func (w *job) doWhatKeeps(ctx context.Context) (*Report, error) {
	rep, err := w.do(ctx)
	for {
		ok, tryErr := w.leaveOut(ctx, err)
		if tryErr != nil {
			return nil, w.named(tryErr)
		}
		if !ok {
			break
		}
		if err := w.again(ctx); err != nil {
			return nil, err
		}
		rep, err = w.do(ctx)
	}
	if errors.Is(err, errSame) {
		w.nothingToGain()
		rep, err = w.report(nil), nil
	}
	if !errors.Is(err, errNothing) {
		return rep, err
	}
	if w.op != nil {
		return nil, w.named(errEmptied)
	}
	w.run = nil // it was discarded
	w.leaveAll()
	return w.do(ctx)
}

// finish does what is left once the session is done: it moves databases away, forgets the run's record or keeps the report in it.
func (w *job) finish(ctx context.Context, rep *Report, err error) (*Report, error) {
	if err == nil {
		err = w.moveDatabases(ctx, rep)
	}
	if rep != nil && w.op != nil && w.Operation.Forget && w.run != nil && err == nil {
		return rep, w.forget(rep)
	}
	if rep != nil && w.run != nil && rep.Run == w.run.Manifest.Run {
		if kept := rep.keep(w.run, filepath.Base(w.Source.Real)); kept != nil {
			rep.Notes = append(rep.Notes, "the repair is done, but this report could not be kept: "+kept.Error())
		}
	}
	return rep, err
}

// again begins anew, with another choice. The record of the run was discarded.
func (w *job) again(ctx context.Context) error {
	w.passes.close()
	w.made, w.passes, w.copied, w.read.after, w.run = nil, nil, nil, nil, nil
	w.Lint.Mend = w.Choice.Allows
	return w.look(ctx)
}

// begin opens the record of the run, once for the session.
func (w *job) begin() (*runs.Run, error) {
	if w.run != nil {
		return w.run, nil
	}
	run, err := w.Begin()
	if err != nil {
		return nil, err
	}
	if w.Operation != nil && w.Operation.Forget {
		if err := run.Forget(); err != nil {
			return nil, err
		}
	}
	w.run = run
	return run, nil
}

// do carries out the plan in the job's mode.
func (w *job) do(ctx context.Context) (*Report, error) {
	switch {
	case w.Mode == DryRun:
		return w.dryRun(ctx)
	case w.Mode == ToStream:
		return w.stream(ctx)
	case w.plan.Empty() && w.plan.Reproject:
		return w.reproject(ctx)
	case w.plan.Empty() && w.Mode != ToFile:
		return w.report(nil), nil
	}
	return w.publish(ctx)
}

// named puts the session's path in front of an error that does not have it yet.
func (w *job) named(err error) error {
	if strings.HasPrefix(err.Error(), w.Source.Path+": ") {
		return err
	}
	return fmt.Errorf("%s: %w", w.Source.Path, err)
}

// leaveAll plans no edit, for a session of which a repair would leave no record.
func (w *job) leaveAll() {
	w.plan = choose(w.found.Findings, nothing)
	w.made, w.copied = nil, nil
	w.notes = append(w.notes, leavesAll)
}

// leavesAll says why a session is left as it is of which a repair would leave no record.
const leavesAll = "nothing in it can be kept as a record: it was left as it is, because a repair would leave an empty file"

// look lints the session and plans its repair.
func (w *job) look(ctx context.Context) error {
	var err error
	w.found, err = inspect.Lint(ctx, w.Source, w.Lint)
	if beside := new(inspect.BesideError); errors.As(err, &beside) {
		err = w.tolerateUncompared(ctx, beside.Err)
	}
	if err != nil {
		return err
	}
	w.agent = all.Named(w.found.Summary.Agent)
	if err := w.branches(); err != nil {
		return err
	}
	if p := w.found.Summary.Partial; p != nil {
		return fmt.Errorf("%s: %w: %w", w.Source.Path, ErrPartial, p)
	}
	if w.effectiveMode() != InPlace { // for a copy, the client makes a new view, so it does not matter whether the old one is wrong
		w.found.Findings = slices.DeleteFunc(w.found.Findings, func(f lint.Finding) bool { return f.Reproject })
	}
	if err := w.weigh(ctx); err != nil {
		return err
	}
	if w.Operation != nil {
		if err := w.operate(ctx); err != nil {
			return err
		}
	} else {
		w.plan = choose(w.found.Findings, w.Choice)
	}
	if w.effectiveMode() == InPlace || w.Mode == ToStream {
		w.plan.dropRenames()
	}
	w.plan.keepView()
	if w.effectiveMode() == NewThread && !w.plan.Empty() && w.part() {
		return w.named(ErrPart)
	}
	w.thread = w.found.Summary.Header.ID
	if w.plan.Rename != "" {
		w.thread = w.plan.Rename
	} else if w.Lint.Name.ThreadID != "" {
		w.thread = w.Lint.Name.ThreadID
	}
	return nil
}

// branches returns an error if an option is set that needs a session with branches, and this one has none.
func (w *job) branches() error {
	if w.agent.Branched {
		return nil
	}
	switch {
	case w.Lint.Branch != "":
		return fmt.Errorf("%s: %w, so --branch chooses nothing; leave it out", w.Source.Path, ErrBranch)
	case w.Lint.ChainParallel:
		return fmt.Errorf("%s: %w, so --chain-parallel chains nothing; leave it out", w.Source.Path, ErrBranch)
	}
	return nil
}

// part says whether the file is a part of another session.
func (w *job) part() bool { return w.agent.Part != nil && w.agent.Part(w.Source.Path) }

// lintOptions are the options for linting a text that is to replace the session.
func (w *job) lintOptions() lint.Options {
	opts := w.Lint
	opts.Agent, opts.Path, opts.DropThinking = w.agent.Name, w.Source.Real, nil
	return opts
}

// lintOf lints such a text. If the session is in a home, it also compares what the text inherits with the sessions that it
// inherits from.
func (w *job) lintOf(ctx context.Context, src *source.Source) (*lint.Result, error) {
	res, err := lint.Source(ctx, src, w.lintOptions())
	if err != nil || w.Home == "" || res.Summary.Partial != nil {
		return res, err
	}
	found, err := inspect.OpenHome(ctx, w.Home).Inherits(ctx, w.Source.Real, src, res)
	if err != nil {
		return res, w.tolerateUncompared(ctx, err)
	}
	inspect.Add(res, found)
	return res, nil
}

// newRewrite prepares one pass of the plan.
func (w *job) newRewrite(aside io.Writer) *rewrite {
	rw := pass{w.Source, w.found, w.plan}.rewrite(w, aside)
	if w.effectiveMode() == NewThread {
		w.reidentify(rw, w.found)
	}
	w.made = &rw.output
	return rw
}

// reidentify makes a rewrite give the copy's header the id of the copy's thread.
func (w *job) reidentify(rw *rewrite, found *lint.Result) {
	if re := w.agent; re.Reidentify != nil {
		old, id := found.Summary.Header, cmp.Or(w.standIn, w.thread)
		rw.Header = func(line []byte) []byte { return re.Reidentify(line, old, id) }
		rw.IsHeader = re.IsHeader
	}
}

// copyOptions are the options for linting the copy: those for the session, under the copy's own name. Text is empty, because
// what the session has lost was already looked for when the plan was made.
func (w *job) copyOptions() lint.Options {
	opts := w.lintOptions()
	opts.Text = strings.NewReader("")
	switch w.effectiveMode() {
	case NewThread:
		if w.target != "" {
			opts.Name = lint.NameOf(w.target, opts.Name.InHome)
		}
	case ToFile: // under a name that says nothing, the copy is what its original's name says
		if named := lint.NameOf(w.Output, false); named.ThreadID != "" || all.Part(w.Output) {
			opts.Name = named
		}
		opts.Name.InHome = false
	}
	return opts
}
