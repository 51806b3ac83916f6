package repair

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	_ "modernc.org/sqlite" // the driver: pure Go, so that hist stays one static binary

	"github.com/hist-cli/hist/internal/disk"
)

func openDatabase(path string) (*sql.DB, error) {
	q := url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(1000)", "secure_delete(1)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// changedDatabase writes a copy of a database that is at rest to a new file, changed by do, which returns how many values it has changed. The copy is
// one file without a log, and holds nothing of what was changed or deleted.
func changedDatabase(ctx context.Context, path, to string, do func(ctx context.Context, tx *sql.Tx) (int64, error)) (n int64, err error) {
	if err := copyDatabase(ctx, path, to); err != nil {
		return 0, fmt.Errorf("copying %s: %w", path, err)
	}
	db, err := openDatabase(to)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("changing a copy of %s: %w", path, err)
	}
	if n, err = do(ctx, tx); err == nil {
		err = tx.Commit()
	} else {
		tx.Rollback() //nolint:errcheck // the first error counts
	}
	if err == nil && n > 0 {
		_, err = db.ExecContext(ctx, "VACUUM")
	}
	if err != nil {
		return 0, fmt.Errorf("changing a copy of %s: %w", path, err)
	}
	return n, nil
}

func copyDatabase(ctx context.Context, path, to string) (err error) {
	db, err := openDatabase(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}

// restDatabase writes what a database's log holds into it. As the last one to close it, it leaves no log.
func restDatabase(ctx context.Context, path string) (err error) {
	db, err := openDatabase(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var busy, logged, written int
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &written); err != nil {
		return fmt.Errorf("writing the log of %s into it: %w", path, err)
	}
	if busy != 0 {
		return fmt.Errorf("%s: %w", path, disk.ErrBusy)
	}
	return nil
}

// atRest says whether a database has no log whose changes are not in it.
func atRest(path string) bool {
	for _, suffix := range []string{"-wal", "-journal"} {
		if info, err := os.Lstat(path + suffix); err == nil && info.Size() > 0 {
			return false
		}
	}
	return true
}

// replaceTexts replaces texts in all tables that are tables: what an index keeps of them follows if the client has triggers for that.
func replaceTexts(ctx context.Context, tx *sql.Tx, by *strings.Replacer) (n int64, err error) {
	tables, err := textsOf(ctx, tx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		return 0, err
	}
	for _, table := range tables {
		columns, err := textsOf(ctx, tx, "SELECT name FROM pragma_table_info(?)", table)
		if err != nil {
			return n, err
		}
		for _, column := range columns {
			m, err := replaceIn(ctx, tx, quotedName(table), quotedName(column), by)
			if n += m; err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func quotedName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func textsOf(ctx context.Context, tx *sql.Tx, query string, args ...any) (list []string, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}

// replaceIn replaces texts in a column. A table without row ids is left alone.
func replaceIn(ctx context.Context, tx *sql.Tx, table, column string, by *strings.Replacer) (n int64, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT rowid, CAST("+column+" AS TEXT), typeof("+column+") FROM "+table+" WHERE typeof("+column+") IN ('text', 'blob')")
	if err != nil {
		if strings.Contains(err.Error(), "no such column: rowid") {
			return 0, nil
		}
		return 0, err
	}
	type change struct {
		id   int64
		text any
	}
	var changes []change
	for rows.Next() {
		var c change
		var text, kind string
		if err := rows.Scan(&c.id, &text, &kind); err != nil {
			return 0, errors.Join(err, rows.Close())
		}
		if out := by.Replace(text); out != text {
			if c.text = out; kind == "blob" {
				c.text = []byte(out)
			}
			changes = append(changes, c)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	for _, c := range changes {
		if _, err := tx.ExecContext(ctx, "UPDATE "+table+" SET "+column+" = ? WHERE rowid = ?", c.text, c.id); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
