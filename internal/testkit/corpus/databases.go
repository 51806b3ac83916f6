package corpus

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	_ "modernc.org/sqlite" // makes the databases

	"github.com/hist-cli/hist/internal/walk"
)

// historySchema and stateSchema are the tables and indexes that 0.169.0 makes, as far as a client reads them of a session.
var (
	historySchema = `
CREATE TABLE thread_turns (thread_id TEXT NOT NULL, turn_id TEXT NOT NULL, rollout_ordinal INTEGER NOT NULL, status TEXT NOT NULL, error_json TEXT, started_at INTEGER,
	completed_at INTEGER, duration_ms INTEGER, first_user_item_id TEXT, final_agent_item_id TEXT, rollout_byte_offset INTEGER, rollout_end_ordinal INTEGER,
	rollout_end_byte_offset INTEGER, root_turn_id TEXT, PRIMARY KEY (thread_id, turn_id));
CREATE UNIQUE INDEX idx_thread_turns_page ON thread_turns(thread_id, rollout_ordinal);
CREATE INDEX idx_thread_turns_end_page ON thread_turns(thread_id, rollout_end_ordinal, turn_id) WHERE rollout_end_ordinal IS NOT NULL;
CREATE TABLE thread_items (thread_id TEXT NOT NULL, turn_id TEXT NOT NULL, item_id TEXT NOT NULL, rollout_ordinal INTEGER NOT NULL, created_at_ms INTEGER NOT NULL,
	item_json TEXT NOT NULL, item_type TEXT NOT NULL DEFAULT '', updated_at_ordinal INTEGER NOT NULL DEFAULT 0, started_at_ms INTEGER, completed_at_ms INTEGER,
	PRIMARY KEY (thread_id, turn_id, item_id));
CREATE UNIQUE INDEX idx_thread_items_page ON thread_items(thread_id, rollout_ordinal);
CREATE INDEX idx_thread_items_by_turn_page ON thread_items(thread_id, turn_id, rollout_ordinal);
CREATE INDEX idx_thread_items_user_messages ON thread_items(thread_id, rollout_ordinal) WHERE item_type = 'userMessage';
CREATE INDEX idx_thread_items_updated_page ON thread_items(thread_id, updated_at_ordinal);
CREATE INDEX idx_thread_items_by_turn_updated_page ON thread_items(thread_id, turn_id, updated_at_ordinal);
CREATE TABLE thread_history_projection_state (thread_id TEXT PRIMARY KEY, next_rollout_byte_offset INTEGER NOT NULL, next_rollout_ordinal INTEGER NOT NULL);
CREATE TABLE thread_realtime_items (thread_id TEXT NOT NULL, item_id TEXT NOT NULL, rollout_ordinal INTEGER NOT NULL, created_at_ms INTEGER NOT NULL,
	item_type TEXT NOT NULL, item_json TEXT NOT NULL, PRIMARY KEY (thread_id, item_id));
CREATE UNIQUE INDEX idx_thread_realtime_items_page ON thread_realtime_items(thread_id, rollout_ordinal);`
	stateSchema = `
CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, source TEXT NOT NULL,
	model_provider TEXT NOT NULL, cwd TEXT NOT NULL, title TEXT NOT NULL, archived INTEGER NOT NULL DEFAULT 0, cli_version TEXT NOT NULL DEFAULT '',
	first_user_message TEXT NOT NULL DEFAULT '', preview TEXT NOT NULL DEFAULT '', updated_at_ms INTEGER, recency_at_ms INTEGER NOT NULL DEFAULT 0,
	history_mode TEXT NOT NULL DEFAULT 'legacy', name TEXT);
CREATE INDEX idx_threads_updated_at_ms ON threads(updated_at_ms DESC, id DESC);
CREATE INDEX idx_threads_archived_cwd_updated_at_ms ON threads(archived, cwd, updated_at_ms DESC, id DESC);
CREATE INDEX idx_threads_visible_recency_at_ms ON threads(archived, recency_at_ms DESC, id DESC) WHERE preview <> '';
CREATE TABLE backfill_state (id INTEGER PRIMARY KEY, status TEXT NOT NULL);
INSERT INTO backfill_state VALUES (1, 'complete');`
)

