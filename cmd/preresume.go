package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/decisions"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/preresume"
	"github.com/hist-cli/hist/internal/source"
)

func preResumeCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "pre-resume", Usage: "say, before a resume, whether and how a session can be resumed", ArgsUsage: "ID|PATH|--last [--exec -- COMMAND ...]",
		Description: "Exits 0 if the session can be resumed now, 1 if it needs a repair or another step first, 3 if there is none,\n4 if it is in use. Of large sessions, it reads only the head and tail. Every answer is logged: hist list --decisions.",
		Flags: []cli.Flag{
			lastFlag(), anyFlag(), agentFlag(),
			&cli.BoolFlag{Name: "all", Usage: "with --last: from any directory"},
			&cli.StringFlag{Name: "cwd", Usage: "with --last: from this `DIRECTORY`; with --card: where you work now"},
			&cli.BoolFlag{Name: "interactive", Usage: "with --via: a person's client asks, which joins a server that has the session open"},
			&cli.BoolFlag{Name: "json", Usage: "answer with one JSON object"},
			&cli.BoolFlag{Name: "card", Usage: "answer with a restart card: what to check before continuing"},
			&cli.BoolFlag{Name: "markdown", Usage: "print the card as Markdown"},
			&cli.BoolFlag{Name: "repair", Usage: "repair the session in place if that makes it resumable, but never the same bytes twice"},
			&cli.BoolFlag{Name: "exec", Usage: "if the session can be resumed, run the COMMAND after -- (default: the resume itself) and exit with its code"},
			&cli.BoolFlag{Name: "force", Usage: "with --exec: run it even if the session can't be resumed"},
			&cli.BoolFlag{Name: "deep", Usage: "read the whole session even if it is large"},
			&cli.DurationFlag{Name: "timeout", Usage: "answer after this `TIME`, e.g. 2s, with what is known by then"},
			waitFlag(),
			&cli.Int64Flag{Name: "max-size", Usage: "the largest session that you accept, in `BYTES`", DefaultText: "any"},
			&cli.StringFlag{Name: "error-file", Usage: "a `FILE` with the error of a failed resume, or - for standard input"},
			clientFlag("codex", "judge by"), clientFlag("claude", "judge by"), clientFlag("pi", "judge by"),
			&cli.StringFlag{Name: "via", Usage: "for the log: `WHAT` led to the question, e.g. argv or thread/resume; the session found then counts as used"},
			&cli.StringFlag{Name: "caller", Usage: "for the log: the `PROGRAM` that asks, e.g. my-wrapper/1.2"},
			&cli.BoolFlag{Name: "quiet", Usage: "print one line on standard error, and only if the session was repaired, can't be resumed, or is resumed with a warning"},
			&cli.BoolFlag{Name: "show-content", Usage: "include the words of the last prompt"},
		},
		Action: func(c *cli.Context) error { return (&preRun{env: e, c: c}).run() },
	}
}

type preRun struct {
	env     *env
	c       *cli.Context
	by      clients
	asked   []string // the operand, or --last
	command []string // to be run; for a resume, what is handed to the client
	resume  bool     // the command is resume: what can be resumed is repaired and run
	cwd     string
	failure string          // the text of a resume that failed, "" if none was given
	waited  time.Duration   // how long to wait for that text
	lost    *preresume.Lost // what a new thread in the directory would replace
	log     decisions.Decision
	began   time.Time
	src     *source.Source // the session as it was looked at last
}

func (p *preRun) run() error {
	c := p.c
	if err := p.flags(); err != nil {
		return err
	}
	p.begin()
	t, err := p.find()
	if err != nil {
		return err
	}
	answer, err := p.awaited(t)
	if err != nil {
		return p.instead(preresume.Unreadable(t.path, err), err)
	}
	if (p.resume || c.Bool("repair")) && answer.Damaged() {
		if err := p.consents(answer); err != nil {
			return err
		}
		if answer, err = p.repair(t, answer); err != nil {
			return err
		}
	}
	if p.lost != nil && !strings.EqualFold(p.lost.Thread, inspect.NewCopies().Original(answer.Path)) {
		answer.Replaceable = p.lost
	}
	p.warn(t, answer)
	p.note(answer)
	if p.resume && answer.OK() {
		return p.handOver(answer)
	}
	if err := p.print(t, answer); err != nil {
		return err
	}
	if c.Bool("exec") && (answer.OK() || c.Bool("force")) {
		return p.exec(answer)
	}
	if c.Bool("card") && all.Asking(answer.Thread) {
		return nil // the agent asked for its own card: there is nothing to decide, and it knows that its session is in use
	}
	p.keep()
	return exit(exitOf(answer.Verdict))
}

func exitOf(v preresume.Verdict) int {
	switch v {
	case preresume.Resumable:
		return ExitOK
	case preresume.InUse:
		return ExitInUse
	case preresume.NotFound:
		return ExitIO
	}
	return ExitFindings
}

