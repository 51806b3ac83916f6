package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	_ "modernc.org/sqlite" // the databases of the clients

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/source"
)

// addTwin puts another file of the session into its home, as it was at some time before the damage: in the archive or compressed
// beside it, as a move leaves it that was not ended; beside it under the name that a synchronisation gives it, or in the folder of
// another day; or it compresses the damaged file itself.
func addTwin(rng *rand.Rand, o *outcome, healthy []byte) (string, error) {
	lines := bytes.SplitAfter(healthy, []byte("\n"))
	n := 1 + rng.IntN(len(lines))
	earlier := bytes.Join(lines[:n], nil)
	kind := rng.IntN(5)
	switch {
	case kind == 3:
		conflict := strings.TrimSuffix(o.Path, ".jsonl") + " (conflicted copy).jsonl"
		return fmt.Sprintf("twin of %d lines, a conflicted copy", n), os.WriteFile(conflict, earlier, 0o600)
	case kind == 4:
		day := filepath.Join(filepath.Dir(o.Path), "..", "00")
		if err := os.MkdirAll(day, 0o700); err != nil {
			return "", err
		}
		return fmt.Sprintf("twin of %d lines in another day's folder", n), os.WriteFile(filepath.Join(day, filepath.Base(o.Path)), earlier, 0o600)
	}
	if codex.Before(o.Client, 0, 145) { // which read no compressed session
		kind = 0
	}
	switch kind {
	case 0:
		archive := filepath.Join(filepath.Dir(o.Path), "../../../../archived_sessions")
		if err := os.MkdirAll(archive, 0o700); err != nil {
			return "", err
		}
		return fmt.Sprintf("twin of %d lines in the archive", n), os.WriteFile(filepath.Join(archive, filepath.Base(o.Path)), earlier, 0o600)
	case 1:
		return fmt.Sprintf("twin of %d lines, compressed", n), compress(o.Path+".zst", earlier)
	}
	damaged, err := os.ReadFile(o.Path)
	if err != nil {
		return "", err
	}
	if err := os.Remove(o.Path); err != nil {
		return "", err
	}
	o.Path += ".zst"
	return "compressed afterwards", compress(o.Path, damaged)
}

func compress(path string, text []byte) error {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		return err
	}
	return os.WriteFile(path, enc.EncodeAll(text, nil), 0o600)
}

// contents reads a file, decompressed.
func contents(path string) ([]byte, error) {
	if !strings.HasSuffix(path, ".zst") {
		return os.ReadFile(path)
	}
	src, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	in, err := src.Reader(context.Background())
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(in)
}

// loseRows takes every second row, or all, out of one table of a database; what can't be opened stays as it is.
func loseRows(rng *rand.Rand, path string) (string, error) {
	what := "database " + filepath.Base(path)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return "", err
	}
	defer db.Close()
	tables, err := tablesOf(db)
	if err != nil || len(tables) == 0 {
		return what + " as it was", nil //nolint:nilerr // nothing in it can be lost
	}
	table, every := tables[rng.IntN(len(tables))], 1+rng.IntN(2)
	done, err := db.Exec(fmt.Sprintf("DELETE FROM %q WHERE rowid %% %d = 0", table, every))
	if err != nil {
		return what + " as it was", nil //nolint:nilerr // as above
	}
	lost, err := done.RowsAffected()
	return fmt.Sprintf("%s without %d rows of %s", what, lost, table), err
}

// tablesOf are the tables that a client fills, in the order of their names.
func tablesOf(db *sql.DB) (tables []string, err error) {
	rows, err := db.Query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_sqlx%' ORDER BY name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		tables = append(tables, name)
	}
	return tables, rows.Err()
}
