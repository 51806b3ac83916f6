package beside

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testkit/testhome"
	"github.com/hist-cli/hist/lint"
)

// TestLogged takes what a session has lost from its client's log, and nothing where the log tells of another thread or course
// of events, or is in a form that is not known.
func TestLogged(t *testing.T) {
	const (
		other = "01a203a0-2d00-7a10-9b00-5a1f0c3e7b99"
		all   = "12 records" // of bad-logged-cut
		four  = "4 records"  // of bad-logged
	)
	thread := regexp.MustCompile(`01a203a0-1c00-7a10-9b00-5a1f0c3e7b21`)
	for _, c := range []struct {
		name, archive string
		change        func(sql string) string
		want          string // how the finding begins; "": nothing is taken
	}{
		{"the end", "bad-logged-cut", nil, all},
		{"the middle", "bad-logged", nil, four},
		{"an older client", "bad-logged", func(s string) string {
			return strings.ReplaceAll(strings.ReplaceAll(s, "codex_http_client::", "codex_client::"), `"thread_id":`, `"x-thread":`)
		}, four},
		{"another thread", "bad-logged", func(s string) string { return thread.ReplaceAllString(s, other) }, ""},
		{"rows of another thread under this one's id", "bad-logged", func(s string) string {
			return strings.ReplaceAll(s, "session_loop{thread_id=01a203a0-1c00", "session_loop{thread_id=01a203a0-2d00")
		}, ""},
		{"a request that names another thread", "bad-logged", func(s string) string {
			return strings.ReplaceAll(s, `"thread_id":"01a203a0-1c00`, `"thread_id":"01a203a0-2d00`)
		}, ""},
		{"a column that is missing", "bad-logged", func(s string) string {
			return strings.ReplaceAll(s, "process_uuid", "process")
		}, ""},
		{"the log of a client whose targets are others", "bad-logged", func(s string) string {
			return strings.ReplaceAll(s, "codex_http_client::transport", "codex_http::transport")
		}, ""},
		{"a newest request that is cut", "bad-logged", newest(func(row string) string {
			return strings.Replace(row, `"tools":[]`, `"tools":[`, 1)
		}), ""},
		{"another course of events in front of the hole", "bad-logged", func(s string) string {
			return strings.ReplaceAll(s, "Which files are here?", "Which files were here?")
		}, ""},
		{"another course of events behind the hole", "bad-logged", func(s string) string {
			return strings.ReplaceAll(s, "And how many words?", "And how many letters?")
		}, ""},
		{"what was taken back", "bad-logged", newest(func(row string) string {
			from, to := strings.Index(row, `{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"wc -l`), strings.Index(row, `{"type":"message","role":"user","content":[{"type":"input_text","text":"And how`)
			return row[:from] + row[to:]
		}), ""},
		{"what a client lacked that went on with the damaged session", "bad-logged", behindHole("pid:8:0aa1"), "2 records"},
		{"what it lacked, and the log does not say in which turn", "bad-logged", func(s string) string {
			return strings.ReplaceAll(behindHole("pid:8:0aa1")(s), "01a203a0-1c03", "01a203a0-1c09")
		}, "2 records"},
		{"what the same client had taken back", "bad-logged", behindHole("pid:7:0aa1"), ""},
		{"a turn that another one took the place of", "bad-logged-cut", newest(func(row string) string {
			return strings.ReplaceAll(row, "Which files are here?", "Which files were here?")
		}), ""},
		{"an output that the client filled in", "bad-logged", func(s string) string {
			return regexp.MustCompile(`"output":"[^"]*12 notes[^"]*"`).ReplaceAllString(s, `"output":"aborted"`)
		}, "3 records"},
		{"the answers of a process with two threads", "bad-logged-cut", func(s string) string {
			return s + "INSERT INTO logs SELECT 1000, ts, ts_nanos, level, target, feedback_log_body, module_path, file, line, '" + other +
				"', process_uuid, 0 FROM (SELECT * FROM logs WHERE target LIKE '%transport' LIMIT 1);\n"
		}, "10 records"},
		{"the answer to a request for a summary", "bad-logged-cut", func(s string) string {
			return s + "INSERT INTO logs (ts, ts_nanos, level, target, feedback_log_body, thread_id, process_uuid) SELECT ts, ts_nanos, level, target, " +
				"replace(feedback_log_body, ':run_sampling_request{', ':run_compact{'), thread_id, process_uuid FROM logs WHERE target LIKE '%transport' ORDER BY id DESC LIMIT 1;\n"
		}, "10 records"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := changedHome(t, c.archive, c.change)
			found, left := lintLogged(t, dir)
			if c.want == "" && found != nil || c.want != "" && (found == nil || !strings.HasPrefix(found.Message, c.want) || found.Source != "logs_2.sqlite") {
				t.Errorf("found %+v, want %q", found, c.want)
			}
			if found != nil {
				for _, e := range found.Edits {
					if text := string(e.New.Literal); strings.Contains(text, "sk-not-to-be-copied") || strings.Contains(text, "instructions") {
						t.Errorf("this is no item of the conversation: %s", text)
					}
				}
			}
			if slices.ContainsFunc(left, func(name string) bool { return strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm") }) {
				t.Errorf("lint left %v", left)
			}
		})
	}
}

