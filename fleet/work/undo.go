package work

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hist-cli/hist/fleet/store"
)

// UndoRow is the outcome of the undo of one object's repair.
type UndoRow struct {
	RunID   string `json:"run_id"`
	Key     string `json:"key"`
	ETag    string `json:"etag"` // the damaged object's, before the repair
	Outcome string `json:"outcome"`
	Error   string `json:"error,omitempty"`
}

// The outcomes of an undo, besides Changed and Unreadable.
const (
	Undone     = "undone"     // the damaged object is back, now or by an earlier try
	Unrepaired = "unrepaired" // it was never replaced
)

// undoneTo is the metadata key under which a restored object holds the ETag that it had before the repair. By it an undo
// recognises the result of an earlier try that was killed after the write.
const undoneTo = "Hist-Undone-To"

// Undoer restores the damaged objects that repairs in place have replaced.
type Undoer struct {
	Store store.Store
	RunID string
}

// Undo undoes the repair of one object; o is the object as it was linted. It is replaced only if it is still what the repair
// made of it. What goes wrong is in the row; the error is the context's.
func (u *Undoer) Undo(ctx context.Context, o store.Object) (UndoRow, error) {
	row := UndoRow{RunID: u.RunID, Key: o.Key, ETag: o.ETag}
	var err error
	row.Outcome, err = u.undo(ctx, o)
	if ctx.Err() != nil {
		return row, ctx.Err()
	}
	if err != nil {
		row.Outcome, row.Error = Unreadable, err.Error()
		if errors.Is(err, store.ErrChanged) || errors.Is(err, store.ErrGone) {
			row.Outcome = Changed
		}
	}
	return row, nil
}

func (u *Undoer) undo(ctx context.Context, o store.Object) (outcome string, err error) {
	if o.ETag == "" {
		return Unrepaired, nil // a repair in place refuses it
	}
	now, meta, err := u.Store.Head(ctx, o.Key)
	switch {
	case err != nil:
		return "", err
	case metaOf(meta, undoneTo) == o.ETag:
		return Undone, nil
	case now.ETag == o.ETag:
		return Unrepaired, nil
	}
	from, err := madeOf(ctx, u.Store, now, meta)
	if err != nil {
		return "", err
	}
	if from != o.ETag {
		return "", fmt.Errorf("%w: it is not what the repair made of it", store.ErrChanged)
	}
	dir, err := os.MkdirTemp("", undoDir)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	original := filepath.Join(dir, "original")
	if err := fetch(ctx, u.Store, originalKey(o), "", original); err != nil {
		if errors.Is(err, store.ErrGone) {
			return "", fmt.Errorf("%s/%s, which the repair kept, no longer exists", u.Store.URL(), originalKey(o))
		}
		return "", fmt.Errorf("reading what the repair kept: %w", err)
	}
	err = putFile(ctx, u.Store, o.Key, original, store.Condition{Match: now.ETag}, map[string]string{undoneTo: o.ETag})
	if err != nil {
		// The write may have succeeded although its answer was lost.
		if _, meta, herr := u.Store.Head(ctx, o.Key); herr != nil || metaOf(meta, undoneTo) != o.ETag {
			return "", err
		}
	}
	return Undone, nil
}
