package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/hist-cli/hist/internal/decisions"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/preresume"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/repair"
)

// repair repairs the session in place and looks at it again. The answer says what keeps it from being repaired.
func (p *preRun) repair(t target, before *preresume.Answer) (*preresume.Answer, error) {
	digest, err := runs.HashOf(p.c.Context, p.src)
	if err != nil {
		return nil, err
	}
	p.log.Digest = digest
	tried, err := decisions.Tried(digest)
	switch {
	case err != nil:
		before.RepairError = "it can't be told whether these bytes were repaired before: " + err.Error()
		return before, nil
	case tried != "":
		before.RepairError = "these bytes were repaired before (" + tried + "); to repair them again use hist repair --in-place"
		return before, nil
	}
	run, err := p.repairInPlace(t)
	switch {
	case errors.Is(err, disk.ErrBusy), errors.Is(err, source.ErrChanged):
		before.Verdict, before.Next, before.Reason = preresume.InUse, preresume.RetryLater, err.Error()
		return before, nil
	case err != nil && p.c.Context.Err() != nil:
		return nil, context.Canceled
	case err != nil:
		before.RepairError = err.Error()
		return before, nil
	}
	p.log.Repaired, p.log.Run = run != "", run
	after, err := p.answer(t)
	if err != nil {
		return unseen(before, run, err)
	}
	if run == "" { // nothing was changed: nothing could be repaired, or somebody else has done it
		if after.Damaged() {
			after.RepairError = "nothing in it can be repaired in place"
		}
		return after, nil
	}
	after.Repaired, after.Run = true, run
	return after, nil
}

// unseen is the answer for a session that was repaired but then could not be looked at again. It must say what was done,
// because that can be undone. If nothing was done, only the error remains.
func unseen(before *preresume.Answer, run string, err error) (*preresume.Answer, error) {
	if run == "" {
		return nil, err
	}
	before.Repaired, before.Run = true, run
	before.Reason = fmt.Sprintf("it was repaired (hist undo %s undoes that), but could not be looked at again: %v", run, err)
	return before, nil
}

func (p *preRun) repairInPlace(t target) (string, error) {
	opts := inspect.AtRest(p.src, t.home, p.by)
	opts.Error = p.failure
	rep, err := repair.Do(p.c.Context, repair.Job{
		Source: p.src, Lint: opts, Mode: repair.InPlace, Home: t.home,
		Begin: func() (*runs.Run, error) { return runs.New(Version()) },
	})
	if err != nil {
		return "", err
	}
	return rep.Run, nil
}