// TestLoggedCompaction takes a compaction, which a cut took with it, from the log: what it left is what the next request held,
// and nothing of it where the session itself goes on behind that request.
func TestLoggedCompaction(t *testing.T) {
	compacted := newest(func(row string) string {
		return strings.ReplaceAll(strings.ReplaceAll(row, "Which files are here?", "A summary."), `7b21:0"`, `7b21:1"`)
	})
	for _, c := range []struct {
		name   string
		change func(sql string) string
		want   int // compactions
	}{
		{"a request behind a compaction", compacted, 1},
		{"one that was sent before the session's end", func(sql string) string {
			return strings.Replace(compacted(sql), "(1795338021, 100000000", "(1700000000, 100000000", 1)
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, _ := lintLogged(t, changedHome(t, "bad-logged-cut", c.change))
			if found == nil {
				t.Fatal("nothing was found")
			}
			n := 0
			for _, e := range found.Edits {
				if text := string(e.New.Literal); strings.Contains(text, `"type":"compacted"`) {
					n++
					if !strings.Contains(text, "A summary.") || !strings.Contains(text, "How many lines") || strings.Contains(text, "instructions") {
						t.Errorf("this is not what the compaction has left: %s", text)
					}
				}
			}
			if n != c.want {
				t.Errorf("%d compactions, want %d, in %d records", n, c.want, len(found.Edits))
			}
		})
	}
}

// TestLoggedBefore takes what a session has lost from the logs of clients before 0.120, which lie in other files, and before
// 0.117 do not tell of which turn a request is.
func TestLoggedBefore(t *testing.T) {
	const thread = "01a203a0-1c00-7a10-9b00-5a1f0c3e7b21"
	spans := regexp.MustCompile(`'session_loop\{[^']*?: POST to `)
	bare := func(key, tools string) func(string) string {
		return func(s string) string {
			s = spans.ReplaceAllString(strings.ReplaceAll(s, "feedback_log_body", "message"), "'POST to ")
			s = strings.ReplaceAll(s, `"prompt_cache_key":"`+thread, `"prompt_cache_key":"`+key)
			return strings.ReplaceAll(s, `"tools":[]`, `"tools":[`+tools+`]`)
		}
	}
	const tool = `{"type":"web_search"}`
	for _, c := range []struct {
		name, file string
		change     func(sql string) string
		want       string // how the finding begins; "": nothing is taken
	}{
		{"0.117.0", "logs_1.sqlite", nil, "4 records"},
		{"0.114.0", "logs_1.sqlite", bare(thread, tool), "4 records"},
		{"0.110.0", "state_5.sqlite", bare(thread, tool), "4 records"},
		{"another thread", "logs_1.sqlite", bare("01a203a0-2d00-7a10-9b00-5a1f0c3e7b99", tool), ""},
		{"no tools, as where a summary is asked for", "logs_1.sqlite", bare(thread, ""), ""},
		{"a column that is missing", "logs_1.sqlite", func(s string) string { return strings.ReplaceAll(s, "feedback_log_body", "text") }, ""},
		{"a list of threads without a log, beside the log", "logs_2.sqlite", func(s string) string { return s + "-- state_5.sql --\nCREATE TABLE threads (id TEXT);\n" }, "4 records"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := changedHome(t, "bad-logged", c.change)
			if err := os.Rename(filepath.Join(dir, "logs_2.sqlite"), filepath.Join(dir, c.file)); err != nil {
				t.Fatal(err)
			}
			found, left := lintLogged(t, dir)
			if c.want == "" && found != nil || c.want != "" && (found == nil || !strings.HasPrefix(found.Message, c.want) || found.Source != c.file) {
				t.Errorf("found %+v, want %q", found, c.want)
			}
			if slices.ContainsFunc(left, func(name string) bool { return strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm") }) {
				t.Errorf("lint left %v", left)
			}
		})
	}
}

