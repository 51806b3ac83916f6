package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/check"
)

// rowColumns are what Row reads of a thread. The optional ones came with later clients (0.129 to 0.160).
var (
	rowColumns  = []string{"rollout_path", "cwd", "source", "cli_version", "model_provider", "created_at"}
	rowOptional = []string{"created_at_ms", "history_mode", "originator"}
)

// Row reads what a home's list of threads says of one; nil if it is not listed. The error may be ErrSchema.
func Row(ctx context.Context, dir, thread string) (*check.Listed, error) {
	db, path, err := open(ctx, dir, stateFile, readOnly)
	if db == nil || err != nil {
		return nil, err
	}
	defer db.Close()
	has, err := columns(ctx, db, path, "threads")
	if err != nil {
		return nil, err
	}
	list := slices.Clone(rowColumns)
	for _, c := range append([]string{"id"}, rowColumns...) {
		if !slices.Contains(has, c) {
			return nil, fmt.Errorf("%s: %w: no threads.%s", path, agent.ErrSchema, c)
		}
	}
	for _, c := range rowOptional {
		if !slices.Contains(has, c) {
			c = "NULL"
		}
		list = append(list, c)
	}
	var found *check.Listed
	err = query(ctx, db, path, func(rows *sql.Rows) error {
		l := check.Listed{From: stateFile}
		var rollout string
		var version, provider, source, mode, originator sql.NullString
		var seconds, millis sql.NullInt64
		if err := rows.Scan(&rollout, &l.CWD, &source, &version, &provider, &seconds, &millis, &mode, &originator); err != nil {
			return err
		}
		l.ID, l.Base = strings.ToLower(thread), strings.TrimSuffix(filepath.Base(rollout), ".zst")
		l.Source, l.Version, l.Provider, l.Mode, l.Originator = source.String, version.String, provider.String, mode.String, originator.String
		if millis.Int64 > 0 {
			l.Created = time.UnixMilli(millis.Int64)
		} else if seconds.Int64 > 0 {
			l.Created = time.Unix(seconds.Int64, 0)
		}
		found = &l
		return nil
	}, "SELECT "+strings.Join(list, ", ")+" FROM threads WHERE lower(id) = ?", strings.ToLower(thread))
	return found, err
}
