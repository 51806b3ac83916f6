package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/gcpace"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/shim/front"
	"github.com/hist-cli/hist/internal/shim/socket"
	"github.com/hist-cli/hist/lint"
)

// version is set by the linker for a release; otherwise the module's own is shown.
var version = ""

// unversioned is the version of a program that was built without its release and without its commit.
const unversioned = "dev"

// Version is which release or commit this is.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unversioned
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return strings.TrimPrefix(v, "v")
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = "-" + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "-modified"
		}
	}
	return unversioned + commit + changed
}

// versionWords is what --version prints.
func versionWords() string {
	if v := Version(); v != unversioned {
		return "hist version " + v
	}
	return "hist version " + unversioned + " (built without its commit; go build -buildvcs=true records it)"
}

func versionCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version",
		Description: "The release, or the commit that this program was built from.",
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usage("version takes no arguments")
			}
			fmt.Fprintln(e.out, versionWords())
			return nil
		},
	}
}

// env is what a command works with: the streams it may read and write.
type env struct {
	in       io.Reader
	out, err io.Writer
	command  string // that was asked for, with the program's name
}

// Main runs the command line and returns the exit code. The first of args is the program's name.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == front.RelayName {
		return socket.Main(args[1:]) // a relay for streams has run earlier: see internal/shim/relay
	}
	gcpace.Set()
	ctx, stop := untilSignalled(context.Background())
	defer stop()
	// If the signal is handled, a reader that has gone away is an error of the write, and unfinished work is cleaned up.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	out := &checkedOutput{Writer: guarded(stdout)}
	e := &env{in: &input{ctx: ctx, in: stdin}, out: out, err: guarded(stderr)}
	app := newApp(e)
	ordered, err := operandsLast(app, args)
	e.command = app.Name
	if i := slices.IndexFunc(args, func(a string) bool { return app.Command(a) != nil }); i > 0 {
		e.command += " " + args[i]
	}
	if err == nil {
		shared, remove := disk.WithScratch(ctx)
		err = app.RunContext(shared, ordered)
		remove()
	}
	if err == nil && out.failed != nil { // most code that prints ignores the error
		err = fmt.Errorf("writing to standard output: %w", out.failed)
	}
	return e.finish(ctx, err)
}

// finish prints an error as one line with a hint where there is one, and returns the exit code.
func (e *env) finish(ctx context.Context, err error) int {
	if err == nil {
		return ExitOK
	}
	code := ExitIO
	coded, isCoded := errors.AsType[*exitError](err)
	switch {
	case errors.Is(err, syscall.EPIPE):
		signal.Reset(syscall.SIGPIPE)
		fmt.Fprintln(e.out) // ends the program as it does others
		return code
	case isCoded:
		code = coded.code
	case errors.Is(err, context.Canceled):
		err = errors.New("interrupted; nothing that was under way has been changed")
		if s, ok := errors.AsType[signalled](context.Cause(ctx)); ok {
			code = afterSignal + int(s.number)
		}
	}
	e.report(err)
	return code
}

// report prints an error, and a next step where its text names none.
func (e *env) report(err error) {
	if text := err.Error(); text != "" {
		e.complain(text + e.step(err, text))
	}
}

// step is what to do next about an error whose text does not say it.
func (e *env) step(err error, text string) string {
	busy, inUse := errors.AsType[*disk.Busy](err)
	coded, isCoded := errors.AsType[*exitError](err)
	_, absent := errors.AsType[*unreachable](err)
	switch {
	case strings.Contains(text, "hist ") && !errors.Is(err, agent.ErrUnclaimed):
	case inUse && busy.Free != nil:
		return "; " + format.Command(busy.Free...) + " makes it let go"
	case errors.Is(err, runs.ErrNoRun):
		return "; hist runs lists them"
	case inUse && busy.PID != 0:
		return "; run this again once it has ended"
	case errors.Is(err, agent.ErrUnclaimed), absent && errors.Is(err, fs.ErrNotExist):
		return "; hist list shows the sessions that there are"
	case isCoded && coded.code == ExitUsage && !strings.ContainsAny(text, "\n?"):
		return "; see " + e.command + " --help"
	}
	return ""
}

// complain prints an error. Each of its lines begins with the same words, so that no file's name can make a CI server take one
// for a command.
func (e *env) complain(text string) {
	fmt.Fprintln(e.err, "hist: "+strings.ReplaceAll(printable(text), "\n", "\nhist: "))
}

