package cmd

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/surgery"
)

func redactCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "redact", Usage: "write a copy of a session without the secrets in it", ArgsUsage: "PATH|ID ...",
		Description: "Finds secrets by the rules of gitleaks, and puts the same placeholder in the place of each wherever it stands in a text.\nIds, signatures, encrypted contents, images, hashes and names of tools are never touched; what can't be altered, such\nas thinking with a secret in it, is taken out. Other files that hold the secrets are named.",
		Flags: operationFlags("",
			&cli.BoolFlag{Name: "list", Usage: "only list kinds and places of secrets, never the secrets"},
			&cli.StringSliceFlag{Name: "pattern", Usage: "what this regular `EXPRESSION` matches, or its first group, is a secret, too; may be given more than once"},
			&cli.StringSliceFlag{Name: "allow", Usage: "what this regular `EXPRESSION` matches is no secret; may be given more than once"},
			&cli.BoolFlag{Name: "drop-encrypted", Usage: "take out compactions that only the provider can read; otherwise such a session is refused"},
			&cli.BoolFlag{Name: "all-stores", Usage: "with --in-place: also in what the client keeps beside the sessions: databases, lists, results, sub-agents, edited files"},
			&cli.BoolFlag{Name: "keep-original", Usage: "with --in-place: keep the original, with its secrets, in the run's record, so that undo works"},
		),
		Action: e.redact,
	}
}

func (e *env) redact(c *cli.Context) error {
	if c.Bool("keep-original") && !c.Bool("in-place") {
		return usage("--keep-original goes with --in-place: a copy leaves the original as it is")
	}
	if c.Bool("all-stores") && (!c.Bool("in-place") || c.Bool("dry-run")) {
		return usage("--all-stores goes with --in-place: a copy holds nothing of them, and leaves them as they are")
	}
	opts := surgery.RedactOptions{Salt: make([]byte, 16), DropEncrypted: c.Bool("drop-encrypted")}
	if _, err := rand.Read(opts.Salt); err != nil {
		return err
	}
	patterns, err := expressions(c, "pattern")
	if err != nil {
		return err
	}
	allowed, err := expressions(c, "allow")
	if err != nil {
		return err
	}
	if opts.Finder, err = surgery.NewFinder(patterns, allowed); err != nil {
		return err
	}
	if c.Bool("list") {
		return e.listSecrets(c, opts)
	}
	found := map[string]string{}
	op := operation{name: "redact", forget: c.Bool("in-place") && !c.Bool("keep-original"), plan: func(s *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error) {
		r, err := surgery.Redact(s, of, opts)
		if err != nil {
			return nil, err
		}
		maps.Copy(found, r.Tags)
		return r.Plan, nil
	}}
	if op.forget {
		if err := runs.RemoveForgotten(); err != nil {
			return err
		}
	}
	if c.Bool("all-stores") {
		if err := e.redactStores(c, &opts, op); err != nil {
			return err
		}
	}
	err = e.operate(c, op)
	if len(found) > 0 && c.Bool("in-place") {
		e.otherHolders(c, found)
	}
	return err
}

// expressions are the regular expressions that a flag gives.
func expressions(c *cli.Context, flag string) (list []*regexp.Regexp, err error) {
	for _, text := range c.StringSlice(flag) {
		r, err := regexp.Compile(text)
		if err != nil {
			return nil, usage("--%s: %w", flag, err)
		}
		list = append(list, r)
	}
	return list, nil
}

// listSecrets prints the kind and the place of each secret.
func (e *env) listSecrets(c *cli.Context, opts surgery.RedactOptions) error {
	s, err := e.sessionOf(c, "redact --list", true)
	if err != nil {
		return err
	}
	opts.DropEncrypted = true // nothing is written
	r, err := surgery.Redact(s, all.Surgeon(s.Agent), opts)
	if err != nil {
		return err
	}
	slices.SortStableFunc(r.Hits, func(a, b surgery.Hit) int { return a.Pos.Compare(b.Pos) })
	for _, h := range r.Hits {
		fmt.Fprintf(e.out, "%s: %s in %s\n", h.Pos, h.Kind, cmp.Or(h.Path, "the record"))
	}
	fmt.Fprintf(e.out, "%s in %s\n", count(int64(len(r.Secrets)), "secret", "secrets"), count(int64(len(r.Hits)), "place", "places"))
	return nil
}
