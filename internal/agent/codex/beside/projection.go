package beside

import (
	"context"
	"fmt"
	"slices"

	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
)

// historyFile is the database of the projection.
const historyFile = codexhome.HistoryFile

// projection is what a client has read of a rollout.
type projection struct {
	Offset  int64 // bytes of the uncompressed rollout that have been read
	Ordinal int64 // of the next record
	Turns   []projectedTurn
	Listed  bool   // it has at least one turn, with or without a place
	Hollow  string // the first turn that it says is completed, and of which it has no item; "" if there is none
}

// projectedTurn is a turn of a projection: the place of its first record in the rollout.
type projectedTurn struct {
	ID      string
	Offset  int64 // bytes, in the uncompressed rollout
	Ordinal int64
}

// projected are the tables whose rows belong to one rollout, by their column thread_id. The last one was added later.
var projected = []string{"thread_items", "thread_turns", "thread_history_projection_state", "thread_realtime_items"}

// tables returns those of the projected tables that a database has, or errSchema if they have an unknown form.
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
			return nil, fmt.Errorf("%s: %w: no %s.thread_id", path, errSchema, t)
		}
	}
	return have, nil
}

// newestItems is the query for the items that a client reads when it resumes a session. The last column makes SQLite read each
// row, not only the index, without loading its text.
const newestItems = "SELECT rollout_ordinal, item_json IS NULL FROM thread_items WHERE thread_id = ? ORDER BY rollout_ordinal DESC LIMIT 64"

// hollowTurn is the query for a turn without items. A turn that was completed has at least its prompt and what came of it.
const hollowTurn = "SELECT turn_id FROM thread_turns WHERE thread_id = ?1 AND status = 'completed'" +
	" AND turn_id NOT IN (SELECT turn_id FROM thread_items WHERE thread_id = ?1 AND turn_id IS NOT NULL) ORDER BY rollout_ordinal LIMIT 1"

// projectionOf reads a rollout's projection; ok is false if it has none.
func projectionOf(ctx context.Context, home, rolloutID string) (p projection, ok bool, err error) {
	db, path, err := open(ctx, home, historyFile, readOnly)
	if db == nil || err != nil {
		return p, false, err
	}
	defer db.Close()
	if _, err := tables(ctx, db, path); err != nil {
		return p, false, err
	}
	err = query(ctx, db, path, func(rows *row) error {
		ok = true
		return rows.Scan(&p.Offset, &p.Ordinal)
	}, "SELECT next_rollout_byte_offset, next_rollout_ordinal FROM thread_history_projection_state WHERE thread_id = ?", rolloutID)
	if !ok || err != nil {
		return p, false, err
	}
	if err := query(ctx, db, path, func(*row) error { return nil }, newestItems, rolloutID); err != nil && !misfit(err) {
		return p, false, err
	}
	has, err := columns(ctx, db, path, "thread_turns")
	if err == nil {
		err = query(ctx, db, path, func(rows *row) error { return rows.Scan(&p.Listed) }, "SELECT EXISTS (SELECT 1 FROM thread_turns WHERE thread_id = ?)", rolloutID)
	}
	items, itemsErr := columns(ctx, db, path, "thread_items")
	if err == nil && itemsErr == nil && slices.Contains(has, "status") && slices.Contains(items, "turn_id") {
		err = query(ctx, db, path, func(rows *row) error { return rows.Scan(&p.Hollow) }, hollowTurn, rolloutID)
	}
	if err != nil || !slices.Contains(has, "rollout_byte_offset") { // the first versions did not store the places of turns
		return p, err == nil, err
	}
	err = query(ctx, db, path, func(rows *row) error {
		var t projectedTurn
		err := rows.Scan(&t.ID, &t.Offset, &t.Ordinal)
		p.Turns = append(p.Turns, t)
		return err
	}, "SELECT turn_id, rollout_byte_offset, rollout_ordinal FROM thread_turns WHERE thread_id = ? AND rollout_byte_offset IS NOT NULL ORDER BY rollout_byte_offset, rollout_ordinal, turn_id", rolloutID)
	return p, err == nil, err
}
