package timeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/lint"
)

// told reads a session and returns its entries as text, one per line.
func told(t *testing.T, text []byte, content bool) string {
	t.Helper()
	result, err := lint.Session(context.Background(), bytes.NewReader(text), lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	err = Read(t.Context(), bytes.NewReader(text), Options{Findings: result.Findings, Content: content}, func(e *Entry) error {
		fmt.Fprintf(&b, "%d:%d %s", e.Turn, e.Pos.Line, e.Kind)
		switch e.Kind {
		case Prompt, Answer:
			fmt.Fprintf(&b, " %d %s", e.Chars, e.Text)
		case Call, Output:
			fmt.Fprintf(&b, " %s %s %v %s %s", e.Tool, e.CallID, e.Answered, e.Outcome.State, e.Outcome.Exit)
		case TurnEnd:
			fmt.Fprintf(&b, " %s %s %d", e.State, e.Detail, e.Calls)
		case Settings:
			fmt.Fprintf(&b, " %s %s", e.Model, e.CWD)
		case Finding:
			b.WriteString(" " + e.Finding.Rule.Name)
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

func recording(t *testing.T, version, scenario string) []byte {
	t.Helper()
	text, err := os.ReadFile(recordingPath(t, version, scenario))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Recordings of real clients give the entries of what was played.
func TestRecordings(t *testing.T) {
	for _, tc := range []struct{ version, scenario, want string }{
		{"0.169.0", "kill_in_tool_resumed0", `
1:2 turn start
1:2 finding open-turn
1:6 settings gpt-5.1-codex /home/dev/demo
1:8 prompt 21
1:10 call exec_command call_1 true ok 0
1:15 call exec_command call_2 false answered
1:15 finding call-without-output
1:16 call apply_patch call_p3 false answered
1:16 finding call-without-output
1:16 turn end open  3
2:19 turn start
2:19 finding restart-gap
2:21 prompt 12
2:23 call exec_command call_7 true ok 0
2:29 answer 11
2:32 turn end completed  1
`},
		{"0.79.0", "sigint", `
1:2 turn start
1:2 prompt 19
1:2 turn end unanswered  0
2:4 turn start
2:4 prompt 14
2:4 finding truncated-turn
2:6 settings gpt-5.1-codex /home/dev/demo
2:8 call shell call_1 true ok 0
2:13 call shell call_2 false answered
2:13 finding call-without-output
2:13 turn end open  2
`},
		{"0.145.0", "capacity", `
1:2 turn start
1:6 settings gpt-5.1-codex /home/dev/demo
1:7 prompt 21
1:9 call exec_command call_1 true ok 0
1:13 finding failed-turn
1:13 turn end failed server_overloaded 1
`},
	} {
		t.Run(tc.version+"/"+tc.scenario, func(t *testing.T) {
			got := told(t, recording(t, tc.version, tc.scenario), false)
			if got != tc.want[1:] {
				t.Errorf("got:\n%s\nwant:\n%s", got, tc.want[1:])
			}
		})
	}
}

// Whatever is wrong with a session, it is read to its end: every finding appears once, every turn that starts ends, and there
// is no word of the conversation unless it is asked for.
func TestEveryFixture(t *testing.T) {
	err := filepath.WalkDir("../../fixtures", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		result, err := lint.Session(t.Context(), bytes.NewReader(text), lint.Options{})
		if errors.Is(err, lint.ErrUnclaimed) {
			return nil
		}
		if err != nil {
			return err
		}
		seen, open := map[*lint.Finding]int{}, 0
		err = Read(t.Context(), bytes.NewReader(text), Options{Findings: result.Findings}, func(e *Entry) error {
			switch e.Kind {
			case Finding:
				seen[e.Finding]++
			case TurnStart:
				open++
			case TurnEnd:
				open--
			}
			if e.Text+e.Asked+e.Got != "" {
				t.Errorf("%s:%d: content", path, e.Pos.Line)
			}
			return nil
		})
		if err != nil || open != 0 || len(seen) != len(result.Findings) {
			t.Errorf("%s: %v; %d turns did not end; %d of %d findings", path, err, open, len(seen), len(result.Findings))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

const header = `{"timestamp":"2026-11-20T10:00:00.000Z","type":"session_meta","payload":{"id":"019a0000-0000-7000-8000-000000000001","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/w","originator":"x","cli_version":"0.114.0"}}` + "\n"

func item(payload string) string {
	return `{"timestamp":"2026-11-20T10:00:01.000Z","type":"response_item","payload":` + payload + "}\n"
}

func call(id string) string {
	return item(`{"type":"function_call","name":"t","namespace":"mcp__s","arguments":"{\"a\":1}","call_id":"` + id + `"}`)
}

func answer(id, output string) string {
	return item(`{"type":"function_call_output","call_id":"` + id + `","output":` + output + `}`)
}

// The forms in which clients say how a call came out.
func TestOutcomes(t *testing.T) {
	for output, want := range map[string]string{
		`"Wall time: 0.1 seconds\nProcess exited with code 7\nOutput:\nx"`:             "true failed 7",
		`"Exit code: 0\nWall time: 0.1 seconds\nOutput:\nProcess exited with code 9"`:  "true ok 0",
		`"{\"output\":\"x\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.2}}"`: "true failed 2",
		`"Wall time: 1.0 seconds\nProcess running with session ID 4\nOutput:\n"`:       "true running",
		`"Wall time: 5.0 seconds\naborted by user"`:                                    "true aborted",
		`"aborted"`:                            "true aborted",
		`"exec_command failed: CreateProcess"`: "true failed",
		`[{"type":"input_text","text":"Wall time: 0.0022 seconds\nOutput:"}]`:              "true answered",
		`"Outcome unknown: the session was cut before this call's output was recorded. x"`: "true unknown",
		`"some words"`: "true answered",
		`7`:            "true answered",
	} {
		got := told(t, []byte(header+item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`)+call("c1")+answer("c1", output)), false)
		if !strings.Contains(got, "call mcp__s__t c1 "+want+"\n") {
			t.Errorf("%s: want %q, got:\n%s", output, want, got)
		}
	}
}

// An output after the end of its turn still answers its call; one in the next turn does not.
func TestLateOutput(t *testing.T) {
	start := `{"timestamp":"2026-11-20T10:00:01.000Z","type":"event_msg","payload":{"type":"task_started","turn_id":"t"}}` + "\n"
	end := `{"timestamp":"2026-11-20T10:00:01.000Z","type":"event_msg","payload":{"type":"turn_aborted","turn_id":"t","reason":"interrupted"}}` + "\n"
	for text, want := range map[string]string{
		start + call("c1") + end + answer("c1", `"x"`):         "call mcp__s__t c1 true",
		start + call("c1") + end + start + answer("c1", `"x"`): "call mcp__s__t c1 false",
	} {
		if got := told(t, []byte(header+text), false); !strings.Contains(got, want) {
			t.Errorf("want %q, got:\n%s", want, got)
		}
	}
}

// Two clients that write to one session at once: each output belongs to its call, and each end to its turn, whatever stands between.
func TestTwoWriters(t *testing.T) {
	text, err := os.ReadFile("../../fixtures/codex/rules/two-writers/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	got := told(t, text, false)
	for _, want := range []string{"call_a true", "call_b true", "1:14 turn end completed  1", "2:17 turn end completed  1"} {
		if !strings.Contains(got, strings.ReplaceAll(want, "  ", " ")) && !strings.Contains(got, want) {
			t.Errorf("want %q, got:\n%s", want, got)
		}
	}
	if strings.Contains(got, "\n0:") || strings.Contains(got, " output ") {
		t.Errorf("an output without its call:\n%s", got)
	}
}

// Two calls of different families may share an id: each has an output of its own.
func TestFamilies(t *testing.T) {
	text, err := os.ReadFile("../../fixtures/codex/healthy/one-id-two-families/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if got := told(t, text, false); strings.Count(got, "call_1 true") != 2 || strings.Contains(got, "false") {
		t.Errorf("got:\n%s", got)
	}
}

// In a session that is being written the last turn runs, and so do its calls.
func TestLive(t *testing.T) {
	text := recording(t, "0.169.0", "kill_in_tool")
	var got []string
	err := Read(t.Context(), bytes.NewReader(text), Options{Live: true}, func(e *Entry) error {
		if e.Kind == Call || e.Kind == TurnEnd {
			got = append(got, fmt.Sprintf("%s%v/%v", e.CallID, e.Outcome.State, e.State))
		}
		return nil
	})
	if want := "[call_1ok/ call_2running/ call_p3running/ answered/running]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v: %s", err, got)
	}
}

// Entries come as soon as the calls before them are answered: nothing holds the session.
func TestStreams(t *testing.T) {
	text := header + call("c1") + answer("c1", `"x"`) + call("c2") + item(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}`) + answer("c2", `"x"`)
	var lines []string
	stop := errors.New("stop")
	err := Read(t.Context(), strings.NewReader(text), Options{}, func(e *Entry) error {
		lines = append(lines, fmt.Sprint(e.Kind, e.Answered))
		if e.Kind == Answer {
			return stop
		}
		return nil
	})
	if got := strings.Join(lines, " "); !errors.Is(err, stop) || got != "call true call true answer false" {
		t.Errorf("%v: %s", err, got)
	}
	queue := 0
	r := &teller{agent: &codex.Agent, words: codex.Words{}, emit: func(*Entry) error { queue++; return nil }}
	f := normalize.New(strings.NewReader(strings.Repeat(call("c1")+answer("c1", `"x"`), 1000)), normalize.Options{Decoder: codex.Decoder{}})
	for n := 0; n < 2000; n++ {
		rec, err := f.Next()
		if err != nil {
			t.Fatal(err)
		}
		r.record(rec)
		if err := r.flush(); err != nil || len(r.queue) > 1 || r.calls.Len() > 1 {
			t.Fatalf("record %d: %d entries wait, %v", n, len(r.queue), err)
		}
	}
	if queue != 1000 {
		t.Errorf("%d entries", queue)
	}
}
