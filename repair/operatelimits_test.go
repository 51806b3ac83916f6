package repair_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/surgery"
	"github.com/hist-cli/hist/repair"
)

// Thinking that a newer Claude model has bound to what stands in front of it goes, or the operation is refused, in a session of pi, too. That of
// other models stays.
func TestBoundThinkingOfPi(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	paths, err := filepath.Glob("../fixtures/pi/1.5.2/thinking/*.jsonl")
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	thoughts := func(model string, plan planner) (left int, err error) {
		path := filepath.Join(t.TempDir(), filepath.Base(paths[0]))
		if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(`"lab-a"`), []byte(`"`+model+`"`)), 0o600); err != nil {
			t.Fatal(err)
		}
		op := &repair.Operation{Name: "operation", Plan: func(s *surgery.Session) (*surgery.Plan, error) { return plan(s, all.Surgeon(s.Agent)) }}
		if _, err := repair.Do(context.Background(), repair.Job{Path: path, Operation: op, Mode: repair.InPlace}); err != nil {
			return 0, err
		}
		s, err := sessionAt(path)
		if err != nil {
			return 0, err
		}
		for i := range s.Sent.Items {
			if s.Sent.Items[i].Kind == session.ReasoningItem {
				left++
			}
		}
		return left, nil
	}
	words := func(s *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error) {
		finder, err := surgery.NewFinder([]*regexp.Regexp{regexp.MustCompile("tomatoes")}, nil) // said behind the first thinking
		if err != nil {
			return nil, err
		}
		r, err := surgery.Redact(s, of, surgery.RedactOptions{Finder: finder, Salt: []byte("a test's")})
		if err != nil {
			return nil, err
		}
		return r.Plan, nil
	}
	if left, err := thoughts("claude-opus-5-5", words); err != nil || left != 1 {
		t.Errorf("redact leaves %d thoughts, want the one in front of the change: %v", left, err)
	}
	if left, err := thoughts("claude-opus-4-5", words); err != nil || left != 3 {
		t.Errorf("redact leaves %d thoughts that are bound to nothing, want all 3: %v", left, err)
	}
	for model, refused := range map[string]bool{"claude-opus-5-5": true, "claude-opus-4-5": false} {
		if _, err := thoughts(model, moved(surgery.RewriteHistory)); errors.Is(err, surgery.ErrRefused) != refused {
			t.Errorf("%s: move, and rewrite the history: %v", model, err)
		}
	}
}

// TestOperationsKeepForks: what is changed in place in front of a place that a fork points to would leave the fork without its base. That is
// refused, with a way that leaves the fork right.
func TestOperationsKeepForks(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	paths, err := filepath.Glob("../fixtures/codex/0.171.0/clean/*.jsonl")
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	end := bytes.Index(text, []byte(`"type":"task_complete"`))
	end += bytes.IndexByte(text[end:], '\n') + 1
	last := text[bytes.LastIndexByte(text[:end-1], '\n')+1 : end]
	header, _, _ := strings.Cut(string(text), "\n")
	thread, ordinal := gjson.Get(header, "payload.id").String(), gjson.GetBytes(last, "ordinal").Int()+1
	fork := fmt.Sprintf(`{"timestamp":"2026-11-27T10:00:00.000Z","ordinal":%d,"type":"session_meta","payload":{"id":"01a21a4f-0000-7000-8000-000000000009","forked_from_id":%q,"forked_from_ordinal_exclusive":%d,"timestamp":"2026-11-27T10:00:00.000Z","cwd":"/","originator":"codex_exec","cli_version":"0.171.0","history_mode":"paginated","history_base":{"thread_id":%q,"end_ordinal_exclusive":%d,"end_byte_offset":%d}}}`+"\n", ordinal, thread, ordinal, thread, ordinal, end)
	home := t.TempDir()
	dir := filepath.Join(home, "sessions/2026/11/27")
	path := filepath.Join(dir, filepath.Base(paths[0]))
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, text, 0o600), os.WriteFile(filepath.Join(dir, "rollout-2026-11-27T10-00-00-01a21a4f-0000-7000-8000-000000000009.jsonl"), []byte(fork), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		plan   planner
		advice string
	}{
		"slim": {slimmed(surgery.SlimOptions{Level: surgery.Model}), "hist slim without --in-place makes a copy"},
		"move": {moved(surgery.RewriteFields), " makes a copy, which can be moved"},
		"cut":  {cutAt(1, surgery.CutOptions{InPlace: true, Purge: true}), ""}, // behind the place
	} {
		op := &repair.Operation{Name: name, Plan: func(s *surgery.Session) (*surgery.Plan, error) { return c.plan(s, all.Surgeon(s.Agent)) }}
		_, err := repair.Do(context.Background(), repair.Job{Path: path, Home: home, Operation: op, Mode: repair.InPlace})
		if errors.Is(err, repair.ErrDependants) != (c.advice != "") || err != nil && !strings.Contains(err.Error(), c.advice) {
			t.Errorf("%s: %v", name, err)
		}
		if is, rerr := os.ReadFile(path); rerr != nil || bytes.Equal(is, text) != (err != nil) {
			t.Errorf("%s: the file's bytes are other than the error says (%v)", name, rerr)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