// TestLoggedBesideCopy takes from a copy what that holds, and from the log what it does not.
func TestLoggedBesideCopy(t *testing.T) {
	dir := changedHome(t, "ok-logged", nil)
	path := onlyFile(t, dir, "sessions/*/*/*/*.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(text)))
	const first, second = `"type":"function_call_output","call_id":"call_1"`, `"type":"function_call_output","call_id":"call_2"`
	until := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, second) })
	if until < 0 {
		t.Fatal("there is no second output")
	}
	write(t, nil, filepath.Join(dir, "archived_sessions", filepath.Base(path)), []byte(strings.Join(lines[:until], "")))
	for i, line := range lines {
		if strings.Contains(line, first) || i == until {
			lines[i] = "~~~\n"
		}
	}
	write(t, nil, path, []byte(strings.Join(lines, "")))
	var sources []string
	for _, f := range lintOpened(t, openSource(t, path), dir).Findings {
		if f.Rule.Name == "lost-records" {
			sources = append(sources, f.Source)
		}
	}
	if len(sources) != 2 || !strings.HasPrefix(sources[0], "archived_sessions/") || sources[1] != "logs_2.sqlite" {
		t.Errorf("taken from %q", sources)
	}
}

// TestLoggedBeyondCopy takes the end from a copy as far as that goes, and what came then from the log.
func TestLoggedBeyondCopy(t *testing.T) {
	dir := changedHome(t, "ok-logged", nil)
	path := onlyFile(t, dir, "sessions/*/*/*/*.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(text)))
	place := func(part string) int {
		return slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, part) })
	}
	for name, until := range map[string]int{
		"a prompt":            place(`"text":"How many lines has it?"`) + 1,
		"a prompt, shown":     place(`"message":"How many lines has it?"`) + 1,
		"a call":              place(`"id":"fc_10900"`) + 1,
		"the output":          place(`"type":"function_call_output","call_id":"call_2"`) + 1,
		"the answer's event":  place(`"message":"Twelve."`) + 1,
		"the end of its turn": place(`"last_agent_message":"Twelve."`) + 1,
	} {
		write(t, nil, filepath.Join(dir, "archived_sessions", filepath.Base(path)), []byte(strings.Join(lines[:until], "")))
		first := strings.Join(lines[:place(`"type":"function_call_output","call_id":"call_1"`)+1], "") + "~~~"
		second := []string{`"text":"How many lines has it?"`, `"message":"How many lines has it?"`, `\"wc -l`, "12 notes", `"text":"Twelve."`, `"message":"Twelve."`}
		t.Run(name, func(t *testing.T) {
			write(t, nil, path, []byte(first))
			toldOnce(t, dir, path, append(second, `"text":"And how many words?"`, "88 notes"))
		})
		t.Run(name+", in the middle", func(t *testing.T) {
			write(t, nil, path, []byte(first+"\n"+strings.Join(lines[place(`"last_agent_message":"Twelve."`)+1:], "")))
			toldOnce(t, dir, path, second)
		})
	}
}

// toldOnce fails unless what is put back into the session holds each part once.
func toldOnce(t *testing.T, dir, path string, parts []string) {
	t.Helper()
	told := map[string]int{}
	for _, f := range lintOpened(t, openSource(t, path), dir).Findings {
		for _, e := range f.Edits {
			for _, part := range parts {
				told[part] += strings.Count(string(e.New.Literal), part)
			}
		}
	}
	for _, part := range parts {
		if told[part] != 1 {
			t.Errorf("%s is told %d times", part, told[part])
		}
	}
}

