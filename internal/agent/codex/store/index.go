package store

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
)

// IndexPath is the path of a home's list of threads, whether it exists or not.
func IndexPath(home string) string {
	return filepath.Join(codexhome.Databases(home), codexhome.StateFile)
}

// Index reads which rollout a home's client keeps for each thread: thread ids, in lower case, to absolute paths. It is
// nil if there is no such list, or if the client has not yet filled it from the files that were there before.
func Index(ctx context.Context, home string) (map[string]string, error) {
	db, path, err := open(ctx, home, codexhome.StateFile, readOnly)
	if db == nil || err != nil {
		return nil, err
	}
	defer db.Close()
	for table, wants := range map[string][]string{"threads": {"id", "rollout_path"}, "backfill_state": {"status"}} {
		has, err := columns(ctx, db, path, table)
		if err != nil {
			return nil, err
		}
		for _, c := range wants {
			if !slices.Contains(has, c) {
				return nil, fmt.Errorf("%s: %w: no %s.%s", path, ErrSchema, table, c)
			}
		}
	}
	var unfilled int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM backfill_state WHERE status <> 'complete'").Scan(&unfilled); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, named(err))
	}
	if unfilled > 0 {
		return nil, nil
	}
	rows, err := db.QueryContext(ctx, "SELECT id, rollout_path FROM threads")
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, named(err))
	}
	defer rows.Close()
	index := map[string]string{}
	for rows.Next() {
		var id, rollout string
		if err := rows.Scan(&id, &rollout); err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, named(err))
		}
		index[strings.ToLower(id)] = rollout
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, named(err))
	}
	return index, nil
}