func newApp(e *env) *cli.App {
	cli.HelpPrinter = e.help
	cli.VersionFlag = &cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Usage: "print the version"}
	cli.VersionPrinter = func(*cli.Context) { fmt.Fprintln(e.out, versionWords()) }
	app := &cli.App{
		Name:            "hist",
		Usage:           "find and repair damage in the session files of AI coding agents",
		UsageText:       "hist COMMAND [options] [PATH|ID ...]",
		Description:     "If a session does not resume, or has silently forgotten things, a few lines of its file are usually damaged. lint\nsays what is wrong and what the agent does with it; repair writes a copy that resumes.",
		Version:         Version(),
		HideHelpCommand: true, UseShortOptionHandling: true, DisableSliceFlagSeparator: true,
		Reader: e.in, Writer: e.out, ErrWriter: e.err,
		Commands: []*cli.Command{
			doctorCommand(e),
			lintCommand(e),
			listCommand(e),
			showCommand(e),
			explainCommand(e),
			watchCommand(e),

			repairCommand(e),
			resumeCommand(e),
			undoCommand(e),
			runsCommand(e),

			slimCommand(e),
			cutCommand(e),
			forkCommand(e),
			moveCommand(e),
			redactCommand(e),
			joinCommand(e),
			handoffCommand(e),
			exportCommand(e),

			preResumeCommand(e),
			shimCommand(e),
			pluginCommand(e),
			cacheCommand(e),
			completionCommand(e),
			manCommand(e),
			versionCommand(e),
		},
		ExitErrHandler:  func(*cli.Context, error) {},
		OnUsageError:    onUsageError,
		CommandNotFound: func(*cli.Context, string) {},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usage("there is no command %q%s", c.Args().First(), commandMeant(c.Args().First(), c.App))
			}
			if isTerminal(e.out) {
				e.welcome()
				return nil
			}
			return cli.ShowAppHelp(c)
		},
	}
	for _, c := range app.Commands {
		c.HideHelpCommand, c.OnUsageError = true, onUsageError // no command is called "help", or "h": a file may have that name, and there is the flag
		if names := longNames(c.Flags); slices.Contains(names, "json") && !slices.Contains(names, "format") {
			withFormat(c)
		}
	}
	return app
}

// withFormat gives a command that answers with --json the option --format, too: programs ask every command in the same way.
func withFormat(c *cli.Command) {
	c.Flags = append(c.Flags, &cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "text", Usage: "`FORMAT` of the answer: text, or json, which is --json"})
	c.Before = func(c *cli.Context) error {
		switch f := c.String("format"); f {
		case "text":
			return nil
		case "json":
			return c.Set("json", "true")
		default:
			return usage("--format is %q; it takes text or json", f)
		}
	}
}

func onUsageError(c *cli.Context, err error, _ bool) error {
	name := c.App.Name
	var flags []cli.Flag
	if c.Command != nil {
		flags = c.Command.Flags
		if c.Command.Name != "" && c.Command.Name != name {
			name += " " + c.Command.Name
		}
	}
	if flag, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		return usage("there is no option %q%s", flag, meantOr(strings.TrimLeft(flag, "-"), longNames(flags), "; see "+name+" --help"))
	}
	if m := invalidValue.FindStringSubmatch(err.Error()); m != nil {
		takes := "a whole number"
		if slices.ContainsFunc(flags, func(f cli.Flag) bool { _, ok := f.(*cli.DurationFlag); return ok && f.Names()[0] == m[2] }) {
			takes = "a time such as 500ms, 2s or 1m"
		}
		return usage("--%s is %s; it takes %s", m[2], m[1], takes)
	}
	if m := invalidBool.FindStringSubmatch(err.Error()); m != nil {
		return usage("--%s takes no value, but has %s", m[2], m[1])
	}
	return usage("%w; see %s --help", err, name)
}

// invalidValue is how the command-line library reports a value that is not a number or a time.
var invalidValue = regexp.MustCompile(`(?s)^invalid value (".*") for flag -([a-z-]+): `)

// invalidBool is how it reports a value of a flag that takes none.
var invalidBool = regexp.MustCompile(`(?s)^invalid boolean value (".*") for -([a-z-]+): `)

// clients are the versions of clients by which sessions are judged, by agent; "" if none was named.
type clients map[string]string

// agentTitles are the agents that have such a flag.
var agentTitles = map[string]string{"codex": "Codex (default: the newest known)", "claude": "Claude Code (default: the one that wrote the session and the newest known)", "pi": "pi (default: the newest known)"}

// clientFlag is the flag that names the version of one agent's client; verb says what the command does with it.
func clientFlag(agent, verb string) cli.Flag {
	return &cli.StringFlag{Name: "for-" + agent, Usage: verb + " this `VERSION` of " + agentTitles[agent]}
}

// judgedBy is by which clients the command line wants sessions to be judged. It checks the provider that they are to go on with, too.
func judgedBy(c *cli.Context) (clients, error) {
	by := clients{}
	for _, f := range []struct{ agent, like string }{{"codex", "0.153 or 0.153.4"}, {"claude", "2.1.2"}, {"pi", "0.87.1"}} {
		v := c.String("for-" + f.agent)
		if v != "" && !versionForm.MatchString(v) {
			return nil, usage("--for-%s is %q; it takes a version such as %s", f.agent, v, f.like)
		}
		by[f.agent] = v
	}
	if err := lint.CheckProvider(c.String("provider")); err != nil {
		return nil, usage("%w", err)
	}
	return by, nil
}

func providerFlag() cli.Flag {
	return &cli.StringFlag{Name: "provider", Usage: "the `API` that the session goes on with, if it is another than the session's own: " + strings.Join(lint.Providers(), ", ") + "; =NAME behind it is the provider's name in Codex's config"}
}

var versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+(\.[0-9A-Za-z.-]+)?$`)

// afterSignal is what a shell adds to a signal's number to make the exit code.
const afterSignal = 128

// signalled is the cause of a context that was cancelled by a signal.
type signalled struct{ number syscall.Signal }

func (s signalled) Error() string { return "signal: " + s.number.String() }

// untilSignalled returns a context that the first signal cancels; its cause is a signalled.
func untilSignalled(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	came := make(chan os.Signal, 1)
	signal.Notify(came, endings()...)
	go func() {
		select {
		case s := <-came:
			number, _ := s.(syscall.Signal)
			cancel(signalled{number})
			signal.Stop(came) // a second signal ends the program at once, whatever it is doing
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(came)
		cancel(context.Canceled)
	}
}

// endings are the signals that end the program. One that is to outlive its terminal (nohup) is not ended by that.
func endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}
