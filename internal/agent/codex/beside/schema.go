package beside

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"modernc.org/sqlite"
)

// A database of a home may have been made or changed by anybody, so nothing in it is trusted that SQLite would run by itself: what
// looks like a table may be a view without an end, a trigger may change rows of other threads, and a column that does not distinguish
// "A" from "a" makes two threads one. Clients make nothing of the kind, so such a database is one of unknown form, and is left alone.

// Limits of what is read of a database. One that exceeds them is left alone, too: no client's database comes near.
const (
	maxCell   = 32 << 20 // bytes of one value
	maxRead   = 96 << 20 // bytes of all values of one question
	maxObject = 1 << 12  // tables, indexes and triggers of a database
)

// maxRows is the limit of the rows of one question. A test has a lower one.
var maxRows = 1 << 18

// ours are the tables that are read or written here, of all databases.
var ours = append([]string{"threads", "backfill_state", "logs", "_sqlx_migrations"}, projected...)

// triggers are those that clients make on them (0.114 to 0.171): each only changes rows of the thread whose row was changed.
var triggers = []string{
	`CREATE TRIGGER thread_realtime_items_projection_cleanup AFTER DELETE ON thread_history_projection_state BEGIN
		DELETE FROM thread_realtime_items WHERE thread_id = OLD.thread_id; END`,
	`CREATE TRIGGER threads_created_at_ms_after_insert AFTER INSERT ON threads WHEN NEW.created_at_ms IS NULL BEGIN
		UPDATE threads SET created_at_ms = NEW.created_at * 1000 WHERE id = NEW.id; END`,
	`CREATE TRIGGER threads_updated_at_ms_after_insert AFTER INSERT ON threads WHEN NEW.updated_at_ms IS NULL BEGIN
		UPDATE threads SET updated_at_ms = NEW.updated_at * 1000 WHERE id = NEW.id; END`,
	`CREATE TRIGGER threads_created_at_ms_after_update AFTER UPDATE OF created_at ON threads
		WHEN NEW.created_at != OLD.created_at AND NEW.created_at_ms IS OLD.created_at_ms BEGIN
		UPDATE threads SET created_at_ms = NEW.created_at * 1000 WHERE id = NEW.id; END`,
	`CREATE TRIGGER threads_updated_at_ms_after_update AFTER UPDATE OF updated_at ON threads
		WHEN NEW.updated_at != OLD.updated_at AND NEW.updated_at_ms IS OLD.updated_at_ms BEGIN
		UPDATE threads SET updated_at_ms = NEW.updated_at * 1000 WHERE id = NEW.id; END`,
	`CREATE TRIGGER threads_recency_at_after_insert AFTER INSERT ON threads WHEN NEW.recency_at_ms = 0 BEGIN
		UPDATE threads SET recency_at = NEW.updated_at, recency_at_ms = COALESCE(NEW.updated_at_ms, NEW.updated_at * 1000) WHERE id = NEW.id; END`,
}

// limit makes reading a longer value an error.
func limit(ctx context.Context, db *sql.DB) error {
	const length = 0 // SQLITE_LIMIT_LENGTH
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	_, err = sqlite.Limit(conn, length, maxCell)
	return errors.Join(err, conn.Close())
}

// form looks whether our tables are what clients make. The error is errSchema.
func form(ctx context.Context, db querier, path string, want access) error {
	odd := func(text string, args ...any) error {
		return fmt.Errorf("%s: %w: %s", path, errSchema, fmt.Sprintf(text, args...))
	}
	objects := 0
	err := query(ctx, db, path, func(rows *row) error {
		var kind, name, table, text string
		if err := rows.Scan(&kind, &name, &table, &text); err != nil {
			return err
		}
		if objects++; objects > maxObject {
			return odd("it has more than %d tables, indexes and triggers", maxObject)
		}
		table = strings.ToLower(table)
		if !slices.Contains(ours, table) {
			return nil
		}
		text = plainSQL(text)
		switch {
		case kind == "view":
			return odd("%s is a view, where clients have a table", table)
		case kind == "trigger" && want == readWrite && !slices.Contains(plainTriggers(), text):
			return odd("%s has a trigger that no known client makes (%q), so a change of one row might change others", table, name)
		case kind == "table" && !strings.HasPrefix(text, "create table "):
			return odd("%s is a virtual table", table)
		case (kind == "table" || kind == "index") && strings.Contains(text, "collate"):
			return odd("%s compares texts in a way of its own (COLLATE)", table)
		case kind == "table" && strings.Contains(text, "on conflict"):
			return odd("%s replaces rows when others are added (ON CONFLICT)", table)
		}
		return nil
	}, "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema")
	return err
}

// plainSQL is a statement in lower case, with single spaces.
func plainSQL(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// plainTriggers are the triggers as plainSQL.
var plainTriggers = sync.OnceValue(func() (list []string) {
	for _, t := range triggers {
		list = append(list, plainSQL(t))
	}
	return list
})

// row is the row of a question that is read, as long as the answer is within the limits.
type row struct {
	*sql.Rows
	left int // bytes that may still be read
}

func (r *row) Scan(to ...any) error {
	if err := r.Rows.Scan(to...); err != nil {
		return err
	}
	for _, v := range to {
		switch v := v.(type) {
		case *string:
			r.left -= len(*v)
		case *sql.NullString:
			r.left -= len(v.String)
		}
	}
	if r.left < 0 {
		return fmt.Errorf("%w: it holds more than %d MiB of what was asked", errSchema, maxRead>>20)
	}
	return nil
}

// counts are the numbers of rows of tables.
func counts(ctx context.Context, tx *sql.Tx, path string, tables []string) (list []int64, err error) {
	for _, t := range tables {
		var n int64
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM "+quoted(t)).Scan(&n); err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, sqlError(err))
		}
		list = append(list, n)
	}
	return list, nil
}

// changing runs a change of some tables in one transaction. do returns by how many rows each of them grows; if one does by
// another number, somebody else's rows were changed, too: then nothing is changed, and the error is errSchema.
func changing(ctx context.Context, tx *sql.Tx, path string, tables []string, do func() (more []int64, err error)) error {
	before, err := counts(ctx, tx, path, tables)
	if err != nil {
		return err
	}
	more, err := do()
	if err != nil {
		return err
	}
	after, err := counts(ctx, tx, path, tables)
	if err != nil {
		return err
	}
	for i, t := range tables {
		if after[i]-before[i] != more[i] {
			return fmt.Errorf("%s: %w: a change of this thread's rows in %s would have changed %d others; nothing was changed", path, errSchema, t, abs(after[i]-before[i]-more[i]))
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("writing %s: %w", path, sqlError(err))
	}
	return nil
}

func abs(n int64) int64 { return max(n, -n) }
