package repair

import (
	"context"
	"fmt"
	"os"

	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// earlierCopy reports the copy that an earlier run has made of the same bytes, if it is still there and this repair would mend
// nothing in it; otherwise nil. Repairing a home, or making its sessions slim, a second time must not fill it with copies.
func (w *job) earlierCopy(ctx context.Context) (*Report, error) {
	if w.effectiveMode() != NewThread || w.Source.Real == "" || w.Records == nil {
		return nil, nil
	}
	for _, m := range w.Records() {
		for _, f := range m.Files {
			if f.Source != w.Source.Real || f.Mode != runs.NewThread || f.Undone || f.Plan != w.planSum() || f.SizeBefore != w.Source.Info.Size() {
				continue
			}
			sha, err := w.sourceHash(ctx)
			if err != nil {
				return nil, err
			}
			if f.SHA256Before != sha || !w.isSound(ctx, &f) {
				continue
			}
			w.thread = lint.NameOf(f.Target, true).ThreadID
			rep := w.report(nil)
			rep.Run, rep.Target, rep.Resume = m.Run, f.Target, w.resume()
			rep.Edits, rep.Left = []Entry{}, nil
			if rep.Operation != nil {
				rep.Operation.Parts, rep.Operation.After = []Portion{}, f.SizeAfter
			}
			rep.Notes = append(rep.Notes, fmt.Sprintf("run %s made this copy; no other was made", m.Run))
			return rep, nil
		}
	}
	return nil, nil
}

// isSound says whether a copy is still there and this repair would mend nothing in it. If the client has gone on with the copy,
// an unfinished end is no reason to make another one, which would lack what was said since.
func (w *job) isSound(ctx context.Context, f *runs.File) bool {
	if _, err := os.Stat(f.Target); err != nil {
		return false
	}
	src, err := source.Open(f.Target)
	if err != nil {
		return false
	}
	defer src.Close()
	// Where a crash came in between, only the bytes show that it was made; and if somebody has gone on from the place of a cut, another one
	// begins there.
	if (!f.Published || w.op != nil && w.op.plan.Copy) && !f.Stands(ctx) {
		return false
	}
	opts := w.Lint
	opts.Name, opts.Live = lint.NameOf(f.Target, opts.Name.InHome), src.Info.Size() != f.SizeAfter
	res, err := lint.Source(ctx, src, opts)
	if err == nil && w.op != nil {
		return unsound(res.Findings) == nil
	}
	return err == nil && nothingLeft(res, w.Choice) == nil
}
