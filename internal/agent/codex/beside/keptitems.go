package beside

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// keptItem is a row of thread_items: an item of a turn as the client shows it, made of one record of the rollout.
type keptItem struct {
	ID, Turn string
	Ordinal  int64 // of that record
	At       time.Time
	Begun    bool   // At is when it began: clients before 0.160 do not keep when it was completed
	JSON     string // "" unless it was asked for

	row int64 // its place in the table: its ids may have no index
}

// keptTurn is a row of thread_turns.
type keptTurn struct {
	ID                 string
	Status             string // completed, interrupted, failed, inProgress
	Error              string // JSON, "" if there is none
	Ordinal, End       int64  // of the records that begin and end it; End is -1 as long as none does
	Started, Completed time.Time
	Took               time.Duration
	Final              string // id of its last answer, "" if it has none
}

// keptName says which item of a rollout a row is about.
type keptName struct{ Turn, ID string }

// keptColumns are the columns that are read of the projection. A database that lacks one is in an unknown form.
var keptColumns = map[string][]string{
	"thread_items": {"thread_id", "turn_id", "item_id", "rollout_ordinal", "created_at_ms", "item_json"},
	"thread_turns": {"thread_id", "turn_id", "rollout_ordinal", "status", "error_json", "started_at", "completed_at", "duration_ms", "final_agent_item_id"},
}

// laterColumns were added by later clients (0.150, 0.160), each with what replaces it if it is missing.
var laterColumns = []struct{ table, name, without string }{
	{"thread_items", "updated_at_ordinal", "0"},
	{"thread_items", "completed_at_ms", "NULL"},
	{"thread_turns", "rollout_end_ordinal", "NULL"},
}

// maxKept is how many items of a rollout are read: an index of them is held in memory.
const maxKept = 1 << 16

// keptNames reads which items and turns of a rollout the projection keeps. That takes a fraction of what it takes to read the items,
// whose rows lie far apart. It is empty if there is nothing, or more than maxKept items; the error may be errSchema.
func keptNames(ctx context.Context, home, rolloutID string) (names []keptName, turns []keptTurn, err error) {
	db, path, err := open(ctx, home, historyFile, readOnly)
	if db == nil || err != nil {
		return nil, nil, err
	}
	defer db.Close()
	later, err := keptForm(ctx, db, path)
	if err != nil {
		return nil, nil, err
	}
	err = query(ctx, db, path, func(rows *row) error {
		var n keptName
		err := rows.Scan(&n.Turn, &n.ID)
		names = append(names, n)
		return err
	}, "SELECT turn_id, item_id FROM thread_items WHERE thread_id = ? LIMIT ?", rolloutID, maxKept+1)
	if err != nil || len(names) > maxKept {
		return nil, nil, err
	}
	err = query(ctx, db, path, func(rows *row) error {
		var t keptTurn
		var started, completed, ms int64
		if err := rows.Scan(&t.ID, &t.Status, &t.Error, &t.Ordinal, &t.End, &started, &completed, &ms, &t.Final); err != nil {
			return err
		}
		t.Started, t.Completed, t.Took = time.Unix(started, 0).UTC(), time.Unix(completed, 0).UTC(), time.Duration(ms)*time.Millisecond
		turns = append(turns, t)
		return nil
	}, `SELECT turn_id, status, coalesce(error_json, ''), rollout_ordinal, coalesce(`+later["rollout_end_ordinal"]+`, -1), coalesce(started_at, 0),
		coalesce(completed_at, 0), coalesce(duration_ms, 0), coalesce(final_agent_item_id, '') FROM thread_turns WHERE thread_id = ?
		ORDER BY rollout_ordinal, 1, 2, 3, 5, 6, 7, 8, 9`, rolloutID)
	return names, turns, err
}

// keptForm is what is asked for in place of the later columns. The error may be errSchema.
func keptForm(ctx context.Context, db *database, path string) (later map[string]string, err error) {
	later = map[string]string{}
	for table, want := range keptColumns {
		has, err := needs(ctx, db, path, table, want...)
		if err != nil {
			return nil, err
		}
		for _, c := range laterColumns {
			if c.table != table {
				continue
			}
			if later[c.name] = c.name; !slices.Contains(has, c.name) {
				later[c.name] = c.without
			}
		}
	}
	return later, nil
}

// keptItems reads the items that the projection keeps of a rollout, by ordinal, without their texts; none if there are more than
// maxKept. The error may be errSchema. The order depends only on the rows, not on where they are in the file.
func keptItems(ctx context.Context, home, rolloutID string) (items []keptItem, err error) {
	db, path, err := open(ctx, home, historyFile, readOnly)
	if db == nil || err != nil {
		return nil, err
	}
	defer db.Close()
	later, err := keptForm(ctx, db, path)
	if err != nil {
		return nil, err
	}
	err = query(ctx, db, path, func(rows *row) error {
		var i keptItem
		var ms int64
		if err := rows.Scan(&i.ID, &i.Turn, &i.Ordinal, &ms, &i.Begun, &i.row); err != nil {
			return err
		}
		i.At = time.UnixMilli(ms).UTC()
		items = append(items, i)
		return nil
	}, `SELECT item_id, turn_id, max(rollout_ordinal, `+later["updated_at_ordinal"]+`) AS at,
		coalesce(`+later["completed_at_ms"]+`, created_at_ms), `+later["completed_at_ms"]+` IS NULL, rowid FROM thread_items WHERE thread_id = ?
		ORDER BY at, rollout_ordinal, turn_id, item_id, 4, 5 LIMIT ?`, rolloutID, maxKept+1)
	if err != nil || len(items) > maxKept {
		return nil, err
	}
	return items, nil
}

// keptText fills in the texts of items, up to most bytes in all. It returns the items that it has filled in.
func keptText(ctx context.Context, home, rolloutID string, items []keptItem, most int) ([]keptItem, error) {
	if len(items) == 0 {
		return nil, nil
	}
	db, path, err := open(ctx, home, historyFile, readOnly)
	if db == nil || err != nil {
		return nil, err
	}
	defer db.Close()
	text, err := db.PrepareContext(ctx, "SELECT item_json FROM thread_items WHERE rowid = ? AND thread_id = ? AND turn_id = ? AND item_id = ?")
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, sqlError(err))
	}
	defer text.Close()
	var out []keptItem
	for _, i := range items {
		if err := text.QueryRowContext(ctx, i.row, rolloutID, i.Turn, i.ID).Scan(&i.JSON); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("reading %s: %w", path, sqlError(err))
		}
		if most -= len(i.JSON); most < 0 {
			break
		}
		i.JSON = strings.Clone(i.JSON)
		out = append(out, i)
	}
	return out, nil
}