func (p *preRun) flags() error {
	if err := p.operands(); err != nil {
		return err
	}
	if err := p.compatible(); err != nil {
		return err
	}
	var err error
	if p.by, err = judgedBy(p.c); err != nil {
		return err
	}
	if dir := p.c.String("cwd"); dir != "" || p.wantsLast() && !p.c.Bool("all") {
		if p.cwd, err = filepath.Abs(dir); err != nil {
			return noDirectory(err)
		}
	}
	return p.readError(p.c.String("error-file"))
}

// operands decides which session is asked for, and which command is to be run.
func (p *preRun) operands() error {
	c := p.c
	sessions, command := namedOperands(c)
	if !p.resume && !c.Bool("exec") { // without --exec there is no command, and -- only ends the flags
		sessions, command = append(sessions, command...), nil
	}
	p.command = command
	switch {
	case c.Bool("last") && len(sessions) > 0:
		return usage("--last and %s both name a session; give one of them", sessions[0])
	case p.wantsLast():
		p.asked = []string{"--last"}
	case len(sessions) == 0 && p.env.asks():
		path, err := p.env.pick(c, "Resume which session?")
		if err != nil {
			return err
		}
		p.asked = []string{path}
	case len(sessions) == 0 || sessions[0] == "" || sessions[0] == "-":
		return usage("%s takes a session's id or file, or --last", c.Command.Name)
	case len(sessions) > 1:
		if p.resume {
			return usage("resume takes one session; what is meant for the client comes after --")
		}
		return usage("pre-resume takes one session; a command to run needs --exec and comes after --: hist pre-resume ID --exec -- codex resume ID")
	case disk.IsDir(sessions[0]):
		return usage("%s is a directory; %s takes one session", sessions[0], c.Command.Name)
	default:
		p.asked = sessions
	}
	return nil
}

// compatible refuses flags that don't go together, and values that make no sense.
func (p *preRun) compatible() error {
	c := p.c
	for _, f := range []struct{ flag, needs string }{{"force", "exec"}, {"markdown", "card"}} {
		if c.Bool(f.flag) && !c.Bool(f.needs) {
			return usage("--%s is for --%s", f.flag, f.needs)
		}
	}
	card, json, quiet := c.Bool("card"), c.Bool("json"), c.Bool("quiet")
	switch {
	case c.Bool("any") && !p.wantsLast():
		return usage("--any is for --last")
	case c.Duration("wait") < 0:
		return usage("--wait is %s; it takes a time such as 2m", c.Duration("wait"))
	case c.Duration("timeout") < 0:
		return usage("--timeout is %s; it takes a time such as 2s", c.Duration("timeout"))
	case c.Int64("max-size") < 0:
		return usage("--max-size is %d; it takes a number of bytes", c.Int64("max-size"))
	case c.Bool("any") && c.Bool("interactive"):
		return usage("--any and --interactive exclude each other")
	case card && json, quiet && card, quiet && json:
		return usage("--card, --json and --quiet exclude each other")
	case c.String("cwd") != "" && !c.Bool("last") && !card:
		return usage("--cwd is for --last and --card")
	case c.Bool("all") && (!p.wantsLast() || c.String("cwd") != ""):
		return usage("--all is for --last, and excludes --cwd")
	}
	return nil
}

// maxError is how much of an error's text is read, in bytes.
const maxError = 1 << 20

// readError reads the text of a failed resume. Its writer may never end, so half of --timeout is spent on waiting for it; the
// other half is left for the session.
func (p *preRun) readError(path string) error {
	if path == "" {
		return nil
	}
	ctx, cancel := limited(p.c.Context, p.c.Duration("timeout")/2)
	defer cancel()
	began := time.Now()
	text, err := p.env.errorText(ctx, path)
	p.waited = time.Since(began)
	if errors.Is(err, context.DeadlineExceeded) {
		p.env.complain(fmt.Sprintf("--error-file %s: the time ran out before its end; only what came until then is looked at", oneLine(path)))
		err = nil
	}
	if err != nil {
		return fmt.Errorf("--error-file %s: %w", path, disk.Cause(err))
	}
	p.failure = text
	return nil
}

// errorText is the text of an error in a file, or in standard input for "-": what of it came before an error of reading it.
func (e *env) errorText(ctx context.Context, path string) (string, error) {
	text, err := io.ReadAll(io.LimitReader(e.fileOrInput(ctx, path), maxError))
	return string(text), err
}

// limited is a context that ends after d; 0 is no limit.
func limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

