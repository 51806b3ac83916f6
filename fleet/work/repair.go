package work

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/hist-cli/hist/fleet/store"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

// RepairRow is the outcome of the repair of one object.
type RepairRow struct {
	RunID    string   `json:"run_id"`
	Key      string   `json:"key"`
	ETag     string   `json:"etag"` // the damaged object's
	Outcome  string   `json:"outcome"`
	Edits    int      `json:"edits"`
	Fixes    []string `json:"fixes,omitempty"`    // the kinds of fix that were made
	Left     int      `json:"left"`               // how many findings other than notes are left
	To       string   `json:"to,omitempty"`       // address of the repaired object
	Original string   `json:"original,omitempty"` // address of the copy of the damaged object, if that was replaced
	Error    string   `json:"error,omitempty"`
}

// The outcomes of a repair, besides Changed and Unreadable.
const (
	Repaired = "repaired" // published, now or by an earlier try
	Nothing  = "nothing"  // none of its findings has a fix
	Refused  = "refused"  // hist would not repair it; the error says why
)

// Repairer writes repaired sessions, in place of the damaged ones or as copies to another store.
type Repairer struct {
	Linter *Linter
	To     store.Store // nil: in place
}

// Repair repairs one object. What goes wrong is in the row; the error is the context's.
func (r *Repairer) Repair(ctx context.Context, o store.Object) (RepairRow, error) {
	row := RepairRow{RunID: r.Linter.RunID, Key: o.Key, ETag: o.ETag}
	err := survived(func() error { return r.repair(ctx, o, &row) })
	if ctx.Err() != nil {
		return row, ctx.Err()
	}
	switch {
	case err == nil:
	case errors.Is(err, store.ErrChanged), errors.Is(err, store.ErrGone):
		row.Outcome, row.Error = Changed, err.Error()
	case errors.Is(err, errRefused):
		row.Outcome, row.Error = Refused, err.Error()
	default:
		row.Outcome, row.Error = Unreadable, err.Error()
	}
	return row, nil
}

var errRefused = errors.New("not repaired")

func (r *Repairer) repair(ctx context.Context, o store.Object, row *RepairRow) error {
	if o.ETag == "" { // it could not be checked whether it is still the object that was linted
		return fmt.Errorf("%w: the store gives no ETag for it", errRefused)
	}
	if done, err := r.madeBefore(ctx, o); done || err != nil {
		row.Outcome, row.To = Repaired, r.address(o.Key)
		return err
	}
	dir, err := os.MkdirTemp("", repairDir)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)                         //nolint:errcheck // a temporary folder
	damaged := filepath.Join(dir, path.Base(o.Key)) // repair needs the session's own file name
	if err := fetch(ctx, r.Linter.Store, o.Key, o.ETag, damaged); err != nil {
		return err
	}
	mended := filepath.Join(dir, "mended")
	rep, err := r.mend(ctx, o.Key, damaged, mended)
	if err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	row.fill(rep)
	if len(rep.Edits) == 0 {
		row.Outcome = Nothing
		return nil
	}
	return r.publish(ctx, o, row, damaged, mended)
}

// madeBefore says whether an earlier try has already published this repair. A copy by another hist is none; an object that was
// replaced in place is the same to all of them, because the damaged one is gone from there.
func (r *Repairer) madeBefore(ctx context.Context, o store.Object) (bool, error) {
	now, meta, err := r.target().Head(ctx, o.Key)
	if errors.Is(err, store.ErrGone) && r.To != nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if r.To != nil && metaOf(meta, madeBy) != r.Linter.by() {
		return false, nil
	}
	from, err := madeOf(ctx, r.target(), now, meta)
	return from == o.ETag, err
}

// originalKey is the key under which the original of a replaced object is kept.
func originalKey(o store.Object) string { return Private + "originals/" + o.ETag + "/" + o.Key }

func (r *Repairer) target() store.Store {
	if r.To != nil {
		return r.To
	}
	return r.Linter.Store
}

func (r *Repairer) address(key string) string { return r.target().URL() + "/" + key }

// fetch copies an object to a file; if etag is not "", only if the object has that ETag.
func fetch(ctx context.Context, from store.Store, key, etag, to string) error {
	body, err := from.Get(ctx, key, etag)
	if err != nil {
		return err
	}
	defer body.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, body)
	return errors.Join(err, f.Close())
}

