package beside

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestLoggedJump takes from the log an answer of which nothing is left, with what its tool said, where only the client's
// count of tokens tells of it; and nothing where the log has not got it either, or where nothing is lost.
func TestLoggedJump(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(sql string) string // of the log
		lost   string                  // what stands in the lines that are gone
		want   int                     // records
		rule   string                  // what tells of the loss
	}{
		{"a call and its output", nil, "call_2", 2, "lost-records"},
		{"what the log has not got", func(sql string) string { return strings.ReplaceAll(sql, "codex_http_client::", "codex_http::") }, "call_2", 0, "token-gap"},
		{"nothing", nil, "", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := changedHome(t, "ok-logged", c.change)
			path := onlyFile(t, dir, "sessions/*/*/*/*.jsonl")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(counted(string(text), c.lost)), 0o600); err != nil {
				t.Fatal(err)
			}
			res := lintOpened(t, openSource(t, path), dir)
			found := lostRecords(res.Findings)
			if c.want == 0 && found != nil || c.want > 0 && (found == nil || len(found.Edits) != c.want || found.Source != "logs_2.sqlite") {
				t.Errorf("found %+v, want %d records", found, c.want)
			}
			var worst string
			for _, f := range res.Findings {
				if f.Impact == lint.Loses {
					worst = f.Rule.Name
				}
			}
			if worst != c.rule {
				t.Errorf("%q tells of the loss, want %q", worst, c.rule)
			}
		})
	}
}

// TestLoggedBeginning takes from the log the prompt of a turn whose beginning is lost, where only the turn's end tells of it.
func TestLoggedBeginning(t *testing.T) {
	dir := changedHome(t, "ok-logged", nil)
	path := onlyFile(t, dir, "sessions/*/*/*/*.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	begun := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "How many lines has it?") })
	for _, from := range []int{begun - 2, begun - 3} { // the turn's beginning and settings, the prompt and its event; and the end of the turn before
		left := slices.Delete(slices.Clone(lines), from, begun+2)
		if err := os.WriteFile(path, []byte(strings.Join(left, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		found := lostRecords(lintOpened(t, openSource(t, path), dir).Findings)
		if found == nil || found.Source != "logs_2.sqlite" || found.Pos.Line != int64(from) {
			t.Errorf("found %+v, want the prompt behind line %d", found, from)
		}
	}
}

// TestLoggedJumpBesideDamage takes what the count of tokens tells of from the log where something is damaged elsewhere, too.
func TestLoggedJumpBesideDamage(t *testing.T) {
	dir := changedHome(t, "ok-logged", nil)
	path := onlyFile(t, dir, "sessions/*/*/*/*.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(counted(string(text), "call_2")))
	output := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "88 notes.txt") })
	lines[output] = "~~~\n"
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	for _, f := range lintOpened(t, openSource(t, path), dir).Findings {
		for _, e := range f.Edits {
			told.Write(e.New.Literal)
		}
	}
	for _, part := range []string{"wc -l", "12 notes.txt", "88 notes.txt"} {
		if !strings.Contains(told.String(), part) {
			t.Errorf("%s does not come back", part)
		}
	}
}

// counted is a session whose client counts 15 tokens behind each call and answer, without the calls that hold a text, their
// outputs and their counts; "" is none.
func counted(session, lost string) string {
	var b strings.Builder
	total := 0
	for line := range strings.Lines(session) {
		gone := lost != "" && strings.Contains(line, lost)
		if !gone {
			b.WriteString(line)
		}
		if !strings.Contains(line, `"type":"function_call",`) && !strings.Contains(line, `"role":"assistant"`) {
			continue
		}
		if total += 15; !gone {
			fmt.Fprintf(&b, `{"timestamp":%s,"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":%d},"last_token_usage":{"total_tokens":15}}}}`+"\n",
				line[len(`{"timestamp":`):strings.IndexByte(line, ',')], total)
		}
	}
	return b.String()
}