// find finds the session. If there is none, that is the answer.
func (p *preRun) find() (target, error) {
	ctx := p.c.Context
	if !p.wantsLast() {
		list, err := targets(ctx, p.asked, p.c.String("agent"))
		if err != nil {
			return target{}, err
		}
		t := list[0] // for a reverted thread, the newest file
		if t.err != nil {
			return t, p.instead(preresume.Missing(t.err), t.err)
		}
		return t, nil
	}
	h, err := p.lastHome(ctx)
	if err != nil {
		return target{}, err
	}
	if err := h.isFile(); err != nil {
		return target{}, p.instead(preresume.Missing(err), err)
	}
	any := p.c.Bool("any") || !p.resume && len(p.command) > 0 && h.agent.TakesAny(p.command[1:])
	path, err := h.last(ctx, p.cwd, any)
	if err != nil {
		return target{}, err
	}
	if p.cwd != "" {
		if p.lost, err = preresume.Replaceable(ctx, h.dir, p.cwd); err != nil {
			return target{}, err
		}
	}
	if path != "" {
		return target{path: path, home: h.dir}, nil
	}
	if p.lost == nil {
		if err := h.shut(ctx, p.cwd); err != nil {
			return target{}, p.instead(preresume.Missing(err), err)
		}
	}
	where, err := p.nowhere(h, any)
	if err != nil {
		return target{}, err
	}
	err = fmt.Errorf("no session %s", where)
	a := preresume.Missing(err)
	a.Agent, a.Replaceable = h.agent.Name, p.lost
	return target{}, p.instead(a, err)
}

// nowhere says where there is no last session, and what else the user may have meant.
func (p *preRun) nowhere(h agentHome, any bool) (where string, err error) {
	ctx := p.c.Context
	homes := []agentHome{h}
	if p.resume && !p.c.IsSet("agent") { // none of the homes has one
		if homes, err = defaultHomes(""); err != nil {
			return "", err
		}
	}
	where = "in " + dirsOf(homes)
	if p.cwd != "" {
		where += " that works in " + p.cwd
		if slices.ContainsFunc(homes, func(h agentHome) bool { path, err := h.last(ctx, "", any); return err == nil && path != "" }) {
			where += "; --all takes the last one of all directories"
		}
	}
	if h.agent.Last != nil {
		where += "; the client would silently begin a new one"
	}
	where += passedOver(ctx, homes, p.cwd, any)
	if p.cwd != "" && p.resume {
		where += maybeMoved(ctx, p.cwd)
	}
	if p.lost != nil {
		where += fmt.Sprintf("; %s ended badly there, and the client's --last passes over it: resume it by its id", p.lost.Thread)
	}
	return where, nil
}

// instead gives the answer if no session could be looked at.
func (p *preRun) instead(a *preresume.Answer, cause error) error {
	if p.c.Context.Err() != nil {
		return context.Canceled
	}
	if _, ok := errors.AsType[*exitError](cause); ok {
		return cause // the command line is wrong
	}
	p.note(a)
	if err := p.show(a); err != nil {
		return err
	}
	p.keep()
	return exit(ExitIO)
}

func (p *preRun) answer(t target) (*preresume.Answer, error) {
	src, err := source.Open(t.path)
	if err != nil {
		return nil, err
	}
	p.src = src
	left := p.c.Duration("timeout")
	ctx, cancel := limited(p.c.Context, left-min(p.waited, left/2))
	defer cancel()
	ask := preresume.Request{
		Source: src, Home: t.home, Lint: inspect.AtRest(src, t.home, p.by), Deep: p.c.Bool("deep"), MaxSize: p.c.Int64("max-size"),
		Content: p.c.Bool("show-content"), Error: p.failure, Apart: p.log.Via != "" && !p.c.Bool("interactive"),
	}
	if ask.Args = p.command; !p.resume && len(p.command) > 0 { // resume puts the client before them
		ask.Args = p.command[1:]
	}
	if file := p.c.String("error-file"); file != "-" {
		ask.From = file
	}
	a, err := source.Promptly(ctx, func() (*preresume.Answer, error) { return preresume.Look(ctx, ask) })
	if errors.Is(err, context.DeadlineExceeded) {
		return preresume.TimedOut(t.path), nil
	}
	return a, err
}

func (p *preRun) print(t target, a *preresume.Answer) error {
	if p.c.Bool("card") {
		return p.card(t)
	}
	return p.show(a)
}

// out is where the answer goes: with --exec, standard output belongs to the command.
func (p *preRun) out() io.Writer {
	if p.resume || p.c.Bool("exec") {
		return p.env.err
	}
	return p.env.out
}

// warn warns if the client would look for a session by name, or in one directory only. What the answer warns of already stays.
func (p *preRun) warn(t target, a *preresume.Answer) {
	add := func(format string, args ...any) { a.Warn(fmt.Sprintf(format, args...)) }
	if dir := p.log.CWD; t.name != "" && dir != "" && a.CWD != "" && dir != a.CWD {
		add("%s finds a thread by its name in the thread's own directory only: in %s it would begin a new one; resume it by its id", a.Agent, dir)
	}
	if elsewhere(a, p.log.CWD) && !a.CWDMissing {
		add("this version of the client finds the session only in the directory that it was begun in: run the resume in %s", a.Dir())
	}
}

// elsewhere says whether the client finds the session only in another directory than dir.
func elsewhere(a *preresume.Answer, dir string) bool {
	if a.Dir() == "" || dir == "" || a.Dir() == dir {
		return false
	}
	real, err := filepath.EvalSymlinks(dir)
	return err != nil || a.Dir() != real
}
