package beside

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
)

// Rehome is the database of the list of threads, and what changes there the paths of sessions whose file is gone to those of the files that
// lie at the same place in this home; it returns how many. The path is "" if there is no such database.
func (h *Home) Rehome() (path string, change func(ctx context.Context, tx *sql.Tx) (int64, error)) {
	path = indexPath(h.dir)
	if _, err := os.Stat(path); err != nil {
		return "", nil
	}
	return path, h.rehome
}

func (h *Home) rehome(ctx context.Context, tx *sql.Tx) (n int64, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT rowid, rollout_path FROM threads")
	if err != nil {
		return 0, err
	}
	moved := map[int64]string{}
	for rows.Next() {
		var id int64
		var path string
		if err := rows.Scan(&id, &path); err != nil {
			rows.Close()
			return 0, err
		}
		if now := inHome(h.dir, path); now != "" {
			moved[id] = now
		}
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	for id, path := range moved {
		if _, err := tx.ExecContext(ctx, "UPDATE threads SET rollout_path = ? WHERE rowid = ?", path, id); err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// Strayed is how many threads the list names at places that are gone, though they lie at the same place in this home: it was moved
// or copied.
func (h *Home) Strayed(ctx context.Context) (n int, err error) {
	err = threadRows(ctx, h.dir, []string{"rollout_path"}, nil, func(rows *row) error {
		var path string
		if err := rows.Scan(&path); err != nil {
			return err
		}
		if inHome(h.dir, path) != "" {
			n++
		}
		return nil
	}, "")
	return n, err
}

// inHome is the file in a home at the same place as one that is gone from another; "" if there is none, or if that is not gone.
func inHome(home, path string) string {
	if _, err := os.Lstat(path); err == nil {
		return ""
	}
	slashed := strings.ReplaceAll(path, `\`, "/")
	for _, folder := range []string{"/sessions/", "/archived_sessions/"} {
		if i := strings.LastIndex(slashed, folder); i >= 0 {
			now := filepath.Join(home, filepath.FromSlash(slashed[i:]))
			if _, err := os.Lstat(now); err == nil {
				return now
			}
		}
	}
	return ""
}