// TestLoggedHalf takes the lost half of a call and its output from the log, where nothing but the other half shows that it is
// lost; and nothing where the log has not got it either.
func TestLoggedHalf(t *testing.T) {
	for _, c := range []struct {
		name, line string // of what is gone
		rows       string // what the log calls the output; "": as it is
		want       int
		behind     int64 // the line behind which it belongs: of a prompt's event, and not of the event that the next item has in front of it
	}{
		{"a call", `"type":"function_call","id":"fc_10900"`, "", 1, 15},
		{"an output", `"type":"function_call_output","call_id":"call_2"`, "", 1, 16},
		{"an output that the client did not have either", `"type":"function_call_output","call_id":"call_2"`, "aborted", 0, 0},
		{"neither", "", "", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := changedHome(t, "ok-logged", func(sql string) string {
				if c.rows == "" {
					return sql + "-- \n"
				}
				return regexp.MustCompile(`"output":"[^"]*12 notes[^"]*"`).ReplaceAllString(sql, `"output":"`+c.rows+`"`)
			})
			path := onlyFile(t, dir, "sessions/*/*/*/*.jsonl")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var kept []string
			for line := range strings.Lines(string(text)) {
				if c.line == "" || !strings.Contains(line, c.line) {
					kept = append(kept, line)
				}
			}
			if len(kept) == strings.Count(string(text), "\n") && c.line != "" {
				t.Fatal("nothing was taken out")
			}
			if err := os.WriteFile(path, []byte(strings.Join(kept, "")), 0o600); err != nil {
				t.Fatal(err)
			}
			found, _ := lintLogged(t, dir)
			if c.want == 0 && found != nil || c.want > 0 && (found == nil || len(found.Edits) != c.want || found.Pos.Line != c.behind || found.Source != "logs_2.sqlite") {
				t.Errorf("found %+v, want %d records", found, c.want)
			}
		})
	}
}

