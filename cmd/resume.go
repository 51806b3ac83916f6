package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/preresume"
)

func resumeCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "resume", Usage: "check a session, repair it if need be, and resume it with its own client", ArgsUsage: "[ID|NAME|PATH|--last] [-- ARGUMENT ...]",
		Description: "Without a session: the last one of this directory, of whichever agent worked here last. A damaged session is\nrepaired in place, which hist undo takes back; on a terminal hist asks first. What follows -- is handed to\nthe client.",
		Flags: []cli.Flag{
			lastFlag(), anyFlag(), agentFlag(),
			&cli.BoolFlag{Name: "all", Usage: "without a session: the last one of all directories"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "repair without asking"},
			waitFlag(),
			clientFlag("codex", "judge by"), clientFlag("claude", "judge by"), clientFlag("pi", "judge by"),
		},
		Action: func(c *cli.Context) error { return (&preRun{env: e, c: c, resume: true}).run() },
	}
}

func waitFlag() cli.Flag {
	return &cli.DurationFlag{Name: "wait", Usage: "if somebody has the session open, wait up to this `TIME` for it, e.g. 2m"}
}

// waiting is the command that resumes a session which somebody has open.
func waiting(id, path string) []string {
	return []string{"hist", "resume", "--wait", "2m", nameOf(id, path)}
}

// pause is the time between two looks at a session that is waited for.
const pause = time.Second

// awaited answers once nobody has the session open any more, or --wait is over.
func (p *preRun) awaited(t target) (*preresume.Answer, error) {
	deadline := time.Now().Add(p.c.Duration("wait"))
	for told := false; ; told = true {
		a, err := p.answer(t)
		if err != nil || a.Verdict != preresume.InUse || time.Now().Add(pause).After(deadline) {
			return a, err
		}
		if !told && !p.c.Bool("quiet") {
			p.env.complain(fmt.Sprintf("waiting up to %s: %s", p.c.Duration("wait"), a.Reason))
		}
		select {
		case <-p.c.Context.Done():
			return nil, context.Canceled
		case <-time.After(pause):
		}
	}
}

// wantsLast says whether the last session is asked for: for a resume, also by naming none.
func (p *preRun) wantsLast() bool {
	if p.c.Bool("last") {
		return true
	}
	sessions, _ := namedOperands(p.c)
	return p.resume && len(sessions) == 0
}

// lastHome is the home whose last session is meant. For a resume without --agent it is that of the agent which worked in the
// directory last.
func (p *preRun) lastHome(ctx context.Context) (agentHome, error) {
	if !p.resume || p.c.IsSet("agent") {
		return lastAgent(p.c)
	}
	homes, err := defaultHomes("")
	if err != nil {
		return agentHome{}, err
	}
	best, changed := homes[0], time.Time{}
	for _, h := range homes {
		path, err := h.last(ctx, p.cwd, p.c.Bool("any"))
		if err != nil || path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.ModTime().After(changed) {
			best, changed = h, info.ModTime()
		}
	}
	return best, nil
}

// consents asks, before a resume, whether a damaged session may be repaired. Where nobody can be asked, the command line has
// said so.
func (p *preRun) consents(a *preresume.Answer) error {
	if !p.resume || p.c.Bool("yes") || !p.env.asks() {
		return nil
	}
	if err := p.show(a); err != nil {
		return err
	}
	copied := copyOf(p.c.Context, inspect.NewCopies(), a.Path).Thread
	if copied != "" {
		p.env.complain("note: it has a repaired copy: " + format.Command("hist", "resume", copied) + " goes on with that")
	}
	ok, err := p.env.agreed("Repair it in place, and resume it? (hist undo takes the repair back)")
	switch {
	case err != nil:
		return err
	case !ok && copied != "":
		return &exitError{ExitFindings, fmt.Errorf("nothing was changed; its repaired copy is there: %s", format.Command("hist", "resume", copied))}
	case !ok:
		return &exitError{ExitFindings, fmt.Errorf("nothing was changed; %s makes a repaired copy and leaves the original alone", format.Command("hist", "repair", repairOperand(a)))}
	}
	return nil
}

// handOver runs the session's own client, with the arguments that follow --.
func (p *preRun) handOver(a *preresume.Answer) error {
	if len(a.Resume) == 0 {
		return errors.New("hist knows no command that resumes this session")
	}
	p.env.brief(a)
	p.command = append(a.Resume[:len(a.Resume):len(a.Resume)], p.command...)
	fmt.Fprintln(p.env.err, oneLine(fromHere(a.CWD, p.command)))
	return p.exec(a)
}
