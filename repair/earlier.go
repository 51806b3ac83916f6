package repair

import (
	"context"
	"fmt"
	"os"

	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// earlierCopy reports the copy that an earlier run has made of the same bytes, if it is still there and this repair would
// mend nothing in it; nil if there is none. Repairing a home again must not fill it with copies.
func (w *job) earlierCopy(ctx context.Context) (*Report, error) {
	if w.effectiveMode() != NewThread || w.Source.Real == "" || w.Records == nil {
		return nil, nil
	}
	for _, m := range w.Records() {
		for _, f := range m.Files {
			if f.Source != w.Source.Real || f.Mode != runs.NewThread || !f.Published || f.Undone || f.SizeBefore != w.Source.Info.Size() {
				continue
			}
			sha, err := w.sourceHash(ctx)
			if err != nil {
				return nil, err
			}
			if f.SHA256Before != sha || !w.isSound(ctx, f.Target) {
				continue
			}
			w.thread = lint.NameOf(f.Target, true).ThreadID
			rep := w.report(nil)
			rep.Run, rep.Target, rep.Resume, rep.Left = m.Run, f.Target, w.resume(), nil
			rep.Notes = append(rep.Notes, fmt.Sprintf("run %s made this copy; no other was made", m.Run))
			return rep, nil
		}
	}
	return nil, nil
}

// isSound says whether a copy is there and this repair would mend nothing in it.
func (w *job) isSound(ctx context.Context, path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	src, err := source.Open(path)
	if err != nil {
		return false
	}
	defer src.Close()
	opts := w.Lint
	opts.Name, opts.Live = lint.NameOf(path, opts.Name.InHome), true // its client may be writing it
	res, err := lint.Source(ctx, src, opts)
	return err == nil && nothingLeft(res, w.Choice) == nil
}
