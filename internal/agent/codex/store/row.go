package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"time"

	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/check"
)

// rowColumns are what Row reads of a thread. The optional ones came with later clients (0.129 to 0.160).
var (
	rowColumns  = []string{"id", "rollout_path", "cwd", "source", "cli_version", "model_provider", "created_at"}
	rowOptional = []string{"created_at_ms", "history_mode", "originator", "first_user_message"}
)

// Row reads what a home's list of threads says of one; nil if it is not listed. The error may be ErrSchema.
func Row(ctx context.Context, dir, thread string) (found *check.Listed, err error) {
	err = threadRows(ctx, dir, rowColumns, rowOptional, func(rows *sql.Rows) error {
		l := check.Listed{From: codexhome.StateFile}
		var id, rollout string
		var version, provider, source, mode, originator, prompt sql.NullString
		var seconds, millis sql.NullInt64
		if err := rows.Scan(&id, &rollout, &l.CWD, &source, &version, &provider, &seconds, &millis, &mode, &originator, &prompt); err != nil {
			return err
		}
		l.ID, l.Base = strings.ToLower(id), strings.TrimSuffix(filepath.Base(rollout), ".zst")
		l.Source, l.Version, l.Provider, l.Mode, l.Originator, l.Prompt = source.String, version.String, provider.String, mode.String, originator.String, prompt.String
		if millis.Int64 > 0 {
			l.Created = time.UnixMilli(millis.Int64)
		} else if seconds.Int64 > 0 {
			l.Created = time.Unix(seconds.Int64, 0)
		}
		found = &l
		return nil
	}, "WHERE lower(id) = ?", strings.ToLower(thread))
	return found, err
}
