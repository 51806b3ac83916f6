package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/surgery"
	"github.com/hist-cli/hist/internal/timeline"
)

// placeFlags say where a session is to end.
func placeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "after-turn", Usage: "keep everything up to the end of this turn, by the `NUMBER` that hist show gives it, or by its id"},
		&cli.StringFlag{Name: "before-turn", Usage: "keep everything in front of the turn with this `NUMBER` or id"},
		&cli.IntFlag{Name: "last", Usage: "cut the last `N` turns"},
		&cli.StringFlag{Name: "at", Usage: "keep everything up to the message with this `ID`, in the middle of a turn"},
	}
}

func cutCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "cut", Usage: "write a copy of a session that ends at an earlier turn", ArgsUsage: "PATH|ID",
		Description: "The copy is whole by itself: it holds nothing that was cut, and its client goes on at the place. With --in-place, the\nclient is told to go back to the place in the way in which it does that itself, and what was cut stays in the file\nwhere it leaves it there; --purge takes that out.",
		Flags: operationFlags("last", append(placeFlags(),
			&cli.BoolFlag{Name: "purge", Usage: "with --in-place: what is cut leaves the file, too"})...),
		Action: func(c *cli.Context) error { return e.cut(c, "cut") },
	}
}

// cut carries out cut and fork, which differ in whether a place must be given.
func (e *env) cut(c *cli.Context, name string) error {
	opts := surgery.CutOptions{After: c.String("after-turn"), Before: c.String("before-turn"), At: c.String("at"), Last: c.Int("last"), InPlace: c.Bool("in-place"), Purge: c.Bool("purge")}
	given := 0
	for _, flag := range []string{"after-turn", "before-turn", "at", "last"} {
		if c.IsSet(flag) {
			given++
		}
	}
	switch {
	case given > 1:
		return usage("--after-turn, --before-turn, --at and --last each name the place; give one of them")
	case given == 0 && name == "cut":
		return usage("cut needs a place: --after-turn N, --before-turn N, --last N or --at ID; hist show lists the turns")
	case c.IsSet("last") && opts.Last < 1:
		return usage("--last is %d; it takes how many turns to cut, from 1", opts.Last)
	case opts.Purge && !opts.InPlace:
		return usage("--purge goes with --in-place: a copy holds nothing that was cut")
	}
	return e.operate(c, operation{name: name, plan: func(s *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error) {
		turns, err := timeline.Turns(s)
		if err != nil {
			return nil, err
		}
		at, err := s.Place(turns, opts)
		if err != nil {
			return nil, err
		}
		return of.Cut(s, at)
	}})
}
