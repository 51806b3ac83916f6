package cmd

import (
	"bytes"
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

	"github.com/hist-cli/hist/internal/decisions"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/shim/front"
)

func shimCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "shim", Usage: "put hist in front of codex, so that it checks every session before the client reads it", ArgsUsage: "install DIR [codex|codex-acp] | remove DIR | status",
		Description: "install creates DIR/codex, a link to hist, and DIR/codex-acp if that program is found or asked for. Put DIR before the\n" +
			"client's directory in PATH. Called by such a name, hist checks the session that is named on the command line, or in a\n" +
			"message to an app-server or to codex-acp, repairs it if that helps, and becomes the client, which always has the last\n" +
			"word.\n\n" +
			"HIST_CODEX and HIST_CODEX_ACP name the client (default: the next of that name in PATH); HIST_SHIM is off, check or\n" +
			"repair (the default); HIST_SHIM_REJOIN=1 resumes a lost thread instead of starting a new one; HIST_SHIM_TIMEOUT\n" +
			"limits one check (2s).",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "rejoin", Usage: "install: resume a lost thread instead of starting a new one, as HIST_SHIM_REJOIN=1 does, from now on; remove ends it"},
		},
		Action: e.shim,
	}
}

func (e *env) shim(c *cli.Context) error {
	args, verb := c.Args().Slice(), c.Args().First()
	switch {
	case c.Bool("rejoin") && verb != "install":
		return usage("--rejoin is for hist shim install")
	case verb == "status" && len(args) == 1:
		return e.shimStatus(c)
	case verb != "install" && verb != "remove":
		return usage("shim takes install DIR, remove DIR or status; see hist shim --help")
	case len(args) < 2 || args[1] == "" || len(args) > 3 || len(args) == 3 && verb == "remove":
		return usage("shim %s takes one directory; see hist shim --help", verb)
	}
	dir, err := filepath.Abs(args[1])
	if err != nil {
		return err
	}
	if verb == "remove" {
		return e.shimRemove(dir)
	}
	programs := foundPrograms()
	if len(args) == 3 {
		i := slices.IndexFunc(front.Programs[:], func(p front.Program) bool { return p.Name == args[2] })
		if i < 0 {
			return usage("shim install: hist can't run in front of %q, only in front of codex and codex-acp", args[2])
		}
		programs = []*front.Program{&front.Programs[i]}
	}
	for _, p := range programs {
		if err := e.shimInstall(c.Context, dir, p); err != nil {
			return err
		}
	}
	if !c.Bool("rejoin") {
		return nil
	}
	if err := front.Keep(true); err != nil {
		return fmt.Errorf("keeping that lost threads are resumed: %w", err)
	}
	return e.tell("a thread that was lost to an error is resumed from now on: a caller that means to begin a new one within half an hour gets the old one back; hist shim remove DIR ends it\n")
}

func (e *env) shimRemove(dir string) error {
	removed, err := removeShims(dir)
	err = errors.Join(err, front.Keep(false))
	for _, path := range removed {
		if err := e.tell("removed %s\n", path); err != nil {
			return err
		}
	}
	if err != nil && len(removed) == 0 {
		return fmt.Errorf("removing the shim from %s: %w; nothing was changed", dir, disk.Cause(err))
	}
	return err
}

func (e *env) tell(format string, args ...any) error {
	_, err := fmt.Fprint(e.out, printable(fmt.Sprintf(format, args...)))
	return writing("the answer", err)
}

func (e *env) shimInstall(ctx context.Context, dir string, program *front.Program) error {
	path, err := installShim(ctx, dir, program)
	if errors.Is(err, errNoShim) {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	if err != nil {
		return fmt.Errorf("installing the shim in %s: %w", dir, disk.Cause(err))
	}
	if err := e.tell("installed %s\n", path); err != nil {
		return err
	}
	reached := reachedBy(program.Name)
	switch {
	case reached == "":
		return e.tell("no %s is in PATH; put %s before the client's directory there\n", program.Name, dir)
	case sameFile(reached, path):
		return e.tell("PATH reaches it; hist shim status says which client is behind it\n")
	}
	return e.tell("PATH reaches %s first: put %s before %s there, e.g. %s\n", reached, dir, filepath.Dir(reached), first(dir))
}

// first is the shell's command that puts a directory first in PATH; on Windows it is PowerShell's.
func first(dir string) string {
	if runtime.GOOS == "windows" {
		return `$env:Path = "` + dir + `;$env:Path"`
	}
	return "export PATH=" + format.Command(dir) + ":$PATH"
}

// sameFile says whether two paths name the same entry of the same directory.
func sameFile(a, b string) bool {
	one, err := os.Lstat(a)
	other, err2 := os.Lstat(b)
	return err == nil && err2 == nil && os.SameFile(one, other)
}

// shownDecisions is how many of the newest decisions the status shows.
const shownDecisions = 10

func (e *env) shimStatus(c *cli.Context) error {
	stands := false
	for _, program := range foundPrograms() {
		text, one := standing(c.Context, program)
		stands = stands || one
		if err := e.tell("%s", text); err != nil {
			return err
		}
	}
	rejoin := "off"
	switch {
	case front.Rejoins() && front.Kept():
		rejoin = "on, kept by hist shim install --rejoin"
	case front.Rejoins():
		rejoin = "on"
	}
	if err := e.tell("  %-14s %s\n  %-14s %s\n", "mode", front.ModeOf(), "rejoin", rejoin); err != nil {
		return err
	}
	for _, line := range front.Warnings() {
		e.complain(line)
	}
	all, err := decisions.Read()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(d decisions.Decision) bool { return d.Via == "" })
	all = all[max(0, len(all)-shownDecisions):]
	slices.Reverse(all)
	if err := decisionTable(e.out, all, widthOf(e.out)); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	if !stands {
		return exit(ExitFindings)
	}
	return nil
}

