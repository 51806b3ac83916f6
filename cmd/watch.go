package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/follow"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

func watchCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "watch", Usage: "watch sessions while they are written, and report when one is damaged", ArgsUsage: "[PATH ...]",
		Description: "When the system reports that a session's file has changed, hist lints it once it has stopped changing, and prints a\nline if it is damaged, sound again, unreadable or gone. PATH is a file or a directory; without one, it watches the\nagents' homes. Ctrl-C ends it.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "fail-on", Value: "loses", Usage: "a session is damaged if it has findings of this `IMPACT` or a worse one: blocks, loses, rejects, shows or notes"},
			&cli.StringFlag{Name: "exec", Usage: "run this shell `COMMAND` for each session found damaged, with its path in $HIST_SESSION"},
			&cli.DurationFlag{Name: "exec-timeout", Usage: "end the command of --exec, and what it has started, after this `TIME`; 0 lets it run", DefaultText: "0"},
			&cli.DurationFlag{Name: "rest", Value: 2 * time.Second, Usage: "lint a file once it has not changed for this `TIME`"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object per line"},
		},
		Action: e.watch,
	}
}

// The states of a watched session. One that was never linted counts as sound.
const (
	soundState      = "sound"
	damagedState    = "damaged"
	unreadableState = "unreadable"
	goneState       = "gone"
)

// sessionState is what is printed when a session's state changes.
type sessionState struct {
	Time     string   `json:"time"`
	Path     string   `json:"path"`
	State    string   `json:"state"`
	Thread   string   `json:"thread,omitempty"`
	Findings int      `json:"findings,omitempty"` // at the threshold, or worse
	Worst    string   `json:"worst,omitempty"`
	Rules    []string `json:"rules,omitempty"`
	Error    string   `json:"error,omitempty"`
}

type watchRun struct {
	env       *env
	c         *cli.Context
	threshold lint.Impact
	cache     *inspect.Cache
	follower  *follow.Follower
	states    map[string]string        // by path, of the sessions that are not sound
	looked    map[string]time.Duration // by path, of the sessions in use: how long to wait before the next look
}

func (e *env) watch(c *cli.Context) error {
	w := &watchRun{env: e, c: c, states: map[string]string{}, looked: map[string]time.Duration{}}
	var err error
	if w.threshold, err = lint.ParseImpact(c.String("fail-on")); err != nil {
		return usage("--fail-on: %w", err)
	}
	for _, name := range []string{"rest", "exec-timeout"} {
		if c.Duration(name) < 0 {
			return usage("--%s is %s; it takes a time from 0 on", name, c.Duration(name))
		}
	}
	if c.IsSet("exec-timeout") && !c.IsSet("exec") {
		return usage("--exec-timeout goes with --exec")
	}
	operands, err := operandsOf(c)
	if err != nil {
		return err
	}
	paths, err := watched(operands)
	if err != nil {
		return err
	}
	if w.follower, err = follow.New(paths, c.Duration("rest")); err != nil {
		return err
	}
	defer w.follower.Close() //nolint:errcheck // it writes nothing
	for _, err := range w.follower.Unwatched() {
		e.complain(fmt.Sprintf("not watched: %v", err))
	}
	if w.follower.Dirs() == 0 {
		return errors.New("there is nothing left to watch")
	}
	fmt.Fprintf(e.err, "hist: watching %s\n", count(w.follower.Dirs(), "directory", "directories"))
	w.cache = inspect.OpenCache(Version())
	defer w.cache.Close()
	for {
		path, err := w.follower.Next(c.Context)
		if err != nil {
			return err
		}
		if err := w.look(path); err != nil {
			return err
		}
	}
}

// watched are the files and directories to follow: the operands, or where the agents keep their sessions.
func watched(operands []string) ([]string, error) {
	for _, op := range operands {
		if op == "" {
			return nil, usage("an argument is empty; it takes files and directories")
		}
		if _, err := os.Stat(op); err != nil {
			return nil, fmt.Errorf("%s: %w; watch takes files and directories", op, disk.Cause(err))
		}
	}
	if len(operands) > 0 {
		return operands, nil
	}
	homes, err := defaultHomes("")
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, h := range homes {
		dirs := h.agent.Sessions(h.dir)
		if h.agent.Live(h.dir) == "" {
			dirs = append(dirs, h.agent.LiveAt(h.dir)) // the client makes it with the first session
		}
		for _, dir := range dirs {
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				dir = real
			}
			paths = append(paths, dir)
		}
	}
	return paths, nil
}

// busyAgain and busyMost are how long hist waits, at first and at most, before it looks again at a session in use: when its
// client ends, the file does not change.
const (
	busyAgain = 5 * time.Second
	busyMost  = 5 * time.Minute
)

// unsure is how long after its last change a session may still be in use by a client that leaves no sign of that. A tool may
// run that long, and until it has ended, the file looks as if the client had been killed.
const unsure = 10 * time.Minute

// unnoticed says whether a session is of a client that leaves no sign that it has one open.
func unnoticed(res *lint.Result) bool {
	a := all.Named(res.Summary.Agent)
	return a != nil && a.Unnoticed != nil && a.Unnoticed(res.Summary.Header.Version)
}