// TestLoggedBehindEvent: what the log tells of comes behind the event that shows it and still stands. In front of it a thought
// would be told twice: by its item, and as lost by the event.
func TestLoggedBehindEvent(t *testing.T) {
	const call = `{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"wc -l`
	dir := changedHome(t, "ok-logged", func(sql string) string {
		return strings.ReplaceAll(sql, call, `{"type":"reasoning","summary":[{"type":"summary_text","text":"I count."}],"content":null,"encrypted_content":"gAAA"},`+call)
	})
	path := onlyFile(t, dir, "sessions/*/*/*/*.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"id":"fc_10900"`) {
			line = `{"timestamp":"2026-11-22T09:00:10.800Z","type":"event_msg","payload":{"type":"agent_reasoning","text":"I count."}}` + "\n"
		}
		kept.WriteString(line)
	}
	if err := os.WriteFile(path, []byte(kept.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	res := lintOpened(t, openSource(t, path), dir)
	if f := lostRecords(res.Findings); f == nil || len(f.Edits) != 2 || f.Pos.Line != 16 || len(res.Findings) != 1 {
		t.Errorf("%+v; want the thought and the call behind line 16, and nothing else", res.Findings)
	}
}

// behindHole gives the requests behind the hole of bad-logged to a process, and takes out of them what the session has lost there.
func behindHole(process string) func(sql string) string {
	return func(sql string) string {
		at := strings.Index(sql, "(1795338020, 100000000")
		behind := strings.ReplaceAll(sql[at:], "pid:7:0aa1", process)
		lost := regexp.MustCompile(`\{"type":"function_call","name":"exec_command","arguments":"\{\\"cmd\\":\\"wc -l.*?(\{"type":"message","role":"user","content":\[\{"type":"input_text","text":"And how)`)
		return sql[:at] + lost.ReplaceAllString(behind, "$1")
	}
}

// newest changes the row of the newest request.
func newest(change func(row string) string) func(sql string) string {
	return func(sql string) string {
		at := strings.LastIndex(sql, "'codex_http_client::transport'")
		end := at + strings.IndexByte(sql[at:], '\n')
		return sql[:at] + change(sql[at:end]) + sql[end:]
	}
}

// changedHome unpacks a home whose log was changed.
func changedHome(t *testing.T, archive string, change func(sql string) string) string {
	t.Helper()
	t.Setenv("CODEX_SQLITE_HOME", "")
	text, err := os.ReadFile(filepath.Join(fixtures, "codex/rules/lost-records", archive+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	session, sql, ok := strings.Cut(string(text), "-- logs_2.sql --\n")
	if !ok {
		t.Fatal("no log in " + archive)
	}
	if change != nil {
		was := sql
		if sql = change(sql); sql == was {
			t.Fatal("nothing was changed")
		}
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "home.txtar")
	if err := os.WriteFile(path, []byte(session+"-- logs_2.sql --\n"+sql), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := testhome.Unpack(path, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// lintLogged is what lint says of lost records in the one session of a home, nil if nothing, and what lies in the home then.
func lintLogged(t *testing.T, dir string) (found *lint.Finding, left []string) {
	t.Helper()
	res := lintOpened(t, openSource(t, onlyFile(t, dir, "sessions/*/*/*/*.jsonl")), dir)
	return lostRecords(res.Findings), files(t, dir)
}

// lostRecords is what was found of lost records, nil if nothing.
func lostRecords(findings []lint.Finding) (found *lint.Finding) {
	for _, f := range findings {
		if f.Rule.Name == "lost-records" {
			found = &f
		}
	}
	return found
}

// onlyFile is the path of the one file of a home that has a name like that.
func onlyFile(t *testing.T, dir, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	return paths[0]
}

// openSource opens a file until the test ends.
func openSource(t *testing.T, path string) *source.Source {
	t.Helper()
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// TestLogOfHealthySession: as long as a session has lost nothing, the log is not opened.
func TestLogOfHealthySession(t *testing.T) {
	for archive, want := range map[string]bool{"ok-logged": false, "bad-logged": true} {
		dir := changedHome(t, archive, nil)
		src := openSource(t, onlyFile(t, dir, "sessions/*/*/*/*.jsonl"))
		var kept check.Kept
		by := func(ctx context.Context, _, home, base string) check.Kept {
			kept = Kept(ctx, home, base, nil, NewForks())
			return kept
		}
		if _, err := lint.Source(t.Context(), src, lint.Options{Name: lint.NameOf(src.Name, true), Home: dir, Kept: by}); err != nil {
			t.Fatal(err)
		}
		if got := kept.(*sources).further; got != want {
			t.Errorf("%s: other files were looked at: %v, want %v", archive, got, want)
		}
	}
}

// TestAlign lays requests over items. Numbers are items, 0 is a damaged place.
func TestAlign(t *testing.T) {
	for _, c := range []struct {
		name       string
		have, want []uint64
		lost       []found
		ok, before bool
	}{
		{"the same", []uint64{1, 2, 3}, []uint64{1, 2, 3}, nil, true, false},
		{"a request that is older", []uint64{1, 2, 0, 3}, []uint64{1, 2}, nil, true, false},
		{"lost in the middle", []uint64{1, 0, 4, 5}, []uint64{1, 2, 3, 4, 5}, []found{{1, 1, 3}}, true, false},
		{"lost at the end", []uint64{1, 2, 0}, []uint64{1, 2, 3, 4}, []found{{2, 2, 4}}, true, false},
		{"two places", []uint64{1, 0, 3, 0, 5}, []uint64{1, 2, 3, 4, 5}, []found{{1, 1, 2}, {2, 3, 4}}, true, false},
		{"a damaged place where nothing is lost", []uint64{1, 0, 2, 3}, []uint64{1, 2, 3}, nil, true, false},
		{"more than is lost", []uint64{1, 2}, []uint64{1, 2, 3}, nil, true, false},
		{"another course of events", []uint64{1, 7, 0, 3}, []uint64{1, 2, 3}, nil, false, false},
		{"another course of events behind", []uint64{1, 0, 3, 7}, []uint64{1, 2, 3, 4}, nil, false, false},
		{"two places where it may go on", []uint64{1, 0, 3}, []uint64{1, 2, 3, 4, 3}, nil, false, false},
		{"the beginning of what follows, at the end of the request", []uint64{1, 0, 3, 4}, []uint64{1, 2, 3}, []found{{1, 1, 2}}, true, false},
		{"a request from before what follows", []uint64{1, 0, 5}, []uint64{1, 2, 3}, []found{{1, 1, 3}}, true, true},
		{"a request from behind that, without it", []uint64{1, 0, 5}, []uint64{1, 2, 3}, nil, false, false},
		{"all of it", []uint64{0}, []uint64{1, 2}, []found{{0, 0, 2}}, true, false},
	} {
		var have []uint64
		gap := []bool{false}
		for _, item := range c.have {
			if item == 0 {
				gap[len(have)] = true
				continue
			}
			have, gap = append(have, item), append(gap, false)
		}
		lost, ok := align(have, c.want, gap, func(int) bool { return c.before })
		if ok != c.ok || !slices.Equal(lost, c.lost) {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, lost, ok, c.lost, c.ok)
		}
	}
}

// TestAlignTakesItsTime: however often a request repeats itself, the work is bounded.
func TestAlignTakesItsTime(t *testing.T) {
	const n = 1 << 14
	have, want, gap := make([]uint64, n), make([]uint64, 4*n), make([]bool, n+1)
	for i := range gap {
		gap[i] = true
	}
	steps := effort * (len(have) + len(want))
	if _, _, ok := find(want, have[:1], &steps); ok {
		t.Error("there are many places")
	}
	if used := effort*(len(have)+len(want)) - steps; used > len(want) {
		t.Errorf("%d steps for %d items", used, len(want))
	}
	if _, ok := align(have, want, gap, func(int) bool { return true }); ok {
		t.Error("there are many places")
	}
}
