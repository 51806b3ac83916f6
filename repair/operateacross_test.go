package repair_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/surgery"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

// Of a call that was interrupted, the other client is not told that it had nothing to say.
func TestHandOffInterrupted(t *testing.T) {
	paths, err := filepath.Glob("../fixtures/claude/2.1.332/kill_in_tool/*.jsonl")
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	s, err := sessionAt(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	h, err := surgery.HandOver(s)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, step := range h.Steps {
		if step.Output && strings.HasPrefix(step.Text, "[the call was interrupted") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d outputs say that the call was interrupted, want 1", told)
	}
}

// A healthy session that is handed over to the other client is sound there, is resumed, and holds each text, but those of the kinds that its
// list of what is left behind names.
func TestHandOffHealthySessions(t *testing.T) {
	fixtures, recordings := healthySessions(t)
	told := 0
	for _, path := range append(fixtures, recordings...) {
		s, err := sessionAt(path)
		if err != nil {
			continue
		}
		h, err := surgery.HandOver(s)
		if errors.Is(err, surgery.ErrRefused) {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, to := range []*agent.Agent{all.Named("codex"), all.Named("claude")} {
			if to.Name == s.Agent.Name {
				continue
			}
			const id = "019cadb2-1111-7000-8000-00000000beef"
			at := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
			text := all.Surgeon(to).Compose(h, id, "/srv/elsewhere", at)
			name := to.NewName(at, id)
			res, err := lint.Session(context.Background(), bytes.NewReader(text), lint.Options{Agent: to.Name, Name: lint.NameOf(name, true)})
			if err != nil {
				t.Errorf("%s to %s: %v", path, to.Name, err)
				continue
			}
			for i := range res.Findings {
				if f := &res.Findings[i]; f.Impact > lint.Notes {
					t.Errorf("%s to %s: line %d: %s [%s]", path, to.Name, f.Pos.Line, f.Message, f.Rule.Name)
				}
			}
			sent, err := to.ReadSent(text, agent.ReadAt{Base: name}, "")
			if err != nil {
				t.Errorf("%s to %s: %v", path, to.Name, err)
				continue
			}
			if _, err := h.Arrives(sent); err != nil {
				t.Errorf("%s to %s: %v", path, to.Name, err)
			}
			var arrived strings.Builder
			for i := range sent.Items {
				for _, text := range wordsOf(&sent.Items[i]) {
					arrived.WriteString(text + "\n")
				}
			}
			lost := strings.Join(h.Lost, "\n")
			for i := range s.Sent.Items {
				it := &s.Sent.Items[i]
				if leftBehind(it, lost) {
					continue
				}
				for _, text := range wordsOf(it) {
					if told++; !strings.Contains(arrived.String(), text) {
						t.Errorf("%s to %s: item %d (%s) has not arrived: %.100q", path, to.Name, i, it.Role, text)
					}
				}
			}
		}
	}
	if told < 500 {
		t.Errorf("only %d texts were looked for", told)
	}
}

// leftBehind says whether an item is of a kind that a handoff leaves behind, and says so. A command arrives in another form: that is counted
// by Arrives.
func leftBehind(it *session.Item, lost string) bool {
	switch {
	case it.Kind == session.ReasoningItem:
		return strings.Contains(lost, "reasoning")
	case it.Kind == session.CallItem:
		return true
	case it.Kind == session.SummaryItem && strings.Contains(string(it.Content), `"encrypted_content"`):
		return strings.Contains(lost, "a summary")
	case it.Kind == session.ContextItem, it.Kind != session.OutputItem && (it.Made != "" || it.Role == "developer" || it.Role == "system"):
		return strings.Contains(lost, "about itself")
	}
	return false
}

// A session of which the end was cut off, or a middle is missing, is whole again once it is joined with the whole one; the whole one has
// nothing to gain from it.
func TestJoinHealthySessions(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	ctx := context.Background()
	fixtures, recordings := healthySessions(t)
	joined := 0
	for _, path := range append(fixtures, recordings...) {
		whole, err := sessionAt(path)
		if err != nil {
			continue
		}
		turns, err := timeline.Turns(whole)
		if err != nil || len(turns) < 2 {
			continue
		}
		for _, hole := range [][2]session.Pos{{turns[len(turns)-1].Start}, {turns[len(turns)-2].Start, turns[len(turns)-1].Start}} {
			text, from, to := whole.Text, whole.Index(hole[0]), len(whole.Records)
			if i := whole.Index(hole[1]); i > 0 {
				to = i
				text = slices.Concat(text[:whole.Records[from].Offset], text[whole.Records[to].Offset:])
			} else {
				text = text[:whole.Records[from].Offset]
			}
			if from == 0 || to-from > len(whole.Records)-3 {
				continue
			}
			short := filepath.Join(t.TempDir(), filepath.Base(path))
			if err := os.WriteFile(short, text, 0o600); err != nil {
				t.Fatal(err)
			}
			part, err := sessionAt(short)
			if err != nil {
				continue // what is missing has damaged it
			}
			if idle, err := surgery.Join(whole, part, surgery.TakeNone); err != nil || !idle.Empty() {
				t.Errorf("%s: joined with a part of itself: %v", path, err)
			}
			out := short + ".joined.jsonl"
			_, err = repair.Do(ctx, repair.Job{Path: short, Mode: repair.ToFile, Output: out, Operation: &repair.Operation{Name: "join", Plan: func(s *surgery.Session) (*surgery.Plan, error) {
				return surgery.Join(s, whole, surgery.TakeNone)
			}}})
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			is, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(recordsIn(is), recordsIn(whole.Text)) {
				t.Errorf("%s: joined, it is not the whole one", path)
			}
			joined++
		}
	}
	if joined < 100 {
		t.Errorf("only %d could be joined", joined)
	}
}

// recordsIn are the records of a session, sorted, because those that stand twice may change places, and without notes of its client's
// that no record goes with.
func recordsIn(text []byte) (lines []string) {
	for line := range strings.SplitSeq(string(text), "\n") {
		if r := gjson.Parse(line); r.Get("uuid").Exists() || r.Get("payload").Exists() || r.Get("parentId").Exists() {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

// sessionAt reads a sound session.
func sessionAt(path string) (*surgery.Session, error) {
	src, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return repair.ReadSession(context.Background(), src, lint.Options{Name: lint.NameOf(path, false)}, "", true)
}
