package beside

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"time"

	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/check"
)

// rowColumns are the columns that threadRow reads of a thread. The optional ones were added by later clients (0.129 to 0.160).
var (
	rowColumns  = []string{"id", "rollout_path", "cwd", "source", "cli_version", "model_provider", "created_at"}
	rowOptional = []string{"created_at_ms", "history_mode", "originator", "first_user_message", "tokens_used"}
)

// readRow reads a thread's row of a home's list of threads as its client does when it resumes the thread: by its id. The error may be
// errDamaged.
func readRow(ctx context.Context, home, thread string) error {
	db, path, err := open(ctx, home, codexhome.StateFile, readOnly)
	if db == nil || err != nil {
		return err
	}
	defer db.Close()
	err = query(ctx, db, path, func(*row) error { return nil }, "SELECT * FROM threads WHERE id = ?", thread)
	if errors.Is(err, errDamaged) {
		return err
	}
	return nil // a list in another form is none that is read here
}

// threadRow reads a thread's row of a home's list of threads; nil if it is not listed. The error may be errSchema.
func threadRow(ctx context.Context, dir, thread string) (found *check.Listed, err error) {
	err = threadRows(ctx, dir, rowColumns, rowOptional, func(rows *row) error {
		l := check.Listed{From: codexhome.StateFile}
		var id, rollout string
		var version, provider, source, mode, originator, prompt sql.NullString
		var seconds, millis, tokens sql.NullInt64
		if err := rows.Scan(&id, &rollout, &l.CWD, &source, &version, &provider, &seconds, &millis, &mode, &originator, &prompt, &tokens); err != nil {
			return err
		}
		l.ID, l.Base = strings.ToLower(id), strings.TrimSuffix(filepath.Base(rollout), ".zst")
		l.Source, l.Version, l.Provider, l.Mode, l.Originator, l.Prompt, l.Tokens = source.String, version.String, provider.String, mode.String, originator.String, prompt.String, tokens.Int64
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