// standing describes the shim of one program in two lines: which program PATH leads to, and which client is behind it. stands says
// that a shim is reached, and has one.
func standing(ctx context.Context, program *front.Program) (text string, stands bool) {
	reached, client := reachedBy(program.Name), clientOf(program)
	shim := reached != "" && isShim(reached)
	stands = shim && client != ""
	switch {
	case shim:
		reached += ", a shim"
	case reached != "":
		reached += ", not a shim"
	default:
		reached = "no " + program.Name
	}
	if client != "" {
		client += ", version " + orUnknown(versionOf(ctx, client))
	} else {
		client = "none: neither " + program.ClientVar + " nor PATH leads to one"
	}
	return fmt.Sprintf("  %-14s %s\n  %-14s %s\n", "PATH reaches", reached, "client", client), stands
}

// errNoShim says that the file where the shim belongs is something else.
var errNoShim = errors.New("it is not a shim of hist's")

// installShim creates the shim of a program in a directory, and the directory if it does not exist: a link to hist, or a copy
// of it where the system has no links. An existing shim is replaced. It returns the shim's path; the error is errNoShim if
// some other file is there.
func installShim(ctx context.Context, dir string, program *front.Program) (string, error) {
	path := filepath.Join(dir, program.File())
	self, err := os.Executable()
	if err != nil {
		return path, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return path, err
	}
	if err := removeShim(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	if err := os.Symlink(self, path); err == nil {
		return path, nil
	}
	return path, publish.Write(ctx, publish.Target{Path: path, Mode: 0o755}, publish.CopyOf(self), publish.Checks{})
}

// removeShims deletes all shims in a directory and returns their paths. The error is errNoShim if a file with the name of one is
// not a shim, and fs.ErrNotExist if there are none.
func removeShims(dir string) (removed []string, err error) {
	for i := range front.Programs {
		path := filepath.Join(dir, front.Programs[i].File())
		switch err := removeShim(path); {
		case err == nil:
			removed = append(removed, path)
		case !errors.Is(err, fs.ErrNotExist):
			return removed, err
		}
	}
	if len(removed) == 0 {
		return nil, fs.ErrNotExist
	}
	return removed, nil
}

func removeShim(path string) error {
	if _, err := os.Lstat(path); err != nil {
		return err
	}
	if !isShim(path) {
		return fmt.Errorf("%s: %w", path, errNoShim)
	}
	return os.Remove(path)
}

// isShim says whether the program at path is a shim: this program or a link to hist, or a copy of this program.
func isShim(path string) bool {
	if front.IsShim(path) {
		return true
	}
	self, err := os.Executable()
	return err == nil && sameContent(self, path)
}

func sameContent(a, b string) bool {
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	if err != nil || err2 != nil || one.Size() != other.Size() {
		return false
	}
	x, err := os.ReadFile(a)
	y, err2 := os.ReadFile(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// reachedBy returns the program that typing a name runs, the first in PATH; "" if there is none.
func reachedBy(name string) string {
	path, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return ""
	}
	return path
}

// foundPrograms returns the programs whose real client is installed on this machine, and Codex in any case.
func foundPrograms() []*front.Program {
	list := []*front.Program{&front.Programs[0]}
	for i := range front.Programs[1:] {
		if p := &front.Programs[1+i]; clientOf(p) != "" {
			list = append(list, p)
		}
	}
	return list
}

// clientOf returns the path of the client behind the shim of a program, "" if there is none.
func clientOf(program *front.Program) string {
	for tried := []string{}; ; {
		client, found := program.Next(tried)
		if !found || !isShim(client) {
			return client
		}
		tried = append(tried, client)
	}
}

// versionTimeout is how long a client may take to print its version.
const versionTimeout = 5 * time.Second

// saidVersion is what a client prints when it is asked for its version, "" if it does not answer in time.
func saidVersion(ctx context.Context, client string) string {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, client, "--version")
	c.WaitDelay = time.Second
	out, err := c.Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// versionOf is the version of a Codex client, which stands behind its name.
func versionOf(ctx context.Context, client string) string {
	words := strings.Fields(saidVersion(ctx, client))
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
