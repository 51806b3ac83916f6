package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"
	_ "modernc.org/sqlite" // the driver: pure Go, so that hist stays one static binary
)

// ErrSchema: the database is not in a form that this version knows; it was left alone.
var ErrSchema = errors.New("unknown form of thread_history_1.sqlite")

// historyFile is the database of the projection (client 0.145 to 0.169).
const historyFile = "thread_history_1.sqlite"

// Cursor is how far a client has read a rollout into its projection.
type Cursor struct {
	Offset  int64 // bytes of the rollout
	Ordinal int64 // of the next record
}

// Dir returns the directory of a home's databases: $CODEX_SQLITE_HOME, sqlite_home in config.toml, or the home.
func Dir(home string) string {
	if dir := os.Getenv("CODEX_SQLITE_HOME"); dir != "" {
		return dir
	}
	var config struct {
		Home string `toml:"sqlite_home"`
	}
	// A config that can't be read is the client's business; then the databases lie where they lie by default.
	if _, err := toml.DecodeFile(filepath.Join(home, "config.toml"), &config); err == nil && config.Home != "" {
		if filepath.IsAbs(config.Home) {
			return config.Home
		}
		return filepath.Join(home, config.Home)
	}
	return home
}

// open opens the history database of a home for reading or, with mode "rw", for writing; nil if there is none.
func open(ctx context.Context, home, mode string) (*sql.DB, string, error) {
	path := filepath.Join(Dir(home), historyFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, path, nil
	}
	q := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(3000)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, path, fmt.Errorf("opening %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, path, fmt.Errorf("opening %s: %w", path, err)
	}
	return db, path, nil
}

// projected are the tables whose rows belong to one rollout by their column thread_id. The last one came later.
var projected = []string{"thread_items", "thread_turns", "thread_history_projection_state", "thread_realtime_items"}

// tables returns those of the projected tables that a database has, or ErrSchema if they are not as known.
func tables(ctx context.Context, db *sql.DB, path string) ([]string, error) {
	var have []string
	for i, t := range projected {
		rows, err := db.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", t)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		columns, err := strings(rows)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		switch {
		case slices.Contains(columns, "thread_id"):
			have = append(have, t)
		case i < 3 || len(columns) > 0:
			return nil, fmt.Errorf("%s: %w: no %s.thread_id", path, ErrSchema, t)
		}
	}
	return have, nil
}

func strings(rows *sql.Rows) ([]string, error) {
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// Position returns how far the projection of a rollout has come; ok is false if it has none. It only reads.
func Position(ctx context.Context, home, rolloutID string) (c Cursor, ok bool, err error) {
	db, path, err := open(ctx, home, "ro")
	if db == nil || err != nil {
		return Cursor{}, false, err
	}
	defer db.Close()
	if _, err := tables(ctx, db, path); err != nil {
		return Cursor{}, false, err
	}
	row := db.QueryRowContext(ctx, "SELECT next_rollout_byte_offset, next_rollout_ordinal FROM thread_history_projection_state WHERE thread_id = ?", rolloutID)
	switch err := row.Scan(&c.Offset, &c.Ordinal); {
	case errors.Is(err, sql.ErrNoRows):
		return Cursor{}, false, nil
	case err != nil:
		return Cursor{}, false, fmt.Errorf("reading %s: %w", path, err)
	}
	return c, true, nil
}

// Clear deletes a rollout's rows from the projection in one transaction; the client builds them again at the next
// resume (measured with 0.169.0). It returns how many rows went. A home without the database has none.
func Clear(ctx context.Context, home, rolloutID string) (rows int64, err error) {
	db, path, err := open(ctx, home, "rw")
	if db == nil || err != nil {
		return 0, err
	}
	defer db.Close()
	have, err := tables(ctx, db, path)
	if err != nil {
		return 0, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("writing %s: %w", path, err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	for _, t := range have {
		res, err := tx.ExecContext(ctx, "DELETE FROM "+t+" WHERE thread_id = ?", rolloutID)
		if err != nil {
			return 0, fmt.Errorf("writing %s: %w", path, err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return 0, fmt.Errorf("writing %s: %w", path, err)
		}
		rows += n
	}
	if err := tx.Commit(); err != nil {
		return 0, fmt.Errorf("writing %s: %w", path, err)
	}
	return rows, nil
}
