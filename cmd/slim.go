package cmd

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/surgery"
)

func slimCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "slim", Usage: "write a smaller copy of a session, of which its client sends the same", ArgsUsage: "PATH|ID ...",
		Description: "Takes out what the client never reads again: what a compaction has replaced, branches that were left, second\ncopies of outputs. The history that the model is sent stays the same, item by item, and hist shows that; only the\nlevel marked changes it, and says where. The original stays as it is.",
		Flags: operationFlags("",
			&cli.StringFlag{Name: "level", Value: "model", Usage: "what may go, by `LEVEL`: exact (what is sent and shown stays), model (what is sent stays), marked (old images and the middle of long outputs, too)"},
			&cli.IntFlag{Name: "keep-images", Value: 2, Usage: "with --level marked: keep the newest `N` images"},
			&cli.StringFlag{Name: "max-output", Value: "4K", Usage: "with --level marked: shorten older outputs to this `SIZE`"},
			&cli.StringFlag{Name: "target", Usage: "go as far as it takes to get below this `SIZE`, such as 2M"},
			&cli.BoolFlag{Name: "drop-thinking", Usage: "with --level marked: take out thinking that is bound to what changes before it"},
			&cli.BoolFlag{Name: "all", Usage: "all sessions of the home"},
			&cli.StringFlag{Name: "older-than", Usage: "with --all: those that nobody has used for this `TIME`: 90m, 24h, 30d, or since a date such as 2026-11-01"},
		),
		Action: e.slim,
	}
}

func (e *env) slim(c *cli.Context) error {
	opts, err := slimOptions(c)
	if err != nil {
		return err
	}
	op := operation{name: "slim", sizes: true, plan: func(s *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error) { return of.Slim(s, opts) }}
	if c.IsSet("target") {
		size, err := sizeOfFlag(c, "target")
		if err != nil {
			return err
		}
		op.plan = func(s *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error) {
			return surgery.SlimTo(s, of, opts, int64(size))
		}
	}
	if op.pick, err = slimPick(c); err != nil {
		return err
	}
	return e.operate(c, op)
}

// slimPick chooses among all sessions, by --older-than; nil if sessions are named.
func slimPick(c *cli.Context) (func([]target) []target, error) {
	old := c.String("older-than")
	switch {
	case !c.Bool("all") && old != "":
		return nil, usage("--older-than goes with --all")
	case !c.Bool("all"):
		return nil, nil
	case c.NArg() > 0 || c.Bool("last"):
		return nil, usage("--all is all sessions of the home; leave out the names")
	case old == "":
		return func(list []target) []target { return list }, nil
	}
	before, err := since("--older-than", old, time.Now())
	if err != nil {
		return nil, err
	}
	return func(list []target) []target {
		return slices.DeleteFunc(list, func(t target) bool {
			info, err := os.Stat(t.path)
			return t.err == nil && err == nil && !info.ModTime().Before(before)
		})
	}, nil
}

func slimOptions(c *cli.Context) (opts surgery.SlimOptions, err error) {
	if opts.Level, err = surgery.ParseLevel(c.String("level")); err != nil {
		return opts, usage("%w", err)
	}
	for _, name := range []string{"keep-images", "max-output", "drop-thinking"} {
		if c.IsSet(name) && opts.Level != surgery.Shorter && !c.IsSet("target") {
			return opts, usage("--%s changes what is sent: it goes with --level marked", name)
		}
	}
	if opts.KeepImages, opts.DropThinking = c.Int("keep-images"), c.Bool("drop-thinking"); opts.KeepImages < 0 {
		return opts, usage("--keep-images is %d; it takes 0 or more", opts.KeepImages)
	}
	opts.MaxOutput, err = sizeOfFlag(c, "max-output")
	return opts, err
}

// sizeOfFlag reads a size in bytes: 4096, 4K, 2M.
func sizeOfFlag(c *cli.Context, name string) (int, error) {
	text := strings.TrimSuffix(strings.ToUpper(c.String(name)), "B")
	unit := 1.0
	for _, u := range []struct {
		letter string
		size   float64
	}{{"K", 1e3}, {"M", 1e6}, {"G", 1e9}} {
		if rest, ok := strings.CutSuffix(text, u.letter); ok {
			text, unit = rest, u.size
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n <= 0 || n*unit > 1<<50 {
		return 0, usage("--%s is %q; it takes a size such as 4096, 4K or 2M", name, c.String(name))
	}
	return int(n * unit), nil
}