// Databases writes for a home of paginated sessions what Codex keeps of them in its databases.
func Databases(ctx context.Context, dir string) error {
	history, err := begin(filepath.Join(dir, "thread_history_1.sqlite"), historySchema)
	if err != nil {
		return err
	}
	defer history.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	state, err := begin(filepath.Join(dir, "state_5.sqlite"), stateSchema)
	if err != nil {
		return err
	}
	defer state.Rollback() //nolint:errcheck // the same
	err = walk.Walk(ctx, filepath.Join(dir, "sessions"), func(e walk.Entry) error {
		if e.Err != nil {
			return e.Err
		}
		text, err := os.ReadFile(e.Path)
		if err != nil {
			return err
		}
		if err := project(history, text); err != nil {
			return err
		}
		about := gjson.GetBytes(text, "payload")
		at := about.Get("timestamp").Time()
		_, err = state.Exec(`INSERT INTO threads (id, rollout_path, created_at, updated_at, source, model_provider, cwd, title, cli_version, first_user_message, preview, updated_at_ms,
			history_mode) VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, 'fix', ?7, 'fix', 'fix', ?3 * 1000, 'paginated')`,
			about.Get("id").Str, e.Path, at.Unix(), about.Get("source").Str, about.Get("model_provider").Str, about.Get("cwd").Str, about.Get("cli_version").Str)
		return err
	})
	if err != nil {
		return err
	}
	if err := history.Commit(); err != nil {
		return err
	}
	return state.Commit()
}

// begin makes a database, to write to it all at once.
func begin(path, schema string) (*sql.Tx, error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("PRAGMA synchronous = OFF;" + schema); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return db.Begin()
}

// project writes the rows of one session.
func project(tx *sql.Tx, text []byte) error {
	thread, offset, began, first := gjson.GetBytes(text, "payload.id").Str, 0, 0, time.Time{}
	var ordinal int64
	for line := range bytes.Lines(text) {
		v := gjson.GetManyBytes(line, "payload.type", "ordinal", "timestamp", "payload.turn_id", "payload.item")
		at, item := v[2].Time(), v[4]
		ordinal = v[1].Int()
		var err error
		switch v[0].Str {
		case "task_started":
			began, first = offset, at
			_, err = tx.Exec("INSERT INTO thread_turns (thread_id, turn_id, rollout_ordinal, status, started_at, rollout_byte_offset) VALUES (?, ?, ?, 'inProgress', ?, ?)", thread, v[3].Str, ordinal, at.Unix(), began)
		case "task_complete":
			_, err = tx.Exec("UPDATE thread_turns SET status = 'completed', completed_at = ?, duration_ms = ?, rollout_end_ordinal = ?, rollout_end_byte_offset = ? WHERE thread_id = ? AND turn_id = ?",
				at.Unix(), at.Sub(first).Milliseconds(), ordinal, offset+len(line), thread, v[3].Str)
		case "item_completed":
			was := item.Get("type").Str
			kind := strings.ToLower(was[:1]) + was[1:] // its members have other names, too, which makes no difference here
			_, err = tx.Exec("INSERT INTO thread_items VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?4, ?5, ?5)", thread, v[3].Str, item.Get("id").Str, ordinal, at.UnixMilli(), strings.Replace(item.Raw, was, kind, 1), kind)
		}
		if err != nil {
			return err
		}
		offset += len(line)
	}
	_, err := tx.Exec("INSERT INTO thread_history_projection_state VALUES (?, ?, ?)", thread, offset, ordinal+1)
	return err
}
