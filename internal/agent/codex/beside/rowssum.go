package beside

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"

	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
)

// summed are the questions that are asked about each rollout, or thread, even if it has lost nothing.
var summed = map[string][]string{
	historyFile: {
		"SELECT turn_id, item_id FROM thread_items WHERE thread_id = ?",
		"SELECT rowid, * FROM thread_turns WHERE thread_id = ? ORDER BY rollout_ordinal",
		"SELECT * FROM thread_history_projection_state WHERE thread_id = ?",
		newestItems,
	},
	codexhome.StateFile: {"SELECT rowid, * FROM threads WHERE id = ?"},
}

// RowsSum is a fingerprint of what a home's database of this name answers to them about a rollout, or a thread. The error may be
// errSchema.
func RowsSum(ctx context.Context, home, name, id string) (print [16]byte, err error) {
	db, path, err := open(ctx, home, name, readOnly)
	if db == nil || err != nil {
		return print, err
	}
	defer db.Close()
	h, left := sha256.New(), maxRead
	for _, text := range summed[name] {
		err := query(ctx, db, path, func(rows *row) error {
			names, err := rows.Columns()
			if err != nil {
				return err
			}
			cells, to := make([]sql.RawBytes, len(names)), make([]any, len(names))
			for i := range cells {
				to[i] = &cells[i]
			}
			if err := rows.Rows.Scan(to...); err != nil {
				return err
			}
			for i, c := range cells {
				length := len(c)
				if left -= length; c == nil {
					length = -1
				}
				h.Write(binary.AppendVarint([]byte(names[i]), int64(length)))
				h.Write(c)
			}
			if left < 0 {
				return fmt.Errorf("%w: it holds more than %d MiB of one session", errSchema, maxRead>>20)
			}
			return nil
		}, text, id)
		if err != nil && !misfit(err) {
			return print, err
		}
		fmt.Fprint(h, "\x00", err != nil, "\x00")
	}
	return [16]byte(h.Sum(nil)), nil
}
