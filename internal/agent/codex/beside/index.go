package beside

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
)

// indexPath is the path of a home's list of threads, whether it exists or not.
func indexPath(home string) string {
	return filepath.Join(codexhome.Databases(home), codexhome.StateFile)
}

// IndexRow is what a client's list of threads has of one.
type IndexRow struct {
	Path string // of the rollout, absolute
	// CWD, Provider and Mode, in which its history is kept, are "" if the list has none.
	CWD, Provider, Mode string
	Unprovided          bool // it has an empty text as the provider
}

// ReadIndex reads which rollout a home's client keeps for each thread, by thread ids in lower case. It is nil if there is no such
// list, or if the client has not yet filled it from the files that were there before.
func ReadIndex(ctx context.Context, home string) (map[string]IndexRow, error) {
	db, path, err := open(ctx, home, codexhome.StateFile, readOnly)
	if db == nil || err != nil {
		return nil, err
	}
	defer db.Close()
	optional := []string{"cwd", "model_provider", "history_mode"}
	for table, wants := range map[string][]string{"threads": {"id", "rollout_path"}, "backfill_state": {"status"}} {
		has, err := needs(ctx, db, path, table, wants...)
		if err != nil {
			return nil, err
		}
		for i, c := range optional {
			if table == "threads" && !slices.Contains(has, c) {
				optional[i] = "NULL"
			}
		}
	}
	var unfilled int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM backfill_state WHERE status <> 'complete'").Scan(&unfilled); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, sqlError(err))
	}
	if unfilled > 0 {
		return nil, nil
	}
	index := map[string]IndexRow{}
	err = query(ctx, db, path, func(rows *row) error {
		var id, rollout string
		var cwd, provider, mode sql.NullString
		if err := rows.Scan(&id, &rollout, &cwd, &provider, &mode); err != nil {
			return err
		}
		index[strings.ToLower(id)] = IndexRow{rollout, cwd.String, provider.String, mode.String, provider.Valid && provider.String == ""}
		return nil
	}, "SELECT id, rollout_path, "+strings.Join(optional, ", ")+" FROM threads")
	if err != nil {
		return nil, err
	}
	return index, nil
}
