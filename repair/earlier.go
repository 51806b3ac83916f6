package repair

import (
	"context"
	"fmt"
	"os"

	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/sum"
	"github.com/hist-cli/hist/lint"
)

// earlier reports the copy that an earlier run has made of the same bytes, if it still stands and has nothing left that
// this repair would mend; nil if there is none. To repair a home once more must not fill it with copies.
func (w *job) earlier(ctx context.Context) (*Report, error) {
	if w.as() != NewThread || w.Source.Real == "" || w.Records == nil {
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
			if f.SHA256Before != sha || !w.stands(ctx, f.Target) {
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

// sourceHash is the SHA-256 of the session's file.
func (w *job) sourceHash(ctx context.Context) (string, error) {
	if w.Mode == DryRun {
		sha, _, err := runs.Hash(ctx, w.Source.Real)
		return sha, err
	}
	w.hashSource(ctx, sum.New(), 0)
	return w.before()
}

// stands says whether a copy is there and has nothing left to mend.
func (w *job) stands(ctx context.Context, path string) bool {
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
