package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
)

// LogRow is a row of a client's log in which it tells what it sent to the model, or got from it.
type LogRow struct {
	File    string // of the home's databases, that holds it
	ID      int64  // rows of one process stand in the order in which it wrote them
	At      time.Time
	Process string // that wrote it
	Text    string
}

// logColumns are what is read of the log, beside one of logTexts; a database that lacks one is in a form that is not known.
var logColumns = []string{"id", "ts", "ts_nanos", "level", "target", "thread_id", "process_uuid"}

// logTexts are the columns that hold what a row tells: from 0.117 on, and before.
var logTexts = []string{"feedback_log_body", "message"}

// Which rows tell what was sent (codex_client: 0.110 to 0.141; codex_http_client: 0.145), and what came.
const (
	sentRows = "level = 'TRACE' AND target IN ('codex_client::transport', 'codex_http_client::transport')"
	gotRows  = "level = 'TRACE' AND target = 'codex_api::sse::responses'"
)

// typedRows are those that tell what a user has typed (codex_core::codex: 0.120; the other from 0.128 on; from 0.163 on, without its text).
const typedRows = "level = 'DEBUG' AND target IN ('codex_core::codex', 'codex_core::session::handlers')"

// calledRows are those that tell of calls, one by one (from 0.148 on; up to 0.155.1, with what they ask).
const calledRows = "level IN ('INFO', 'DEBUG') AND target IN ('codex_core::stream_events_utils', 'codex_core::tools::parallel')"

// Called shows what a thread's clients told their log of its calls, in its order, as Sent does.
func Called(ctx context.Context, home, thread string, see func(LogRow) bool) error {
	return inOrder(ctx, home, thread, calledRows, see)
}

// Typed shows what a thread's clients told their log of what they were asked to do, in its order, as Sent does.
func Typed(ctx context.Context, home, thread string, see func(LogRow) bool) error {
	return inOrder(ctx, home, thread, typedRows, see)
}

// inOrder shows the rows of a thread to which a condition applies, in their order.
func inOrder(ctx context.Context, home, thread, condition string, see func(LogRow) bool) error {
	more := true
	for _, file := range codexhome.Logs() {
		err := logged(ctx, home, file, func(r LogRow) bool { more = see(r); return more }, condition+" AND thread_id = ? ORDER BY id", thread)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// Of a log so much is read at most: a longer row is passed over. The client itself keeps no more than 10 MiB of a thread.
const (
	maxLogRow  = 32 << 20 // bytes
	maxLogRows = 1 << 12
)

// Sent shows what a thread's clients told their logs of its requests, the newest first, until see returns false. It shows
// nothing if there is no log; the error may be ErrSchema.
func Sent(ctx context.Context, home, thread string, see func(LogRow) bool) error {
	more := true
	for _, file := range codexhome.Logs() {
		err := logged(ctx, home, file, func(r LogRow) bool { more = see(r); return more }, sentRows+" AND thread_id = ? ORDER BY id DESC", thread)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// Got shows what a process told its log of the model's answers behind a row, in its order, as Sent does. They do not say
// which thread they belong to: nothing is shown if the process told of the requests of another thread, too.
func Got(ctx context.Context, home, thread string, sent LogRow, see func(LogRow) bool) error {
	alone := true
	err := logged(ctx, home, sent.File, func(LogRow) bool { alone = false; return false },
		sentRows+" AND process_uuid = ? AND thread_id IS NOT ? ORDER BY id", sent.Process, thread)
	if err != nil || !alone || sent.Process == "" {
		return err
	}
	return logged(ctx, home, sent.File, see, gotRows+" AND process_uuid = ? AND thread_id IS NULL AND id > ? ORDER BY id", sent.Process, sent.ID)
}

// logged shows the rows of a log to which a condition applies, and which end in an order.
func logged(ctx context.Context, home, file string, see func(LogRow) bool, condition string, args ...any) error {
	db, path, err := open(ctx, home, file, readOnly)
	if db == nil || err != nil {
		return err
	}
	defer db.Close()
	has, err := columns(ctx, db, path, "logs")
	if err != nil || len(has) == 0 && file == codexhome.StateFile {
		return err // it keeps no log, as those of most clients
	}
	for _, c := range logColumns {
		if !slices.Contains(has, c) {
			return fmt.Errorf("%s: %w: no logs.%s", path, ErrSchema, c)
		}
	}
	i := slices.IndexFunc(logTexts, func(c string) bool { return slices.Contains(has, c) })
	if i < 0 {
		return fmt.Errorf("%s: %w: no logs.%s", path, ErrSchema, logTexts[0])
	}
	text := logTexts[i]
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := false
	err = query(ctx, db, path, func(rows *sql.Rows) error {
		if done {
			return nil
		}
		r := LogRow{File: file}
		var secs, nanos int64
		if err := rows.Scan(&r.ID, &secs, &nanos, &r.Process, &r.Text); err != nil {
			return err
		}
		r.At = time.Unix(secs, nanos).UTC()
		if done = !see(r); done {
			stop() // the rest need not be read
		}
		return nil
	}, fmt.Sprintf(`SELECT id, ts, ts_nanos, coalesce(process_uuid, ''), %[1]s FROM logs
		WHERE %[1]s IS NOT NULL AND length(CAST(%[1]s AS BLOB)) <= %[2]d AND %[3]s LIMIT %[4]d`, text, maxLogRow, condition, maxLogRows), args...)
	if done {
		return nil
	}
	return err
}
