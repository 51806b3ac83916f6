package cmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/preresume"
)

func lastFlag() cli.Flag {
	return &cli.BoolFlag{Name: "last", Usage: "instead of a path or an id: the session that codex resume --last would pick here, or claude --continue with --agent claude", DisableDefaultText: true}
}

// agentFlag selects the agent whose sessions are meant if no path is given.
func agentFlag() cli.Flag {
	return &cli.StringFlag{Name: "agent", Usage: "use the home of this `AGENT` only: " + strings.Join(all.Names(), " or ") + " (--last means " + all.Names()[0] + " without it)"}
}

// lastAgent is the agent whose last session is asked for, and its home.
func lastAgent(c *cli.Context) (agentHome, error) {
	name := cmp.Or(c.String("agent"), all.Names()[0])
	for _, h := range all.Homed() {
		if h.Name() == name {
			dir, err := h.DefaultHome()
			return agentHome{h, dir}, err
		}
	}
	return agentHome{}, usage("--agent is %q; it takes %s", c.String("agent"), strings.Join(all.Names(), " or "))
}

// last is the file of the session that the home's client would take as the last one of a directory, "" if there is none.
func (h agentHome) last(ctx context.Context, dir string, interactive bool) (string, error) {
	if l, ok := h.agent.(agent.Continuer); ok {
		return l.Last(ctx, h.dir, dir)
	}
	s, err := preresume.Last(ctx, h.dir, dir, interactive)
	if err != nil || s == nil {
		return "", err
	}
	return s.Path, nil
}

// otherLast names another agent that has a last session in a directory.
func otherLast(ctx context.Context, not agentHome, dir string) string {
	homes, err := defaultHomes("")
	if err != nil {
		return ""
	}
	for _, h := range homes {
		if h.agent.Name() == not.agent.Name() {
			continue
		}
		if path, err := h.last(ctx, dir, false); err == nil && path != "" {
			return fmt.Sprintf("; %s has one there: --agent %s", h.agent.Title(), h.agent.Name())
		}
	}
	return ""
}

// noDirectory is the error if the last session of the working directory is asked for, but that directory is gone.
func noDirectory(err error) error {
	return fmt.Errorf("looking for the last session of this directory: %w; go to one that is there", err)
}

// operandsOf are a command's operands. With --last, it is the file of this directory's last session.
func operandsOf(c *cli.Context) ([]string, error) {
	operands := c.Args().Slice()
	if last, ok := c.Value("last").(bool); !ok || !last { // hist cut has a --last that takes a number
		return operands, nil
	}
	if len(operands) > 0 {
		return nil, usage("--last and %s both name a session; give one of them", operands[0])
	}
	h, err := lastAgent(c)
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, noDirectory(err)
	}
	path, err := h.last(c.Context, dir, false)
	if err != nil {
		return nil, err
	}
	if path == "" {
		return nil, fmt.Errorf("no session in %s that works in %s; hist list shows all%s", h.dir, dir, otherLast(c.Context, h, dir))
	}
	return []string{path}, nil
}
