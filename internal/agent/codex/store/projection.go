package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
)

// historyFile is the database of the projection.
const historyFile = codexhome.HistoryFile

// Projection is what a client has read of a rollout.
type Projection struct {
	Offset  int64 // bytes of the uncompressed rollout that have been read
	Ordinal int64 // of the next record
	Turns   []Turn
}

// Turn is a turn of a projection: where its first record stands in the rollout.
type Turn struct {
	ID      string
	Offset  int64 // bytes, in the uncompressed rollout
	Ordinal int64
}

// projected are the tables whose rows belong to one rollout by their column thread_id. The last one came later.
var projected = []string{"thread_items", "thread_turns", "thread_history_projection_state", "thread_realtime_items"}

// tables returns those of the projected tables that a database has, or ErrSchema if they are not as known.
func tables(ctx context.Context, db querier, path string) ([]string, error) {
	var have []string
	for i, t := range projected {
		has, err := columns(ctx, db, path, t)
		if err != nil {
			return nil, err
		}
		switch {
		case slices.Contains(has, "thread_id"):
			have = append(have, t)
		case i < 3 || len(has) > 0:
			return nil, fmt.Errorf("%s: %w: no %s.thread_id", path, ErrSchema, t)
		}
	}
	return have, nil
}

// Projected reads a rollout's projection; ok is false if it has none.
func Projected(ctx context.Context, home, rolloutID string) (p Projection, ok bool, err error) {
	db, path, err := open(ctx, home, historyFile, readOnly)
	if db == nil || err != nil {
		return p, false, err
	}
	defer db.Close()
	if _, err := tables(ctx, db, path); err != nil {
		return p, false, err
	}
	row := db.QueryRowContext(ctx, "SELECT next_rollout_byte_offset, next_rollout_ordinal FROM thread_history_projection_state WHERE thread_id = ?", rolloutID)
	switch err := row.Scan(&p.Offset, &p.Ordinal); {
	case errors.Is(err, sql.ErrNoRows):
		return p, false, nil
	case err != nil:
		return p, false, fmt.Errorf("reading %s: %w", path, err)
	}
	p.Turns, err = turns(ctx, db, path, rolloutID)
	return p, err == nil, err
}

// turns returns where a projection says that the turns begin. Its first versions did not say.
func turns(ctx context.Context, db *sql.DB, path, rolloutID string) ([]Turn, error) {
	has, err := columns(ctx, db, path, "thread_turns")
	if err != nil || !slices.Contains(has, "rollout_byte_offset") {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, "SELECT turn_id, rollout_byte_offset, rollout_ordinal FROM thread_turns WHERE thread_id = ? AND rollout_byte_offset IS NOT NULL ORDER BY rollout_byte_offset", rolloutID)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	defer rows.Close()
	var list []Turn
	for rows.Next() {
		var t Turn
		if err := rows.Scan(&t.ID, &t.Offset, &t.Ordinal); err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		list = append(list, t)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return list, nil
}
