package store

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrRows says that rows have changed since they were saved; nothing was changed.
var ErrRows = errors.New("the client's rows have changed since they were saved")

// rowsSchema is the version of the text that Save writes: JSON lines. The first one is a rowsHead; then, for each table,
// comes an object with its columns and an array for each of its rows.
const rowsSchema = 1

type rowsHead struct {
	Schema   int    `json:"schema"`
	Database string `json:"database"`
	Rollout  string `json:"thread_id"` // as the column is called
}

type rowsTable struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
}

// Save writes the rows of a rollout's projection, with all their columns, so that Restore can make the same rows. They may be
// the only copy of what they hold. If there are none it writes nothing.
func Save(ctx context.Context, home, rolloutID string, w io.Writer) error {
	db, path, err := open(ctx, home, historyFile, readOnly)
	if db == nil || err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // so that all tables are read in one state
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, named(err))
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	if _, err := tables(ctx, tx, path); err != nil {
		return err
	}
	return save(ctx, tx, path, rolloutID, w)
}

func save(ctx context.Context, tx *sql.Tx, path, rolloutID string, w io.Writer) error {
	have, err := tables(ctx, tx, path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	begun := false
	for _, table := range have {
		err := eachRow(ctx, tx, path, table, rolloutID, func(columns []string, row []any, first bool) error {
			if !begun {
				begun = true
				if err := enc.Encode(rowsHead{rowsSchema, historyFile, rolloutID}); err != nil {
					return err
				}
			}
			if first {
				if err := enc.Encode(rowsTable{table, columns}); err != nil {
					return err
				}
			}
			for i := range row {
				row[i] = toJSON(row[i])
			}
			return enc.Encode(row)
		})
		if err != nil {
			return err
		}
	}
	return out.Flush()
}

// eachRow calls do with each row of a table that belongs to a rollout, in an order that does not change.
func eachRow(ctx context.Context, tx *sql.Tx, path, table, rolloutID string, do func(columns []string, row []any, first bool) error) error {
	names, err := columns(ctx, tx, path, table)
	if err != nil {
		return err
	}
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = "+" + quoted(n) // without its declared type, which would make the driver return times and booleans
	}
	rows, err := tx.QueryContext(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+quoted(table)+" WHERE thread_id = ? ORDER BY "+strings.Join(list, ", "), rolloutID)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, named(err))
	}
	defer rows.Close()
	row, to := make([]any, len(names)), make([]any, len(names))
	for first := true; rows.Next(); first = false {
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return fmt.Errorf("reading %s: %w", path, named(err))
		}
		if err := do(names, row, first); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading %s: %w", path, named(err))
	}
	return nil
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// toJSON keeps the types that SQLite distinguishes: an integer is a number; a real number, and bytes that are not text, are
// objects.
func toJSON(v any) any {
	switch v := v.(type) {
	case float64:
		return map[string]string{"real": strconv.FormatFloat(v, 'x', -1, 64)}
	case []byte:
		return map[string]string{"blob": base64.StdEncoding.EncodeToString(v)}
	case string:
		if !utf8.ValidString(v) {
			return map[string]string{"text": base64.StdEncoding.EncodeToString([]byte(v))}
		}
	}
	return v
}

// fromJSON is the inverse of toJSON.
func fromJSON(v any) (any, error) {
	switch v := v.(type) {
	case nil, string:
		return v, nil
	case json.Number:
		return v.Int64()
	case map[string]any:
		for kind, text := range v {
			s, ok := text.(string)
			if !ok || len(v) != 1 {
				break
			}
			switch kind {
			case "real":
				return strconv.ParseFloat(s, 64)
			case "blob":
				return base64.StdEncoding.DecodeString(s)
			case "text":
				b, err := base64.StdEncoding.DecodeString(s)
				return string(b), err
			}
		}
	}
	return nil, fmt.Errorf("%v is no value of a saved row", v)
}

