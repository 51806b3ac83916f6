package beside

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/codex"
	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/session"
)

// wanted are the columns that Threads needs; optional are the first prompt, and columns that were added later (0.145 and
// after).
var (
	wanted   = []string{"id", "rollout_path", "cwd", "title", "source", "cli_version", "updated_at", "archived"}
	optional = []string{"updated_at_ms", "name", firstOnly + "first_user_message", firstOnly + "preview"}
)

// firstOnly in front of a column's name asks only for its first character, which shows whether there is something: it may be long, and
// the list has thousands.
const firstOnly = "asked:"

// Threads reads the home's list of threads. It is nil if there is none; the error may be agent.ErrSchema.
func (h *Home) Threads(ctx context.Context) (threads []agent.Thread, err error) {
	err = threadRows(ctx, h.dir, wanted, optional, func(rows *row) error {
		var t agent.Thread
		var seconds, archived int64
		var millis sql.NullInt64
		var source string
		var name, prompt, preview sql.NullString // of the prompt and the preview, the first character
		if err := rows.Scan(&t.ID, &t.Path, &t.CWD, &t.Title, &source, &t.Version, &seconds, &archived, &millis, &name, &prompt, &preview); err != nil {
			return err
		}
		t.ID, t.Archived, t.Updated = strings.ToLower(t.ID), archived != 0, time.Unix(seconds, 0).UTC()
		if millis.Int64 > 0 {
			t.Updated = time.UnixMilli(millis.Int64).UTC()
		}
		if name.String != "" {
			t.Title, t.Named = name.String, true
		}
		t.Unasked, t.Subagent = unasked(prompt, preview), codex.OfSubagent(session.Info{Source: source})
		threads = append(threads, t)
		return nil
	}, "")
	if err != nil {
		return nil, err
	}
	return threads, nil
}

// unasked says whether clients pass over a row because it has no prompt. Clients that store a preview go by that, the others by
// the first prompt (measured with 0.110.0, 0.114.0 and 0.120.0, and with six from 0.148.0 to 0.169.0).
func unasked(prompt, preview sql.NullString) bool {
	if preview.Valid {
		return preview.String == ""
	}
	return prompt.Valid && prompt.String == ""
}

// threadRows calls do for each row of a home's list of threads that meets a condition, "" for all; if there is no list, for
// none. If a wanted column is missing, the error is errSchema; a missing optional one is NULL.
func threadRows(ctx context.Context, home string, wanted, optional []string, do func(*row) error, condition string, args ...any) error {
	db, path, err := open(ctx, home, codexhome.StateFile, readOnly)
	if db == nil || err != nil {
		return err
	}
	defer db.Close()
	has, err := needs(ctx, db, path, "threads", wanted...)
	if err != nil {
		return err
	}
	list := slices.Clone(wanted)
	for _, c := range optional {
		name, short := strings.CutPrefix(c, firstOnly)
		switch {
		case !slices.Contains(has, name):
			name = "NULL"
		case short:
			name = "substr(" + name + ", 1, 1)"
		}
		list = append(list, name)
	}
	return query(ctx, db, path, do, "SELECT "+strings.Join(list, ", ")+" FROM threads "+condition, args...)
}

// LastIsListed says whether the newest client that has written to the list of threads takes the last one from it, rather than the
// one whose file was changed last. The limits lie between the measured versions: 0.114 and 0.153 do, 0.130 and 0.145 do not.
func (*Home) LastIsListed(threads []agent.Thread) bool {
	newest := ""
	for _, t := range threads {
		if newest == "" || codex.Newer(t.Version, newest) {
			newest = t.Version
		}
	}
	return newest != "" && (codex.Before(newest, 0, 130) || !codex.Before(newest, 0, 146))
}

