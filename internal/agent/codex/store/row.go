package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/check"
)

// rowColumns are the columns that Row reads of a thread. The optional ones were added by later clients (0.129 to 0.160).
var (
	rowColumns  = []string{"id", "rollout_path", "cwd", "source", "cli_version", "model_provider", "created_at"}
	rowOptional = []string{"created_at_ms", "history_mode", "originator", "first_user_message", "tokens_used"}
)

// Rows says, for many threads of a home, whether their rows in its list of threads can be read.
type Rows struct{ asked *lasting[*list] }

// NewRows returns a reader for a home.
func NewRows(home string) *Rows {
	return &Rows{&lasting[*list]{home: home, file: codexhome.StateFile, look: openList}}
}

// Read reads a thread's row as its client does when it resumes the thread: by its id. The error may be ErrDamaged.
func (r *Rows) Read(ctx context.Context, thread string) error {
	return r.asked.ask(ctx, func(l *list) error { return l.read(ctx, thread) })
}

// list is a list of threads that is open to be read.
type list struct {
	db   *sql.DB
	path string
	row  *sql.Stmt // nil if the form is unknown

	asked int
	sound bool // all rows could be read
}

// manyThreads is up to how many threads are looked up one by one. Beyond that all rows are read at once, which costs a fifth as
// much per row.
const manyThreads = 256

func openList(ctx context.Context, home string) (*list, error) {
	db, path, err := open(ctx, home, codexhome.StateFile, readOnly)
	if db == nil || err != nil {
		return nil, err
	}
	l := &list{db: db, path: path}
	if l.row, err = db.PrepareContext(ctx, "SELECT * FROM threads WHERE id = ?"); errors.Is(named(err), ErrDamaged) {
		db.Close()
		return nil, fmt.Errorf("reading %s: %w", path, named(err))
	}
	return l, nil
}

func (l *list) close() { l.db.Close() }

func (l *list) read(ctx context.Context, thread string) error {
	if l.row == nil || l.sound {
		return nil
	}
	if l.asked++; l.asked == manyThreads {
		l.sound = l.readAll(ctx) == nil
	}
	return drain(ctx, l.row, l.path, thread)
}

// readAll reads all rows, each by its id.
func (l *list) readAll(ctx context.Context) error {
	all, err := l.db.PrepareContext(ctx, "SELECT * FROM threads ORDER BY id")
	if err != nil {
		return err
	}
	defer all.Close()
	return drain(ctx, all, l.path)
}

// drain reads all rows of a query, to find out whether they can be read.
func drain(ctx context.Context, stmt *sql.Stmt, path string, args ...any) error {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, named(err))
	}
	return each(rows, path, func(*row) error { return nil })
}

// Row reads a thread's row of a home's list of threads; nil if it is not listed. The error may be ErrSchema.
func Row(ctx context.Context, dir, thread string) (found *check.Listed, err error) {
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
