package beside

import (
	"context"
	"io"
	"path/filepath"

	"github.com/hist-cli/hist/internal/agent/codex/home"
)

// The client keeps a view of each session, made of the bytes of its file: it must be made anew where they move, and may be the only copy of
// what the file has lost. It also keeps a list of its threads. A session is named by the path of its file; of one under a name that the
// client does not know nothing is kept.

// ViewName is the name of what holds the views, for sentences: the projection's database.
func (h *Home) ViewName() string { return home.HistoryFile }

// Viewed is how many bytes of a session, uncompressed, its view was made of; ok is false if there is none. The error may be
// agent.ErrSchema.
func (h *Home) Viewed(ctx context.Context, path string) (offset int64, ok bool, err error) {
	name, ok := home.ParseName(filepath.Base(path))
	if !ok {
		return 0, false, nil // nothing knows it by that name
	}
	view, ok, err := projectionOf(ctx, h.dir, name.RolloutID)
	return view.Offset, ok, err
}

// SaveView writes all that is kept of a session, in a form that RestoreView reads.
func (h *Home) SaveView(ctx context.Context, path string, to io.Writer) error {
	id, err := RolloutID(path)
	if err != nil {
		return err
	}
	return SaveRows(ctx, h.dir, id, to)
}

// RewindView takes out of a view, in one transaction, what was made of bytes behind an offset. saved is the SHA-256
// of what SaveView wrote: where the view is not the same any more, nothing is changed and there is an error. gone is
// the number of rows that it took out.
func (h *Home) RewindView(ctx context.Context, path, saved string, offset int64) (gone int64, err error) {
	id, err := RolloutID(path)
	if err != nil {
		return 0, err
	}
	return rewind(ctx, h.dir, id, saved, offset)
}

// RestoreView makes a view what SaveView wrote, or empty if saved is nil; false if there is nothing any more that could
// hold it. now is the SHA-256 of what SaveView would write of the view as it is: where it is another one, nothing is
// changed and there is an error; "" means that it may be any. The error may be agent.ErrSchema.
func (h *Home) RestoreView(ctx context.Context, path, now string, saved io.Reader) (bool, error) {
	id, err := RolloutID(path)
	if err != nil {
		return false, err
	}
	return restore(ctx, h.dir, id, now, saved)
}

// Databases are the paths of those that a running client has open. It opens no session while it can't read one of them.
func (h *Home) Databases() (paths []string) {
	for _, name := range home.DatabaseNames(h.dir) {
		paths = append(paths, filepath.Join(home.Databases(h.dir), name))
	}
	return paths
}
