package claude_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestHealedFraming: what newer versions heal is only noted for them, and counts for those that do not; the newest sends all that
// it sends of the sound session.
func TestHealedFraming(t *testing.T) {
	paths, err := filepath.Glob("../../../fixtures/claude/2.1.330/clean/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recording: %v", err)
	}
	sound, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	sound = sound[bytes.LastIndexByte(sound[:bytes.Index(sound, []byte(`"parentUuid":null`))], '\n')+1:] // from the first record of the conversation on
	of := func(session []byte, version string) *lint.Result {
		t.Helper()
		res, err := lint.Session(context.Background(), bytes.NewReader(session), lint.Options{For: map[string]string{"claude": version}})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	all := of(sound, "").Summary.Seen
	for _, c := range []struct {
		rule    string
		damaged []byte
		impacts map[string]lint.Impact // by the version that will read the session; "" is all that may
	}{
		{"bom", append([]byte("\xef\xbb\xbf"), sound...), map[string]lint.Impact{"": lint.Notes, "1.0.128": lint.Loses, "2.1.2": lint.Notes}},
		{"no-final-newline", bytes.TrimRight(sound, "\n"), map[string]lint.Impact{"": lint.Notes, "2.1.215": lint.Loses, "2.1.330": lint.Notes}},
		{
			"lone-surrogate", bytes.Replace(sound, []byte(`"text":"`), []byte(`"text":"\ud83d`), 1),
			map[string]lint.Impact{"": lint.Notes, "2.1.2": lint.Rejects, "2.1.100": lint.Rejects, "2.1.215": lint.Notes},
		},
		{"pretty-printed", laidOut(t, sound, 0), map[string]lint.Impact{"": lint.Notes, "2.1.2": lint.Blocks, "2.1.100": lint.Blocks, "2.1.215": lint.Notes}},
		{"pretty-printed", laidOut(t, sound, 3), map[string]lint.Impact{"": lint.Notes, "2.1.2": lint.Loses, "2.1.330": lint.Notes}},
	} {
		for version, want := range c.impacts {
			res := of(c.damaged, version)
			if i := find(res.Findings, c.rule); i < 0 || res.Findings[i].Impact != want {
				t.Errorf("%s read by %q: want %v, got %+v", c.rule, version, want, res.Findings)
			}
			if seen := res.Summary.Seen; version == "" && seen != all {
				t.Errorf("%s: %d items are sent, %d of the sound session", c.rule, seen, all)
			}
		}
	}
}

// laidOut is a session whose records from the n-th on went through a program that lays JSON out for people.
func laidOut(t *testing.T, sound []byte, n int) []byte {
	var out bytes.Buffer
	for i, line := range bytes.SplitAfter(sound, []byte("\n")) {
		if i < n {
			out.Write(line)
		} else if err := json.Indent(&out, line, "", "  "); err != nil && len(line) > 0 {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func find(findings []lint.Finding, rule string) int {
	for i := range findings {
		if findings[i].Rule.Name == rule {
			return i
		}
	}
	return -1
}
