// Command hist-fleet lints and repairs the sessions of many machines, which are in object storage or in a directory.
//
// It works with any batch scheduler: that places, counts and retries tasks; hist-fleet takes a shard's number and does that
// shard. Without a scheduler one process does everything.
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"unicode"

	"github.com/urfave/cli/v3"

	"github.com/hist-cli/hist/fleet/plan"
	"github.com/hist-cli/hist/internal/gcpace"
)

func main() {
	gcpace.Set()
	os.Exit(run(os.Args, os.Stdout, os.Stderr, os.Getenv))
}

// Exit codes of every command, as hist's own.
const (
	exitOK       = 0
	exitFindings = 1
	exitUsage    = 2
	exitIO       = 3
)

const exitHelp = `EXIT STATUS:
   0  nothing at or above the threshold, or done
   1  findings at or above --fail-on (lint of a whole store, check), or something left unrepaired (repair) or not undone (undo)
   2  the command line is wrong
   3  something could not be read or written, a shard is missing, or the command was interrupted; the rest was done`

// version is set by the linker for a release.
var version = ""

// programVersion identifies the build, so that the rows of one build are never taken for those of another. A build that is
// not a release is identified by its content.
var programVersion = sync.OnceValue(func() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" && !strings.Contains(info.Main.Version, "+dirty") {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return "dev-" + ownHash()
})

// ownHash returns the beginning of the SHA-256 of the running program; if that can't be read, a random text.
func ownHash() string {
	sum := sha256.New()
	path, err := os.Executable()
	if err == nil {
		var f *os.File
		if f, err = os.Open(path); err == nil {
			defer f.Close()
			_, err = io.Copy(sum, f)
		}
	}
	if err != nil {
		return rand.Text()
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

// env is what the commands need from outside: the output streams and the environment.
type env struct {
	out, err io.Writer
	getenv   func(string) string
}

// codeError ends a command with an exit code; err is nil if everything has been printed already.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &codeError{exitUsage, fmt.Errorf(format, args...)}
}

func exit(code int) error {
	if code == exitOK {
		return nil
	}
	return &codeError{code: code}
}

// run is the whole program; args begins with its name.
func run(args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	e := &env{out: stdout, err: stderr, getenv: getenv}
	err := e.command().Run(ctx, args)
	if err == nil {
		return exitOK
	}
	var coded *codeError
	code := exitIO
	switch {
	case errors.As(err, &coded):
		code = coded.code
	case ctx.Err() != nil:
		err = errors.New("interrupted; what was finished is kept, and the same command does the rest")
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(stderr, "hist-fleet: "+strings.ReplaceAll(printable(text), "\n", "\nhist-fleet: "))
	}
	return code
}

func (e *env) command() *cli.Command {
	onUsage := func(_ context.Context, c *cli.Command, err error, _ bool) error {
		return usage("%w; see %s --help", err, c.FullName())
	}
	commands := []*cli.Command{e.planCommand(), e.lintCommand(), e.repairCommand(), e.undoCommand(), e.checkCommand()}
	for _, c := range commands {
		c.OnUsageError = onUsage
	}
	return &cli.Command{
		Name: "hist-fleet", Usage: "lint and repair the session files of AI coding agents in object storage", Version: programVersion(),
		Description: "A store is s3://BUCKET/PREFIX or a directory. The S3 service and its credentials come from the environment\n" +
			"(AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY …).\n\n" + exitHelp,
		Writer: e.out, ErrWriter: e.err, HideHelpCommand: true, Commands: commands, OnUsageError: onUsage,
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(context.Context, *cli.Command, error) {},
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				return usage("there is no command %q; see hist-fleet --help", c.Args().First())
			}
			return cli.ShowRootCommandHelp(c)
		},
	}
}

// operand returns the one address that a command takes.
func operand(c *cli.Command, what string) (string, error) {
	if n := c.Args().Len(); n != 1 {
		return "", usage("%s takes one address, %s, and got %d; see %s --help", c.Name, what, n, c.FullName())
	}
	return c.Args().First(), nil
}

// runOf is the run that is a command's only operand.
func runOf(c *cli.Command) (plan.Run, error) {
	address, err := operand(c, "a run")
	if err != nil {
		return plan.Run{}, err
	}
	run, ok := plan.ParseRun(address)
	if !ok {
		return plan.Run{}, usage("%s is not a run; name it as hist-fleet plan printed it: OUTPUT/runs/RUN", address)
	}
	return run, nil
}

// printable makes text from a store safe for a terminal and for logs.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
}

// oneLine is printable for what stands within a line: a key may hold a line break, and what follows that would look like a line of
// hist-fleet's own.
func oneLine(text string) string {
	return strings.ReplaceAll(printable(text), "\n", string(unicode.ReplacementChar))
}

func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
