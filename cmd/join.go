package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/surgery"
)

func joinCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "join", Usage: "put together two copies of one session", ArgsUsage: "A B",
		Description: "A and B are copies of one session: from a backup, another folder or another machine. The result is A with what B has\nand A lacks, where B goes on from A or fills a hole in it. Where both go on in their own way, hist shows what each has,\nand --take chooses. B stays as it is.",
		Flags: withoutFlag("last", operationFlags("",
			&cli.StringFlag{Name: "take", Usage: "where both go on in their own way, take `COPY`: a or b"},
		)),
		Action: e.join,
	}
}

func (e *env) join(c *cli.Context) error {
	take, err := surgery.ParseTake(c.String("take"))
	if err != nil {
		return usage("%w", err)
	}
	if c.NArg() != 2 {
		return usage("join takes two copies of one session: hist join A B")
	}
	list, err := e.targets(c.Context, c.Args().Slice(), c.String("agent"))
	if err != nil {
		return err
	}
	if len(list) != 2 || list[0].path == "-" || list[1].path == "-" {
		return usage("join takes two files or ids that are not the same")
	}
	other, err := e.readSession(c, list[1], true)
	if err != nil {
		return err
	}
	return e.operate(c, operation{name: "join", only: 1, plan: func(s *surgery.Session, _ surgery.Surgeon) (*surgery.Plan, error) {
		if s.Agent.Name != other.Agent.Name {
			return nil, surgery.Usage("A is a session of %s, and B one of %s", s.Agent.Title, other.Agent.Title)
		}
		return surgery.Join(s, other, take)
	}})
}
