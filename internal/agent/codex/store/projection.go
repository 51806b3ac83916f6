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

// Turn is a turn of a projection: the place of its first record in the rollout.
type Turn struct {
	ID      string
	Offset  int64 // bytes, in the uncompressed rollout
	Ordinal int64
}

// projected are the tables whose rows belong to one rollout, by their column thread_id. The last one was added later.
var projected = []string{"thread_items", "thread_turns", "thread_history_projection_state", "thread_realtime_items"}

// tables returns those of the projected tables that a database has, or ErrSchema if they have an unknown form.
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
	v, err := look(ctx, home)
	if v == nil || err != nil {
		return p, false, err
	}
	defer v.db.Close()
	return v.of(ctx, rolloutID)
}

// Projections reads the projections of many rollouts of a home. Its methods may be called from several goroutines.
type Projections struct{ asked *lasting[*view] }

// NewProjections returns a reader for a home.
func NewProjections(home string) *Projections {
	return &Projections{&lasting[*view]{home: home, file: historyFile, look: look}}
}

// Of is Projected.
func (s *Projections) Of(ctx context.Context, rolloutID string) (p Projection, ok bool, err error) {
	err = s.asked.ask(ctx, func(v *view) error {
		p, ok, err = v.of(ctx, rolloutID)
		return err
	})
	return p, ok, err
}

// view is a database of projections that is open to be read.
type view struct {
	db   *sql.DB
	path string
	rows *sql.Stmt // the query for a rollout's row
	// turns is nil if the database has no places of turns: the first versions did not store them.
	turns *sql.Stmt
	// items is nil if the table has an unknown form.
	items *sql.Stmt
}

func (v *view) close() { v.db.Close() }

// look opens a home's database of projections, nil if it has none.
func look(ctx context.Context, home string) (v *view, err error) {
	db, path, err := open(ctx, home, historyFile, readOnly)
	if db == nil || err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			db.Close()
		}
	}()
	if _, err := tables(ctx, db, path); err != nil {
		return nil, err
	}
	v = &view{db: db, path: path}
	if v.rows, err = db.PrepareContext(ctx, "SELECT next_rollout_byte_offset, next_rollout_ordinal FROM thread_history_projection_state WHERE thread_id = ?"); err != nil {
		return nil, v.failed(err)
	}
	if v.items, err = db.PrepareContext(ctx, newestItems); errors.Is(named(err), ErrDamaged) {
		return nil, v.failed(err)
	}
	has, err := columns(ctx, db, path, "thread_turns")
	if err != nil || !slices.Contains(has, "rollout_byte_offset") {
		return v, err
	}
	if v.turns, err = db.PrepareContext(ctx, "SELECT turn_id, rollout_byte_offset, rollout_ordinal FROM thread_turns WHERE thread_id = ? AND rollout_byte_offset IS NOT NULL ORDER BY rollout_byte_offset, rollout_ordinal, turn_id"); err != nil {
		return nil, v.failed(err)
	}
	return v, nil
}

func (v *view) failed(err error) error { return fmt.Errorf("reading %s: %w", v.path, named(err)) }

// newestItems is the query for the items that a client reads when it resumes a session. The last column makes SQLite read each
// row, not only the index, without loading its text.
const newestItems = "SELECT rollout_ordinal, item_json IS NULL FROM thread_items WHERE thread_id = ? ORDER BY rollout_ordinal DESC LIMIT 64"

// of reads the projection of a rollout.
func (v *view) of(ctx context.Context, rolloutID string) (p Projection, ok bool, err error) {
	switch err := v.rows.QueryRowContext(ctx, rolloutID).Scan(&p.Offset, &p.Ordinal); {
	case errors.Is(err, sql.ErrNoRows):
		return p, false, nil
	case err != nil:
		return p, false, v.failed(err)
	}
	if v.items != nil {
		if err := drain(ctx, v.items, v.path, rolloutID); err != nil {
			return p, false, err
		}
	}
	if v.turns == nil {
		return p, true, nil
	}
	rows, err := v.turns.QueryContext(ctx, rolloutID)
	if err != nil {
		return p, false, v.failed(err)
	}
	err = each(rows, v.path, func(rows *row) error {
		var t Turn
		err := rows.Scan(&t.ID, &t.Offset, &t.Ordinal)
		p.Turns = append(p.Turns, t)
		return err
	})
	return p, err == nil, err
}
