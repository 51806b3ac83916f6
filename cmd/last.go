package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/preresume"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
)

func lastFlag() cli.Flag {
	return &cli.BoolFlag{Name: "last", Usage: "instead of a path or an id: the session that codex resume --last would pick here, or claude --continue with --agent claude"}
}

// anyFlag widens --last to what those clients pass over.
func anyFlag() cli.Flag {
	return &cli.BoolFlag{Name: "any", Usage: "with --last: also sessions that codex exec, claude -p or another program began"}
}

// agentFlag selects the agent whose sessions are meant if no path is given.
func agentFlag() cli.Flag {
	return &cli.StringFlag{Name: "agent", Usage: "use the home of this `AGENT` only: " + strings.Join(all.Names(), " or ") + " (--last means " + all.Names()[0] + " without it)"}
}

// lastAgent is the agent whose last session is asked for, and its home.
func lastAgent(c *cli.Context) (agentHome, error) {
	name := cmp.Or(c.String("agent"), all.Names()[0])
	for _, h := range all.Homed() {
		if h.Name == name {
			dir, err := h.DefaultHome()
			return agentHome{h, dir}, err
		}
	}
	return agentHome{}, usage("--agent is %q; it takes %s", c.String("agent"), strings.Join(all.Names(), " or "))
}

// last is the file of the session that the home's client would take as the last one of a directory, "" if there is none. With
// any, sessions that no person began count, too.
func (h agentHome) last(ctx context.Context, dir string, any bool) (string, error) {
	if h.agent.Last != nil {
		return h.agent.Last(ctx, h.dir, dir, any)
	}
	s, err := preresume.Last(ctx, h.dir, dir, any)
	if err != nil || s == nil {
		return "", err
	}
	return s.Path, nil
}

// shut is why a folder or a session of the home may not be looked into in which a session of a directory may lie, nil if all may: where none
// was found, there may be one. "" are all directories.
func (h agentHome) shut(ctx context.Context, dir string) (shut error) {
	top := h.agent.LiveAt(h.dir)
	if h.agent.FolderFor != nil && dir != "" {
		if folder, err := h.agent.FolderFor(h.dir, dir); err == nil {
			top = folder
		}
	}
	err := walk.Walk(ctx, top, func(e walk.Entry) error {
		err := e.Err
		if err == nil {
			var f *os.File
			if f, err = disk.Open(e.Path); err == nil {
				return f.Close()
			}
		}
		if errors.Is(err, fs.ErrPermission) {
			shut = cmp.Or(shut, fmt.Errorf("%s: %w", e.Path, walk.Denied(e.Path, disk.Cause(err))))
		}
		return nil
	})
	if errors.Is(err, fs.ErrPermission) {
		return walk.Denied(h.dir, err)
	}
	return shut
}

// passedOver says that there is a session in a directory that only --any takes, or that another agent has a last one there.
func passedOver(ctx context.Context, homes []agentHome, dir string, any bool) string {
	for _, h := range homes {
		if path, err := h.last(ctx, dir, true); err == nil && path != "" && !any {
			return "; --any takes " + idOf(path) + ", which no person began"
		}
	}
	return otherLast(ctx, homes[0], dir)
}

// idOf is the id that the name of a session's file holds, else its base name.
func idOf(path string) string {
	name := lint.NameOf(path, true)
	return oneLine(cmp.Or(name.FileID, name.ThreadID, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))))
}

// otherLast names another agent that has a last session in a directory.
func otherLast(ctx context.Context, not agentHome, dir string) string {
	homes, _ := defaultHomes("") // none if they are not known
	for _, h := range homes {
		if h.agent.Name == not.agent.Name {
			continue
		}
		if path, err := h.last(ctx, dir, false); err == nil && path != "" {
			return fmt.Sprintf("; %s has one there: --agent %s", h.agent.Title, h.agent.Name)
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
		if c.Bool("any") {
			return nil, usage("--any is for --last")
		}
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
	path, err := h.last(c.Context, dir, c.Bool("any"))
	if err != nil {
		return nil, err
	}
	if path == "" {
		if err := h.shut(c.Context, dir); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("no session in %s that works in %s; hist list shows all%s", h.dir, dir, passedOver(c.Context, []agentHome{h}, dir, c.Bool("any")))
	}
	return []string{path}, nil
}
