package beside

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
)

// rehome changes, in a list of threads, each path of a session whose file is gone to that of the file at the same place in a home. It
// returns how many.
func rehome(ctx context.Context, tx *sql.Tx, home string) (n int64, err error) {
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
		if now := inHome(home, path); now != "" {
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

// strayed is how many rows rehome would change.
func strayed(ctx context.Context, home string) (n int, err error) {
	err = threadRows(ctx, home, []string{"rollout_path"}, nil, func(rows *row) error {
		var path string
		if err := rows.Scan(&path); err != nil {
			return err
		}
		if inHome(home, path) != "" {
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
