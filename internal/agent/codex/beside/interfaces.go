package beside

import (
	"context"
	"database/sql"
	"io"
	"os"
	"path/filepath"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/agent/codex/store"
)

var (
	_ agent.Viewer = (*Home)(nil)
	_ agent.Lister = (*Home)(nil)
)

// ViewName is the name of the projection's database.
func (h *Home) ViewName() string { return home.HistoryFile }

// Viewed is how far the projection of a rollout has come.
func (h *Home) Viewed(ctx context.Context, path string) (offset int64, ok bool, err error) {
	name, ok := home.ParseName(filepath.Base(path))
	if !ok {
		return 0, false, nil // nothing knows it by that name
	}
	view, ok, err := store.Projected(ctx, h.dir, name.RolloutID)
	return view.Offset, ok, err
}

// SaveView is store.Save.
func (h *Home) SaveView(ctx context.Context, path string, to io.Writer) error {
	id, err := store.RolloutID(path)
	if err != nil {
		return err
	}
	return store.Save(ctx, h.dir, id, to)
}

// RewindView is store.Rewind.
func (h *Home) RewindView(ctx context.Context, path, saved string, offset int64) (gone int64, err error) {
	id, err := store.RolloutID(path)
	if err != nil {
		return 0, err
	}
	return store.Rewind(ctx, h.dir, id, saved, offset)
}

// RestoreView is store.Restore.
func (h *Home) RestoreView(ctx context.Context, path, now string, saved io.Reader) (bool, error) {
	id, err := store.RolloutID(path)
	if err != nil {
		return false, err
	}
	return store.Restore(ctx, h.dir, id, now, saved)
}

// Databases are the files of home.DatabaseNames.
func (h *Home) Databases() (paths []string) {
	for _, name := range home.DatabaseNames(h.dir) {
		paths = append(paths, filepath.Join(home.Databases(h.dir), name))
	}
	return paths
}

// Rehome is the database of the list of threads, and what changes there the paths of sessions whose file is gone to those of the files that
// lie at the same place in this home; it returns how many. The path is "" if there is no such database.
func (h *Home) Rehome() (path string, change func(ctx context.Context, tx *sql.Tx) (int64, error)) {
	path = filepath.Join(home.Databases(h.dir), home.StateFile)
	if _, err := os.Stat(path); err != nil {
		return "", nil
	}
	return path, func(ctx context.Context, tx *sql.Tx) (int64, error) { return store.Rehome(ctx, tx, h.dir) }
}

// Threads is store.Threads.
func (h *Home) Threads(ctx context.Context) ([]agent.Thread, error) { return store.Threads(ctx, h.dir) }

// LastIsListed is store.LastIsListed.
func (h *Home) LastIsListed(threads []agent.Thread) bool { return store.LastIsListed(threads) }

// Enlist is store.Enlist.
func (h *Home) Enlist(ctx context.Context, original string, copied agent.Copied) (bool, error) {
	return store.Enlist(ctx, h.dir, original, copied)
}

// Delist is store.Delist.
func (h *Home) Delist(ctx context.Context, copied, path string) error {
	return store.Delist(ctx, h.dir, copied, path)
}

// Dependants is store.Headers.Dependants, for the session of a home at path.
func Dependants(ctx context.Context, dir, path string, headers *store.Headers) ([]agent.Dependant, error) {
	name, ok := home.ParseName(filepath.Base(path))
	if !ok {
		return nil, nil // nothing can point to it
	}
	return headers.Dependants(ctx, dir, name.RolloutID)
}
