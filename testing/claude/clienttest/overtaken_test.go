package clienttest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

// TestOvertakenAlone: where nothing may be moved behind a compaction's mark, no turn is hung behind that from in front of it:
// the client would send neither the turn nor what follows it.
func TestOvertakenAlone(t *testing.T) {
	path := filepath.Join(fixtures, "rules", "lost-branch", "bad-compacted.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, choice := range []repair.Choice{{Rules: []string{"lost-branch"}}, {}} {
		var mended bytes.Buffer
		if _, err := repair.Do(t.Context(), repair.Job{Path: path, Lint: lint.Options{Agent: "claude"}, Mode: repair.ToStream, Stream: &mended, Choice: choice}); err != nil {
			t.Fatal(err)
		}
		if alone, same := len(choice.Rules) > 0, bytes.Equal(mended.Bytes(), text); alone != same {
			t.Errorf("%v: the copy is the same: %v", choice, same)
		}
	}
}

// TestOvertakenInPlace: where a mark can't be moved past, as its line is changed, or stands behind what follows it, a turn stays
// where it is: of nothing less is sent.
func TestOvertakenInPlace(t *testing.T) {
	for name, change := range map[string]func(s Session) Session{
		"bad-compacted": func(s Session) Session {
			i := s.find(0, isMark)
			return s.with(i, bytes.Replace(s[i], []byte("Conversation compacted"), []byte(`Conversation \ud800`), 1))
		},
		"bad-compacted-passed": func(s Session) Session { i := s.find(0, isMark); return slices.Insert(s.without(i), len(s)-3, s[i]) },
	} {
		text, err := os.ReadFile(filepath.Join(fixtures, "rules", "lost-branch", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		damaged := change(Lines(text))
		if bytes.Equal(damaged.Bytes(), text) {
			t.Fatal("nothing was changed")
		}
		mended, _ := mend(t, damaged.Bytes(), lint.Options{})
		if !bytes.Equal(mended, damaged.Bytes()) {
			t.Errorf("%s: the session was changed:\n%s", name, mended)
		}
	}
}

// TestOvertakenWithParent: a turn that a compaction has overtaken is mended even if the mark has got a parent.
func TestOvertakenWithParent(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(fixtures, "rules", "lost-branch", "bad-compacted.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	s := Lines(text)
	i := s.find(0, isMark)
	for _, f := range lintText(t, s.with(i, Set(s[i], "", "parentUuid", `"`+get(s[s.first()], "uuid")+`"`)).Bytes(), lint.Options{}) {
		if f.Rule.Name == "lost-branch" && f.Impact == lint.Loses {
			return
		}
	}
	t.Error("the turn is not named")
}

func isMark(line []byte) bool { return get(line, "subtype") == "compact_boundary" }

// TestOvertakenByMany: of a file with more such turns than anybody plays, not all are mended: each costs the length of the session.
func TestOvertakenByMany(t *testing.T) {
	at := `,"timestamp":"2026-11-20T10:07:00.000Z","version":"2.1.330"`
	lines := []string{
		line("user", "u1", "", asked("one"), at), line("assistant", "a1", "u1", said("m1", "yes"), at), compacted("a1", at),
		line("user", "s1", "b1", asked("what was said"), `,"isCompactSummary":true`+at),
	}
	const turns = 110
	for i := range turns {
		lines = append(lines, line("user", fmt.Sprintf("p%d", i), "a1", asked("more"), at), line("assistant", fmt.Sprintf("q%d", i), fmt.Sprintf("p%d", i), said(fmt.Sprintf("n%d", i), "ok"), at))
	}
	lines = append(lines, line("user", "u2", "s1", asked("two"), at), line("assistant", "a2", "u2", said("m2", "ok"), at))
	mended, left := 0, 0
	for _, f := range lintText(t, []byte(strings.Join(lines, "\n")+"\n"), lint.Options{}) {
		switch {
		case f.Rule.Name != "lost-branch":
		case f.Fix == lint.NoFix:
			left++
		default:
			mended++
		}
	}
	if mended == 0 || left == 0 || mended+left != turns {
		t.Errorf("%d turns are mended, %d are left", mended, left)
	}
}
