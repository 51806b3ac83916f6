package cmd

import "github.com/urfave/cli/v2"

func forkCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "fork", Usage: "write a copy of a session under a new id, up to a turn or whole", ArgsUsage: "PATH|ID",
		Description: "The copy is whole by itself: it does not rely on the original, as a fork that the client makes may. Both can be\nresumed.",
		Flags:       withoutFlag("in-place", operationFlags("last", placeFlags()...)),
		Action:      func(c *cli.Context) error { return e.cut(c, "fork") },
	}
}
