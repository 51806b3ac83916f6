package work

import (
	"context"
	"testing"

	"github.com/hist-cli/hist/fleet/store"
)

// untagged is a store that gives no ETags.
type untagged struct{ store.Store }

func (untagged) Head(context.Context, string) (store.Object, map[string]string, error) {
	return store.Object{Key: "a.jsonl"}, nil, nil
}

// TestUndoWithoutETag: a repair in place refuses an object without an ETag, so nothing has replaced it.
func TestUndoWithoutETag(t *testing.T) {
	row, err := (&Undoer{Store: untagged{}}).Undo(t.Context(), store.Object{Key: "a.jsonl"})
	if err != nil || row.Outcome != Unrepaired || row.Error != "" {
		t.Errorf("%+v, %v", row, err)
	}
}