// look lints a session, and reports if its state has changed.
func (w *watchRun) look(path string) error {
	now, live, err := w.state(path)
	if err != nil {
		return err
	}
	if live {
		w.looked[path] = min(max(2*w.looked[path], busyAgain), busyMost)
		w.follower.Later(path, w.looked[path])
	} else {
		delete(w.looked, path)
	}
	before := cmp.Or(w.states[path], soundState)
	if now.State == before {
		return nil
	}
	if w.states[path] = now.State; now.State == soundState || now.State == goneState {
		delete(w.states, path)
	}
	if now.State == goneState && before == soundState {
		return nil // nothing was wrong with it, so nobody needs to know that it is gone
	}
	if err := w.tell(now); err != nil {
		return fmt.Errorf("writing what has changed: %w", err)
	}
	if now.State == damagedState && w.c.IsSet("exec") {
		w.run(path)
	}
	return w.c.Context.Err()
}

// state says how a session is now. live says that somebody is writing it. The error is the context's.
func (w *watchRun) state(path string) (now sessionState, live bool, err error) {
	now = sessionState{Time: time.Now().UTC().Format(time.RFC3339), Path: path, State: soundState}
	res, live, err := w.lint(path)
	switch {
	case err == nil:
		now.judge(res, w.threshold)
	case errors.Is(err, errGone):
		now.State = goneState
	case all.List(path) || !w.c.Args().Present() && stray(w.c.Context, target{path: path}) != nil:
		// a file where sessions are, but not a session
	default:
		now.State, now.Error = unreadableState, strings.TrimPrefix(err.Error(), path+": ") // the line names it
		return now, live, w.c.Context.Err()
	}
	return now, live, nil
}

// errGone says that the file does not exist any more.
var errGone = errors.New("the file is gone")

// lint lints a session. live says, even with an error, whether somebody is writing it, as far as that can be known.
func (w *watchRun) lint(path string) (res *lint.Result, live bool, err error) {
	src, err := source.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, errGone
	}
	if err != nil {
		return nil, false, err
	}
	defer src.Close()
	opts := inspect.Options(src, homeOf(path), nil)
	if live = opts.Live; live { // what its client keeps beside it may not be written yet
		res, err = w.cache.Lint(w.c.Context, src, opts)
	} else {
		res, err = inspect.NewRun(w.cache).Lint(w.c.Context, src, opts)
	}
	if _, beside := errors.AsType[*inspect.BesideError](err); beside {
		err = nil // the session itself was read
	}
	if err == nil && !live && time.Since(src.Info.ModTime()) < unsure && unnoticed(res) {
		live, opts.Live = true, true
		res, err = w.cache.Lint(w.c.Context, src, opts)
	}
	if err == nil && res.Summary.Partial != nil {
		err = res.Summary.Partial
	}
	return res, live, err
}

// judge sets the state from the findings of a session.
func (s *sessionState) judge(res *lint.Result, threshold lint.Impact) {
	s.Thread = res.Summary.Header.ID
	worst := lint.Notes
	for i := range res.Findings {
		f := &res.Findings[i]
		if !f.Impact.AtLeast(threshold) {
			continue
		}
		s.State = damagedState
		if s.Findings++; s.Worst == "" || f.Impact.AtLeast(worst) {
			worst, s.Worst = f.Impact, f.Impact.String()
		}
		if !slices.Contains(s.Rules, f.Rule.Name) {
			s.Rules = append(s.Rules, f.Rule.Name)
		}
	}
}

func (w *watchRun) tell(s sessionState) error {
	if w.c.Bool("json") {
		return format.Write(w.env.out, s)
	}
	text := fmt.Sprintf("%s  %-10s  %s", s.Time, s.State, s.Path)
	switch {
	case s.Error != "":
		text += ": " + s.Error
	case s.Findings > 0:
		text += fmt.Sprintf(": %s, worst impact %s (%s)", count(s.Findings, "finding", "findings"), s.Worst, strings.Join(s.Rules, ", "))
	}
	_, err := fmt.Fprintln(w.env.out, oneLine(text))
	return err
}

// graceOfExec is how long the command of --exec has to end after it was asked to.
const graceOfExec = 5 * time.Second

// errExecTimeout says that the command of --exec has run longer than --exec-timeout.
var errExecTimeout = errors.New("it was ended, because it ran longer than --exec-timeout")

// run runs the command of --exec, and waits for it. Its failure does not end the watching.
func (w *watchRun) run(path string) {
	ctx := w.c.Context
	if limit := w.c.Duration("exec-timeout"); limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limit, errExecTimeout)
		defer stop()
	}
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c"}
	}
	c := exec.CommandContext(ctx, shell[0], shell[1], w.c.String("exec"))
	c.Env = append(os.Environ(), "HIST_SESSION="+path)
	c.Stdout, c.Stderr = streamOf(w.env.err), streamOf(w.env.err)
	c.WaitDelay = graceOfExec
	end := inOwnGroup(c)
	err := c.Run()
	if ctx.Err() != nil {
		end(graceOfExec)
	}
	switch {
	case w.c.Context.Err() != nil: // the watching has been ended, and so has the command
	case errors.Is(context.Cause(ctx), errExecTimeout):
		w.env.complain(fmt.Sprintf("--exec for %s: %v", path, errExecTimeout))
	case err != nil:
		w.env.complain(fmt.Sprintf("--exec for %s: %v", path, err))
	}
}