// mend writes a repaired copy of a file. If the object's name says that it is compressed, the copy is compressed, too.
func (r *Repairer) mend(ctx context.Context, key, damaged, mended string) (rep *repair.Report, err error) {
	src, err := source.Open(damaged)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	out, err := os.OpenFile(mended, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	var to io.Writer = out
	if strings.HasSuffix(key, ".zst") {
		enc, err := zstd.NewWriter(out)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, enc.Close()) }()
		to = enc
	}
	return repair.Do(ctx, repair.Job{Source: src, Lint: r.Linter.LintOptions(key), Mode: repair.ToStream, Stream: to})
}

func (row *RepairRow) fill(rep *repair.Report) {
	row.Edits = len(rep.Edits)
	seen := map[string]bool{}
	for _, e := range rep.Edits {
		if !seen[e.Fix] {
			seen[e.Fix] = true
			row.Fixes = append(row.Fixes, e.Fix)
		}
	}
	for _, l := range rep.Left {
		if l.Impact != lint.Notes.String() {
			row.Left++
		}
	}
}

// publish writes the repaired object to its place. If that replaces the damaged one, a copy of it is kept first, and it is
// replaced only if it is still the one that was read.
func (r *Repairer) publish(ctx context.Context, o store.Object, row *RepairRow, damaged, mended string) error {
	cond := store.Condition{Match: o.ETag}
	if r.To == nil {
		original := originalKey(o)
		err := putFile(ctx, r.Linter.Store, original, damaged, store.Condition{Absent: true}, nil)
		if errors.Is(err, store.ErrChanged) {
			err = r.keptBefore(ctx, original, damaged)
		}
		if err != nil {
			return fmt.Errorf("keeping the original: %w", err)
		}
		row.Original = r.Linter.Store.URL() + "/" + original
	} else {
		cond = store.Condition{Absent: true}
		if older, meta, err := r.To.Head(ctx, o.Key); err == nil {
			if from, err := madeOf(ctx, r.To, older, meta); err == nil && from != "" {
				cond = store.Condition{Match: older.ETag} // a repair of what the object was before, or by another hist
			}
		}
	}
	meta, err := r.Linter.marks(o.ETag, mended)
	if err != nil {
		return err
	}
	if err := putFile(ctx, r.target(), o.Key, mended, cond, meta); err != nil {
		// The write may have succeeded although its answer was lost.
		if made, _ := r.madeBefore(ctx, o); !made {
			if r.To != nil && errors.Is(err, store.ErrChanged) {
				return fmt.Errorf("%w: %s exists and was not written by hist-fleet, or has been written to since", errRefused, r.address(o.Key))
			}
			return err
		}
	}
	row.Outcome, row.To = Repaired, r.address(o.Key)
	return nil
}

// keptBefore says whether an earlier try has kept the original. A store answers in the same way if two write at once, and then
// there may be none: without it nothing may be replaced.
func (r *Repairer) keptBefore(ctx context.Context, original, damaged string) error {
	body, err := r.Linter.Store.Get(ctx, original, "")
	if errors.Is(err, store.ErrGone) {
		return fmt.Errorf("%w: %s/%s was not written", store.ErrUnavailable, r.Linter.Store.URL(), original)
	}
	if err != nil {
		return err
	}
	defer body.Close()
	f, err := os.Open(damaged)
	if err != nil {
		return err
	}
	defer f.Close()
	if same, err := sameBytes(body, f); same || err != nil {
		return err
	}
	return fmt.Errorf("%w: %s/%s holds something else", errRefused, r.Linter.Store.URL(), original)
}

// sameBytes says whether two streams hold the same.
func sameBytes(a, b io.Reader) (bool, error) {
	one, other := source.NewSum(), source.NewSum()
	if _, err := io.Copy(one, a); err != nil {
		return false, err
	}
	_, err := io.Copy(other, b)
	return one.Hex() == other.Hex(), err
}

func putFile(ctx context.Context, to store.Store, key, path string, cond store.Condition, meta map[string]string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return to.Put(ctx, key, f, info.Size(), cond, meta)
}
