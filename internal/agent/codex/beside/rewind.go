package beside

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// rewind takes out of a rollout's projection what its client has read behind a byte offset, in one transaction, so that
// it reads on from there at the next resume: then the rows are those that it makes of the whole file (measured with
// 0.150.0 to 0.169.0). The rows of all turns that end before the offset are kept; every row goes if no turn does (so at
// offset 0), or if a row before the offset was made of records behind it, too. saved is the SHA-256 of what SaveRows wrote:
// if the rows are not the same any more, nothing is changed and the error is ErrRows. It returns how many rows went.
func rewind(ctx context.Context, home, rolloutID, saved string, offset int64) (gone int64, err error) {
	db, path, err := open(ctx, home, historyFile, readWrite)
	if db == nil || err != nil {
		return 0, err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("writing %s: %w", path, sqlError(err))
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	have, err := tables(ctx, tx, path)
	if err != nil {
		return 0, err
	}
	if err := unchanged(ctx, tx, path, rolloutID, saved); err != nil {
		return 0, err
	}
	at, ok, err := lastWhole(ctx, tx, path, have, rolloutID, offset)
	if err != nil {
		return 0, err
	}
	err = changing(ctx, tx, path, have, func() (more []int64, err error) {
		if ok {
			more, err = clearBehind(ctx, tx, path, have, rolloutID, at)
		} else {
			more, err = clearAll(ctx, tx, path, have, rolloutID)
		}
		for _, n := range more {
			gone -= n
		}
		return more, err
	})
	if err != nil {
		return 0, err
	}
	return gone, nil
}

// end is where a turn ends: after its last byte and its last record.
type end struct{ offset, ordinal int64 }

// lastWhole returns the end of the last turn that ends at or before an offset; ok is false if that is not known, or if
// something before it depends on something after it.
func lastWhole(ctx context.Context, tx *sql.Tx, path string, have []string, rolloutID string, offset int64) (at end, ok bool, err error) {
	for table, wants := range map[string][]string{
		"thread_turns": {"rollout_ordinal", "rollout_end_ordinal", "rollout_end_byte_offset"},
		"thread_items": {"rollout_ordinal", "updated_at_ordinal", "turn_id"},
	} {
		has, err := columns(ctx, tx, path, table)
		if err != nil {
			return at, false, err
		}
		for _, c := range wants {
			if !slices.Contains(has, c) {
				return at, false, nil
			}
		}
	}
	row := tx.QueryRowContext(ctx, `SELECT rollout_end_byte_offset, rollout_end_ordinal + 1 FROM thread_turns
		WHERE thread_id = ? AND rollout_end_byte_offset <= ? AND rollout_end_ordinal >= rollout_ordinal ORDER BY rollout_end_byte_offset DESC LIMIT 1`, rolloutID, offset)
	if err := row.Scan(&at.offset, &at.ordinal); errors.Is(err, sql.ErrNoRows) {
		return at, false, nil
	} else if err != nil {
		if err = sqlError(err); errors.Is(err, errSchema) {
			return at, false, nil
		}
		return at, false, fmt.Errorf("reading %s: %w", path, err)
	}
	// A turn or an item that is on both sides of the end, and items of a live talk, which are in another order.
	across := []string{
		"SELECT count(*) FROM thread_turns WHERE thread_id = ?1 AND rollout_ordinal < ?2 AND ifnull(rollout_end_ordinal, ?2) >= ?2",
		"SELECT count(*) FROM thread_items WHERE thread_id = ?1 AND rollout_ordinal < ?2 AND updated_at_ordinal >= ?2",
		"SELECT count(*) FROM thread_items AS i JOIN thread_turns AS t USING (thread_id, turn_id) WHERE thread_id = ?1 AND (i.rollout_ordinal < ?2) <> (t.rollout_ordinal < ?2)",
	}
	if slices.Contains(have, "thread_realtime_items") {
		across = append(across, "SELECT count(*) FROM thread_realtime_items WHERE thread_id = ?1 AND ?2 = ?2")
	}
	for _, query := range across {
		var n int64
		if err := tx.QueryRowContext(ctx, query, rolloutID, at.ordinal).Scan(&n); err != nil {
			return at, false, fmt.Errorf("reading %s: %w", path, sqlError(err))
		}
		if n > 0 {
			return at, false, nil
		}
	}
	return at, true, nil
}

// clearBehind deletes the rows of records after an end, and makes the client read on from there. It returns by how many rows each
// table grows, as changing wants it.
func clearBehind(ctx context.Context, tx *sql.Tx, path string, have []string, rolloutID string, at end) (more []int64, err error) {
	for _, table := range have {
		n := int64(0)
		if table == "thread_items" || table == "thread_turns" {
			if n, err = exec(ctx, tx, path, "DELETE FROM "+table+" WHERE thread_id = ? AND rollout_ordinal >= ?", rolloutID, at.ordinal); err != nil {
				return nil, err
			}
		}
		more = append(more, -n)
	}
	_, err = exec(ctx, tx, path, "UPDATE thread_history_projection_state SET next_rollout_byte_offset = ?, next_rollout_ordinal = ? WHERE thread_id = ?", at.offset, at.ordinal, rolloutID)
	return more, err
}

// clearAll deletes every row of a rollout. It returns by how many rows each table grows, as changing wants it.
func clearAll(ctx context.Context, tx *sql.Tx, path string, have []string, rolloutID string) (more []int64, err error) {
	more = make([]int64, len(have))
	for i := len(have) - 1; i >= 0; i-- { // the last one first: the client's own trigger would clear it with another one
		n, err := exec(ctx, tx, path, "DELETE FROM "+have[i]+" WHERE thread_id = ?", rolloutID)
		if err != nil {
			return nil, err
		}
		more[i] = -n
	}
	return more, nil
}

// exec runs a statement that changes rows, and returns how many it changed.
func exec(ctx context.Context, tx *sql.Tx, path, statement string, args ...any) (int64, error) {
	res, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, fmt.Errorf("writing %s: %w", path, sqlError(err))
	}
	n, err := res.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("writing %s: %w", path, sqlError(err))
	}
	return n, nil
}
