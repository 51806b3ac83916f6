package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/decisions"
	"github.com/hist-cli/hist/internal/shim"
	"github.com/hist-cli/hist/internal/shim/front"
)

func shimCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "shim", Usage: "put hist in front of codex, so that every resume is looked at before the client reads it", ArgsUsage: "install DIR | remove DIR | status",
		Description: "install makes DIR/codex, a link to hist; DIR has to come before the client's directory in PATH. Under that name\n" +
			"hist looks at the session that a command line or a message to an app-server names, repairs it where a repair mends\n" +
			"it, and becomes the client, which always has the last word.\n\n" +
			"HIST_CODEX names the client (else it is the next codex in PATH); HIST_SHIM is off, check or repair (the default);\n" +
			"HIST_SHIM_REJOIN=1 takes up a lost thread in place of a new one; HIST_SHIM_TIMEOUT is for one look (2s).",
		OnUsageError: onUsageError, Action: e.shim,
	}
}

func (e *env) shim(c *cli.Context) error {
	args := c.Args().Slice()
	verb := ""
	if len(args) > 0 {
		verb = args[0]
	}
	switch {
	case verb == "status" && len(args) == 1:
		return e.shimStatus(c)
	case verb != "install" && verb != "remove":
		return usage("shim takes install DIR, remove DIR or status; see hist shim --help")
	case len(args) != 2 || args[1] == "":
		return usage("shim %s takes one directory; see hist shim --help", verb)
	}
	dir, err := filepath.Abs(args[1])
	if err != nil {
		return err
	}
	if verb == "install" {
		return e.shimInstall(dir)
	}
	if err := shim.Remove(dir); err != nil {
		return fmt.Errorf("removing the shim from %s: %w; nothing was changed", dir, plain(err))
	}
	return e.tell("removed the shim from %s\n", dir)
}

func (e *env) tell(format string, args ...any) error {
	if _, err := fmt.Fprint(e.out, printable(fmt.Sprintf(format, args...))); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}

func (e *env) shimInstall(dir string) error {
	path, err := shim.Install(dir)
	if errors.Is(err, shim.ErrForeign) {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	if err != nil {
		return fmt.Errorf("installing the shim in %s: %w", dir, plain(err))
	}
	if err := e.tell("installed %s\n", path); err != nil {
		return err
	}
	reached := shim.Reached()
	switch {
	case reached == "":
		return e.tell("no codex is in PATH; put %s before the client's directory there\n", dir)
	case sameFile(reached, path):
		return e.tell("PATH reaches it; hist shim status says which client is behind it\n")
	}
	return e.tell("PATH reaches %s first: put %s before %s there, e.g. export PATH=%s:$PATH\n", reached, dir, filepath.Dir(reached), dir)
}

// sameFile says whether two paths are one entry of one directory, whichever way they lead there.
func sameFile(a, b string) bool {
	one, err := os.Lstat(a)
	if err != nil {
		return false
	}
	other, err := os.Lstat(b)
	return err == nil && os.SameFile(one, other)
}

// shownDecisions is how many of the newest decisions the status shows.
const shownDecisions = 10

func (e *env) shimStatus(c *cli.Context) error {
	s := shim.Look(c.Context)
	reached := cmp.Or(s.Reached, "no codex")
	switch {
	case s.Shim:
		reached += ", a shim"
	case s.Reached != "":
		reached += ", not a shim"
	}
	client := "none: neither " + front.ClientVar + " nor PATH leads to one"
	if s.Client != "" {
		client = s.Client + ", version " + orUnknown(s.Version)
	}
	rejoin := "off"
	if s.Rejoin {
		rejoin = "on"
	}
	if err := e.tell("  PATH reaches   %s\n  client         %s\n  mode           %s\n  rejoin         %s\n", reached, client, s.Mode, rejoin); err != nil {
		return err
	}
	all, err := decisions.Read()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(d decisions.Decision) bool { return d.Via == "" })
	all = all[max(0, len(all)-shownDecisions):]
	slices.Reverse(all)
	if err := decisionTable(e.out, all); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	if !s.Shim || s.Client == "" {
		return exit(ExitFindings)
	}
	return nil
}
