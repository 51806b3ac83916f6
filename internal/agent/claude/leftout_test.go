package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/lint"
)

// TestResumedAt: a branch that --resume-session-at has left out is no loss. The requests tell it: where a client has sent the
// branch, a link is broken.
func TestResumedAt(t *testing.T) {
	const session = "../../../fixtures/claude/2.1.330/resumed_at/cffb5f8a-dce4-441f-9989-a29fbf935efb.jsonl"
	text, err := os.ReadFile(session)
	if err != nil {
		t.Fatal(err)
	}
	whole := string(text)
	one := gjson.Get(lineWith(whole, `"Answer one."`), "uuid").String()
	two := gjson.Get(lineWith(whole, `"please three"`), "parentUuid").String()
	fourth := strings.Index(whole, lineWith(whole, `"please four"`))
	last := lineWith(whole, `"Answer three."`) // of what was left out
	later := strings.Replace(last, gjson.Get(last, "timestamp").String(), "2099-01-01T00:00:00.000Z", 1)
	for name, c := range map[string]struct {
		session string
		damaged bool
	}{
		"left out":         {whole, false},
		"link broken":      {strings.Replace(whole[:fourth], `{"parentUuid":"`+two+`"`, `{"parentUuid":"`+one+`"`, 1), true},
		"not over in time": {strings.Replace(whole, last, later, 1), true},
		"without requests": {strings.Join(linesWithout(whole, `"type":"api-request"`), ""), true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "projects/-home-dev-demo", filepath.Base(session))
			if damaged := find(lintAt(t, path, c.session), "lost-branch") >= 0; damaged != c.damaged {
				t.Errorf("lost-branch: %v, want %v", damaged, c.damaged)
			}
		})
	}
	for name, opts := range map[string]lint.Options{"of a pipe": {}, "of a copy that is being made": {Path: session, Text: strings.NewReader("")}} {
		if res, err := lint.Session(t.Context(), strings.NewReader(whole), opts); err != nil || len(res.Findings) > 0 {
			t.Errorf("%s: %+v, %v", name, res.Findings, err)
		}
	}
}

// lineWith is the first record of the conversation with some words in it.
func lineWith(text, words string) string {
	for line := range strings.Lines(text) {
		if gjson.Get(line, "parentUuid").Exists() && strings.Contains(line, words) {
			return line
		}
	}
	return ""
}

func linesWithout(text, words string) (list []string) {
	for line := range strings.Lines(text) {
		if !strings.Contains(line, words) {
			list = append(list, line)
		}
	}
	return list
}
