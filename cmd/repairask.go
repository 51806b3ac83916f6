package cmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/hist-cli/hist/repair"
)

// maxPreviewed is how many sessions are listed before the question.
const maxPreviewed = 20

// agreed asks before a whole home is repaired, and shows which sessions would be. It returns the sessions to repair; none if
// there is nothing to do or the answer is no.
func (r *repairRun) agreed(ctx context.Context, list []target) ([]target, error) {
	if r.c.Bool("yes") || r.mode == repair.DryRun || !slices.ContainsFunc(list, func(t target) bool { return t.err == nil }) {
		return list, nil
	}
	if !r.env.asks() {
		return nil, usage("this would repair the whole home; --yes does it, --dry-run shows it, and a path or an id repairs less")
	}
	var damaged []target
	mode := r.mode
	r.instead, r.mode = mode, repair.DryRun
	defer func() { r.instead, r.mode = 0, mode }()
	for _, t := range list {
		rep, err := r.do(ctx, t)
		r.bar.clear()
		switch {
		case ctx.Err() != nil:
			return nil, context.Canceled
		case err != nil: // the repair itself reports it
			damaged = append(damaged, t)
			continue
		case len(rep.Edits) == 0 && !rep.Unrepaired():
			continue
		}
		damaged = append(damaged, t)
		if len(damaged) <= maxPreviewed {
			fmt.Fprintf(r.env.err, "  %s  %s\n", shortOf(rep.Thread, t.path), count(int64(len(rep.Edits)), "change", "changes"))
		}
	}
	if more := len(damaged) - maxPreviewed; more > 0 {
		fmt.Fprintf(r.env.err, "  and %d more\n", more)
	}
	if len(damaged) == 0 {
		return list, nil // the repair says that there is nothing to do
	}
	what := "Write repaired copies of"
	if mode == repair.InPlace {
		what = "Replace"
	}
	r.bar.end() // it would overwrite the question
	yes, err := r.env.agreed(fmt.Sprintf("%s %s?", what, count(int64(len(damaged)), "session", "sessions")))
	if err != nil {
		return nil, err
	}
	if !yes {
		fmt.Fprintln(r.env.err, "Nothing was changed.")
		return nil, nil
	}
	return damaged, nil
}