// unchanged says whether a rollout's rows are still those that Save wrote; sum is the SHA-256 of Save's text.
func unchanged(ctx context.Context, tx *sql.Tx, path, rolloutID, sum string) error {
	h := sha256.New()
	if err := save(ctx, tx, path, rolloutID, h); err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != sum {
		return fmt.Errorf("%s: %w", path, ErrRows)
	}
	return nil
}

// Restore replaces the rows of a rollout by what Save has written, or by none if saved is nil, in one transaction. now is the
// SHA-256 of what Save would write now: if the rows differ from it, nothing is changed and the error is ErrRows; with "" they
// may be any. It returns false if the home no longer has such a database. The error is ErrSchema if a client has given the
// database another form, or the text is of another version.
func Restore(ctx context.Context, home, rolloutID, now string, saved io.Reader) (bool, error) {
	db, path, err := open(ctx, home, historyFile, readWrite)
	if db == nil || err != nil {
		return false, err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, fmt.Errorf("writing %s: %w", path, err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	have, err := tables(ctx, tx, path)
	if err != nil {
		return false, err
	}
	if now != "" {
		if err := unchanged(ctx, tx, path, rolloutID, now); err != nil {
			return false, err
		}
	}
	if _, err := clearAll(ctx, tx, path, have, rolloutID); err != nil {
		return false, err
	}
	if saved == nil {
		return true, tx.Commit()
	}
	if err := insert(ctx, tx, path, have, rolloutID, saved); err != nil {
		return false, fmt.Errorf("bringing back rows of %s: %w", path, err)
	}
	if err := tx.Commit(); err != nil {
		return false, fmt.Errorf("writing %s: %w", path, err)
	}
	return true, nil
}

func insert(ctx context.Context, tx *sql.Tx, path string, have []string, rolloutID string, saved io.Reader) error {
	d := json.NewDecoder(saved)
	d.UseNumber()
	var head rowsHead
	if err := d.Decode(&head); err != nil {
		return err
	}
	if head.Schema != rowsSchema || head.Database != historyFile || head.Rollout != rolloutID {
		return fmt.Errorf("%w: %+v is not what was saved of rollout %s", ErrSchema, head, rolloutID)
	}
	var add *sql.Stmt
	var width, thread int
	for {
		var raw json.RawMessage
		switch err := d.Decode(&raw); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if raw[0] == '{' {
			var t rowsTable
			if err := json.Unmarshal(raw, &t); err != nil {
				return err
			}
			var err error
			if add, err = into(ctx, tx, path, have, t); err != nil {
				return err
			}
			defer add.Close()
			if width, thread = len(t.Columns), slices.Index(t.Columns, "thread_id"); thread < 0 {
				return fmt.Errorf("%w: rows of %s without a thread", ErrSchema, t.Table)
			}
			continue
		}
		row, err := values(raw)
		if err != nil {
			return err
		}
		if add == nil || len(row) != width || row[thread] != rolloutID {
			return fmt.Errorf("%w: a row is not one of rollout %s", ErrSchema, rolloutID)
		}
		if _, err := add.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
}

// values reads one saved row.
func values(raw []byte) ([]any, error) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var row []any
	if err := d.Decode(&row); err != nil {
		return nil, err
	}
	for i := range row {
		var err error
		if row[i], err = fromJSON(row[i]); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// into prepares the insertion of rows into a table that still has the columns of the saved rows; a newer client may have added
// others.
func into(ctx context.Context, tx *sql.Tx, path string, have []string, t rowsTable) (*sql.Stmt, error) {
	if !slices.Contains(have, t.Table) {
		return nil, fmt.Errorf("%w: no table %q", ErrSchema, t.Table)
	}
	names, err := columns(ctx, tx, path, t.Table)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(t.Columns))
	for i, n := range t.Columns {
		if !slices.Contains(names, n) {
			return nil, fmt.Errorf("%w: no %s.%s", ErrSchema, t.Table, n)
		}
		list[i] = quoted(n)
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(list)), ", ")
	return tx.PrepareContext(ctx, "INSERT INTO "+quoted(t.Table)+" ("+strings.Join(list, ", ")+") VALUES ("+marks+")")
}
