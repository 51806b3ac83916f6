package beside

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
)

// LogRow is a row of a client's log about what it sent to the model, or received from it.
type LogRow struct {
	File    string // of the home's databases, that holds it
	ID      int64  // rows of one process stand in the order in which it wrote them
	At      time.Time
	Process string // that wrote it
	Text    string
}

// logColumns are the columns that are read of the log, besides one of logTexts. A database that lacks one is in an unknown
// form.
var logColumns = []string{"id", "ts", "ts_nanos", "level", "target", "thread_id", "process_uuid"}

// logTexts are the columns that hold the text of a row: from 0.117 on, and before.
var logTexts = []string{"feedback_log_body", "message"}

// Which rows hold what was sent (codex_client: 0.110 to 0.141; codex_http_client: 0.145), and which hold what was received.
const (
	sentRows = "level = 'TRACE' AND target IN ('codex_client::transport', 'codex_http_client::transport')"
	gotRows  = "level = 'TRACE' AND target = 'codex_api::sse::responses'"
)

// typedRows are the rows with what a user has typed (codex_core::codex: 0.120; the other from 0.128 on; from 0.163 on, without
// its text).
const typedRows = "level = 'DEBUG' AND target IN ('codex_core::codex', 'codex_core::session::handlers')"

// calledRows are the rows about single calls (from 0.148 on; up to 0.155.1, with what they ask).
const calledRows = "level IN ('INFO', 'DEBUG') AND target IN ('codex_core::stream_events_utils', 'codex_core::tools::parallel')"

// LoggedCalls passes the log's rows about a thread's calls to see, in their order, as LoggedRequests does.
func LoggedCalls(ctx context.Context, home, thread string, see func(LogRow) bool) error {
	return everyLog(ctx, home, thread, calledRows, "", see)
}

// loggedPrompts passes the log's rows about what a thread's clients were asked to see, in their order, as LoggedRequests does.
func loggedPrompts(ctx context.Context, home, thread string, see func(LogRow) bool) error {
	return everyLog(ctx, home, thread, typedRows, "", see)
}

// everyLog passes the rows of a thread that meet a condition to see, in the order of their numbers or, if order says so, the other way.
func everyLog(ctx context.Context, home, thread, condition, order string, see func(LogRow) bool) error {
	more := true
	for _, file := range codexhome.Logs() {
		err := logged(ctx, home, file, func(r LogRow) bool { more = see(r); return more }, condition+" AND thread_id = ? ORDER BY id"+order, thread)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// Limits of what is read of a log; a longer row is left out. The client itself keeps no more than 10 MiB per thread.
const (
	maxLogRow  = maxCell // bytes
	maxLogRows = 1 << 12
)

// LoggedRequests passes the log's rows about a thread's requests to see, newest first, until see returns false. If there is no log it
// does nothing; the error may be errSchema.
func LoggedRequests(ctx context.Context, home, thread string, see func(LogRow) bool) error {
	return everyLog(ctx, home, thread, sentRows, " DESC", see)
}

// LoggedAnswers passes the rows about the model's answers that a process logged after a row to see, in their order, as LoggedRequests does. These
// rows do not say to which thread they belong, so there are none if the process also logged requests of another thread.
func LoggedAnswers(ctx context.Context, home, thread string, sent LogRow, see func(LogRow) bool) error {
	alone := true
	err := logged(ctx, home, sent.File, func(LogRow) bool { alone = false; return false },
		sentRows+" AND process_uuid = ? AND thread_id IS NOT ? ORDER BY id", sent.Process, thread)
	if err != nil || !alone || sent.Process == "" {
		return err
	}
	return logged(ctx, home, sent.File, see, gotRows+" AND process_uuid = ? AND thread_id IS NULL AND id > ? ORDER BY id", sent.Process, sent.ID)
}

// logged passes the rows of a log that meet a condition to see; the condition ends with the order.
func logged(ctx context.Context, home, file string, see func(LogRow) bool, condition string, args ...any) error {
	db, path, err := open(ctx, home, file, readOnly)
	if db == nil || err != nil {
		return err
	}
	defer db.Close()
	has, err := columns(ctx, db, path, "logs")
	if err != nil || len(has) == 0 && file == codexhome.StateFile {
		return err // there is no log, as with most clients
	}
	for _, c := range logColumns {
		if !slices.Contains(has, c) {
			return fmt.Errorf("%s: %w: no logs.%s", path, errSchema, c)
		}
	}
	i := slices.IndexFunc(logTexts, func(c string) bool { return slices.Contains(has, c) })
	if i < 0 {
		return fmt.Errorf("%s: %w: no logs.%s", path, errSchema, logTexts[0])
	}
	text := logTexts[i]
	err = query(ctx, db.DB, path, func(rows *row) error {
		r := LogRow{File: file}
		var secs, nanos int64
		if err := rows.Scan(&r.ID, &secs, &nanos, &r.Process, &r.Text); err != nil {
			return err
		}
		r.At = time.Unix(secs, nanos).UTC()
		if !see(r) {
			return errEnough
		}
		return nil
	}, fmt.Sprintf(`SELECT id, ts, ts_nanos, coalesce(process_uuid, ''), %[1]s FROM logs
		WHERE %[1]s IS NOT NULL AND octet_length(%[1]s) <= %[2]d AND %[3]s LIMIT %[4]d`, text, maxLogRow, condition, maxLogRows), args...)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
