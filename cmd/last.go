package cmd

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/preresume"
)

func lastFlag() cli.Flag {
	return &cli.BoolFlag{Name: "last", Usage: "the session that codex resume --last would take here, instead of a path or an id", DisableDefaultText: true}
}

// operandsOf are a command's operands; with --last the file of the last session of this directory.
func operandsOf(c *cli.Context) ([]string, error) {
	operands := c.Args().Slice()
	if !c.Bool("last") {
		return operands, nil
	}
	if len(operands) > 0 {
		return nil, usage("--last and %s both name a session; give one of them", operands[0])
	}
	root, err := all.Homed()[0].DefaultHome()
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	s, err := preresume.Last(c.Context, root, dir, false)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, fmt.Errorf("no session in %s that works in %s; hist list shows all", root, dir)
	}
	return []string{s.Path}, nil
}
