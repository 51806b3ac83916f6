package beside

import (
	"bufio"
	"bytes"
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

// rowsSchema is the version of the text that SaveRows writes: JSON lines. The first one is a rowsHead; then, for each table,
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

// SaveRows writes the rows of a rollout's projection, with all their columns, so that an undo can make the same rows. They may be
// the only copy of what they hold. If there are none it writes nothing.
func SaveRows(ctx context.Context, home, rolloutID string, w io.Writer) error {
	db, path, err := open(ctx, home, historyFile, readOnly)
	if db == nil || err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // so that all tables are read in one state
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, sqlError(err))
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	if _, err := tables(ctx, tx, path); err != nil {
		return err
	}
	return save(ctx, tx, path, rolloutID, nil, w)
}

// save writes the rows of a rollout. only are the columns that are written of each table; if it is nil, all are.
func save(ctx context.Context, tx *sql.Tx, path, rolloutID string, only map[string][]string, w io.Writer) error {
	have, err := tables(ctx, tx, path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	begun := false
	for _, table := range have {
		names := only[table]
		if only == nil {
			if names, err = columns(ctx, tx, path, table); err != nil {
				return err
			}
		}
		err := eachRow(ctx, tx, path, table, names, rolloutID, func(row []any, first bool) error {
			if !begun {
				begun = true
				if err := enc.Encode(rowsHead{rowsSchema, historyFile, rolloutID}); err != nil {
					return err
				}
			}
			if first {
				if err := enc.Encode(rowsTable{table, names}); err != nil {
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
func eachRow(ctx context.Context, tx *sql.Tx, path, table string, names []string, rolloutID string, do func(row []any, first bool) error) error {
	list, lengths := make([]string, len(names)), make([]string, len(names))
	for i, n := range names {
		list[i] = "+" + quoted(n) // without its declared type, which would make the driver return times and booleans
		lengths[i] = "ifnull(octet_length(" + quoted(n) + "), 0)"
	}
	if len(names) == 0 {
		return nil
	}
	from := " FROM " + quoted(table) + " WHERE thread_id = ?"
	var longest int64 // is known without reading the values
	if err := tx.QueryRowContext(ctx, "SELECT ifnull(max("+strings.Join(lengths, " + ")+"), 0)"+from, rolloutID).Scan(&longest); err != nil {
		return fmt.Errorf("reading %s: %w", path, sqlError(err))
	}
	if longest > maxCell {
		return fmt.Errorf("%s: %w: a row of %s has more than %d MiB", path, errSchema, table, maxCell>>20)
	}
	rows, err := tx.QueryContext(ctx, "SELECT "+strings.Join(list, ", ")+from+" ORDER BY "+strings.Join(list, ", "), rolloutID)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, sqlError(err))
	}
	defer rows.Close()
	row, to := make([]any, len(names)), make([]any, len(names))
	for n := 0; rows.Next(); n++ {
		if n == maxRows {
			return fmt.Errorf("%s: %w: %s has more than %d rows of this thread", path, errSchema, table, maxRows)
		}
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return fmt.Errorf("reading %s: %w", path, sqlError(err))
		}
		if err := do(row, n == 0); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading %s: %w", path, sqlError(err))
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

// unchanged says whether a rollout's rows are still those that SaveRows wrote; sum is the SHA-256 of SaveRows's text.
func unchanged(ctx context.Context, tx *sql.Tx, path, rolloutID, sum string) error {
	h := sha256.New()
	if err := save(ctx, tx, path, rolloutID, nil, h); err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != sum {
		return fmt.Errorf("%s: %w", path, ErrRows)
	}
	return nil
}

// restore replaces the rows of a rollout by what SaveRows has written, or by none if saved is nil, in one transaction. now is the
// SHA-256 of what SaveRows would write now: if the rows differ from it, nothing is changed and the error is ErrRows; with "" they
// may be any. It returns false if the home no longer has such a database. The error is errSchema if a client has given the
// database another form, or the text is of another version.
func restore(ctx context.Context, home, rolloutID, now string, saved io.Reader) (bool, error) {
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
	err = changing(ctx, tx, path, have, func() ([]int64, error) {
		more, err := clearAll(ctx, tx, path, have, rolloutID)
		if err != nil || saved == nil {
			return more, err
		}
		text := sha256.New()
		added, err := insert(ctx, tx, path, have, rolloutID, io.TeeReader(saved, text))
		if err == nil {
			err = same(ctx, tx, path, rolloutID, added, text.Sum(nil))
		}
		if err != nil {
			return nil, fmt.Errorf("bringing back rows of %s: %w", path, err)
		}
		for i, table := range have {
			more[i] += added[table].rows
		}
		return more, nil
	})
	return err == nil, err
}

// inserted is what was inserted into a table.
type inserted struct {
	columns []string
	rows    int64
}

// same makes sure that a rollout has the rows that were inserted and no others, with the same types and values. text is the SHA-256
// of what they were read from.
func same(ctx context.Context, tx *sql.Tx, path, rolloutID string, added map[string]inserted, text []byte) error {
	only := map[string][]string{}
	for table, of := range added {
		only[table] = of.columns
	}
	h := sha256.New()
	if err := save(ctx, tx, path, rolloutID, only, h); err != nil {
		return err
	}
	if !bytes.Equal(h.Sum(nil), text) {
		return fmt.Errorf("%w: they are not the same when they are read again", errSchema)
	}
	return nil
}

// insert adds the rows that SaveRows has written; it returns how many, for each table.
func insert(ctx context.Context, tx *sql.Tx, path string, have []string, rolloutID string, saved io.Reader) (added map[string]inserted, err error) {
	d := json.NewDecoder(saved)
	d.UseNumber()
	var head rowsHead
	if err := d.Decode(&head); err != nil {
		return nil, err
	}
	if head.Schema != rowsSchema || head.Database != historyFile || head.Rollout != rolloutID {
		return nil, fmt.Errorf("%w: %+v is not what was saved of rollout %s", errSchema, head, rolloutID)
	}
	added = map[string]inserted{}
	var add *sql.Stmt
	var t rowsTable
	for {
		var raw json.RawMessage
		switch err := d.Decode(&raw); {
		case err == io.EOF:
			return added, nil
		case err != nil:
			return nil, err
		}
		if raw[0] == '{' {
			t = rowsTable{}
			if err := json.Unmarshal(raw, &t); err != nil {
				return nil, err
			}
			if add, err = into(ctx, tx, path, have, t); err != nil {
				return nil, err
			}
			defer add.Close()
			continue
		}
		row, err := values(raw)
		if err != nil {
			return nil, err
		}
		if add == nil || len(row) != len(t.Columns) || row[slices.Index(t.Columns, "thread_id")] != rolloutID {
			return nil, fmt.Errorf("%w: a row is not one of rollout %s", errSchema, rolloutID)
		}
		if _, err := add.ExecContext(ctx, row...); err != nil {
			return nil, sqlError(err)
		}
		added[t.Table] = inserted{t.Columns, added[t.Table].rows + 1}
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
		return nil, fmt.Errorf("%w: no table %q", errSchema, t.Table)
	}
	if !slices.Contains(t.Columns, "thread_id") {
		return nil, fmt.Errorf("%w: rows of %s without a thread", errSchema, t.Table)
	}
	names, err := columns(ctx, tx, path, t.Table)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(t.Columns))
	for i, n := range t.Columns {
		if !slices.Contains(names, n) {
			return nil, fmt.Errorf("%w: no %s.%s", errSchema, t.Table, n)
		}
		list[i] = quoted(n)
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(list)), ", ")
	return tx.PrepareContext(ctx, "INSERT INTO "+quoted(t.Table)+" ("+strings.Join(list, ", ")+") VALUES ("+marks+")")
}
