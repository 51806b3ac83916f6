package repair

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestDryRunCounts: a dry run counts what the repair does, which also gives the copy's header another id.
func TestDryRunCounts(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	sessions := map[string]string{ // by fixture, the name with which the client would have it
		"codex/rules/call-without-output/bad.jsonl":    "rollout-2026-11-18T09-30-00-01a1edfd-e191-74b0-9003-79b97f4a7c15.jsonl",
		"codex/rules/doubled-item/bad-alone.jsonl":     "rollout-2026-11-18T09-30-00-01a1edfd-e191-74b0-9003-79b97f4a7c15.jsonl",
		"codex/rules/torn-tail/bad.jsonl":              "rollout-2026-11-18T09-30-00-01a1edfd-e191-74b0-9003-79b97f4a7c15.jsonl",
		"codex/rules/header-not-first/bad.jsonl":       "rollout-2026-11-18T09-30-00-01a1edfd-e191-74b0-9003-79b97f4a7c15.jsonl",
		"codex/rules/no-header/bad.jsonl":              "rollout-2026-11-18T09-30-00-01a1edfd-e191-74b0-9003-79b97f4a7c15.jsonl",
		"codex/rules/bad-json/bad-doubled-turns.jsonl": "rollout-2026-11-18T09-30-00-01a1edfd-e191-74b0-9003-79b97f4a7c15.jsonl", // takes two passes
		"claude/rules/broken-parent/bad.jsonl":         "7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a11.jsonl",
	}
	for fixture, name := range sessions {
		text, err := os.ReadFile(filepath.Join("../fixtures", fixture))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		tried, err := Do(t.Context(), Job{Path: path, Mode: DryRun})
		if err != nil {
			t.Fatalf("%s: %v", fixture, err)
		}
		if list, _ := os.ReadDir(dir); len(list) != 1 {
			t.Errorf("%s: a dry run has made files", fixture)
		}
		done, err := Do(t.Context(), Job{Path: path, Mode: NewThread})
		if err != nil {
			t.Fatalf("%s: %v", fixture, err)
		}
		if tried.Totals != done.Totals || tried.Proof != done.Proof || !reflect.DeepEqual(rulesOf(tried), rulesOf(done)) {
			t.Errorf("%s: a dry run counts %+v, the repair %+v", fixture, tried.Totals, done.Totals)
		}
		if tried.Thread == done.Thread || tried.Target != "" {
			t.Errorf("%s: a dry run names a copy: %s, %s", fixture, tried.Thread, tried.Target)
		}
	}
}

// rulesOf are the rules of a report's edits, with their lines.
func rulesOf(rep *Report) (list []Entry) {
	for _, e := range rep.Edits {
		list = append(list, Entry{Rule: e.Rule, Line: e.Line, LineAfter: e.LineAfter, Lines: e.Lines})
	}
	return list
}