// threadColumns are all columns of the list of threads in the clients that were measured (0.114 to 0.169). Rows are added only to a
// list with these columns: the meaning of any other is not known.
var threadColumns = strings.Fields(`id rollout_path created_at updated_at source model_provider cwd title sandbox_policy approval_mode tokens_used
	has_user_event archived archived_at git_sha git_branch git_origin_url cli_version first_user_message agent_nickname agent_role memory_mode
	model reasoning_effort agent_path created_at_ms updated_at_ms thread_source preview recency_at recency_at_ms history_mode name is_pinned
	thread_section_id section_position section_entered_at_ms project_id originator daybreak_enabled creator_user_id creator_account_id
	attached_thread_parent_id`)

// Enlist adds to the home's list of threads a copy of a thread: with the row of the one that it is a copy of, under an id
// and with a file of its own, neither archived nor pinned, and with a prompt, without which clients pass over it. Then
// the client offers it where it lists threads, and resumes it as the last one. It says whether it did: a home without
// such a list, or in which the original is not listed, is left alone. errSchema: the list has another form than the
// known ones.
func (h *Home) Enlist(ctx context.Context, original string, copied agent.Copied) (bool, error) {
	db, file, err := open(ctx, h.dir, codexhome.StateFile, readWrite)
	if db == nil || err != nil {
		return false, err
	}
	defer db.Close()
	has, err := needs(ctx, db, file, "threads", wanted...)
	if err != nil {
		return false, err
	}
	var values []string
	var args []any
	for _, c := range has {
		value := "?"
		switch c {
		case "id":
			args = append(args, copied.ID)
		case "rollout_path":
			args = append(args, copied.Path)
		case "created_at", "updated_at", "recency_at":
			args = append(args, copied.Made.Unix())
		case "created_at_ms", "updated_at_ms", "recency_at_ms":
			args = append(args, copied.Made.UnixMilli())
		case "title", "first_user_message", "preview":
			value = `CASE WHEN "` + c + `" = '' THEN ? ELSE "` + c + `" END`
			args = append(args, copied.Prompt)
		case "history_mode": // the original's may be wrong, and then its client reads no turn
			value = `coalesce(nullif(?, ''), "history_mode")`
			args = append(args, copied.Mode)
		case "archived", "is_pinned":
			value = "0"
		case "archived_at":
			value = "NULL"
		default:
			if !slices.Contains(threadColumns, c) {
				return false, fmt.Errorf("%s: %w: threads.%s", file, errSchema, c)
			}
			value = `"` + c + `"`
		}
		values = append(values, value)
	}
	quoted := `"` + strings.Join(has, `", "`) + `"`
	n, err := changeList(ctx, db, file, 1, "INSERT INTO threads ("+quoted+") SELECT "+strings.Join(values, ", ")+" FROM threads WHERE lower(id) = ? LIMIT 1",
		append(args, strings.ToLower(original))...)
	return n == 1, err
}

// changeList runs a statement that adds rows to a list of threads, or takes them from it if sign is -1. It returns how many.
func changeList(ctx context.Context, db *database, file string, sign int64, statement string, args ...any) (n int64, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("writing %s: %w", file, sqlError(err))
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	err = changing(ctx, tx, file, []string{"threads"}, func() ([]int64, error) {
		n, err = exec(ctx, tx, file, statement, args...)
		return []int64{sign * n}, err
	})
	return n, err
}

// Delist removes the row of a copy whose file is gone from the home's list of threads.
func (h *Home) Delist(ctx context.Context, copied, path string) error {
	db, file, err := open(ctx, h.dir, codexhome.StateFile, readWrite)
	if db == nil || err != nil {
		return err
	}
	defer db.Close()
	has, err := columns(ctx, db, file, "threads")
	if err != nil {
		return err
	}
	if !slices.Contains(has, "id") || !slices.Contains(has, "rollout_path") {
		return nil
	}
	_, err = changeList(ctx, db, file, -1, "DELETE FROM threads WHERE id = ? AND rollout_path = ?", copied, path)
	return err
}
