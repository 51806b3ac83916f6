package repair

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// TestReportNamesLintsLines: an edit tells the line that lint names for its finding, wherever the change itself stands.
func TestReportNamesLintsLines(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../fixtures/*/rules/*/bad*.jsonl")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d fixtures: %v", len(paths), err)
	}
	apart := 0
	for _, path := range paths {
		opts, ok := fixtureOptions(t, strings.TrimSuffix(path, ".jsonl"))
		if !ok {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found, err := lint.Session(t.Context(), bytes.NewReader(text), opts)
		if err != nil {
			continue // no agent's
		}
		_, rep, err := repairAs(text, opts, Choice{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, e := range rep.Edits {
			var lines []int64
			for _, f := range found.Findings {
				if f.Rule.Name == e.Rule && f.Message == e.Reason {
					lines = append(lines, f.Pos.Line)
				}
			}
			if len(lines) > 0 && !slices.Contains(lines, e.FoundLine) {
				t.Errorf("%s: %s: lint names line %v, the report %d", path, e.Rule, lines, e.FoundLine)
			}
			if e.Line != e.FoundLine {
				apart++
			}
		}
	}
	if apart < 20 {
		t.Errorf("in %d edits only the change stands apart from its finding", apart)
	}
}

// TestReportOfWhatChangesNoLine: a repair that changes how the lines are kept and none of them says so, and is not "nothing
// to repair".
func TestReportOfWhatChangesNoLine(t *testing.T) {
	for fixture, rule := range map[string]string{"bom/bad-utf16be": "bom", "bom/bad-utf16le": "bom"} {
		text, err := os.ReadFile("../fixtures/codex/rules/" + fixture + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		out, rep, err := repairText(text, "", Choice{})
		if err != nil || bytes.Equal(out, text) {
			t.Fatalf("%s: unchanged, or %v", fixture, err)
		}
		if len(rep.Edits) != 1 || rep.Edits[0].Rule != rule || rep.Fix != lint.Exact.String() {
			t.Errorf("%s: the report tells %+v, fix %q", fixture, rep.Edits, rep.Fix)
		}
	}
}

// TestReportTellsWhatIsLost: only an edit in whose place something of the history stays lost says that it is.
func TestReportTellsWhatIsLost(t *testing.T) {
	for fixture, lost := range map[string]int64{
		"call-without-output/bad": 1, "lone-surrogate/bad": 0, "bad-header/bad-originator": 0, "call-without-output/bad-command-execution": 0,
	} {
		text, err := os.ReadFile("../fixtures/codex/rules/" + fixture + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		_, rep, err := repairText(text, "", Choice{})
		if err != nil || len(rep.Edits) == 0 || rep.Edits[0].Lost != lost {
			t.Errorf("%s: %d edits, %v; want %d lost by the first", fixture, len(rep.Edits), err, lost)
		}
	}
}

// A copy of standard input that can't be written is reported by its error alone.
func TestNoReportWithoutCopy(t *testing.T) {
	src, err := source.Stdin(strings.NewReader(`{"timestamp":"2026-11-18T09:30:00.000Z","type":"session_meta","payload":{}}`+"\n"), "")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	taken := filepath.Join(t.TempDir(), "taken.jsonl")
	put(t, taken, []byte("something else"))
	rep, err := Do(t.Context(), Job{Source: src, Mode: ToFile, Output: taken})
	if rep != nil || !errors.Is(err, publish.ErrExists) {
		t.Errorf("%+v, %v", rep, err)
	}
}

// TestReportOfACutHead: what stood in front of a session whose first lines are gone is not counted, and the report says so, unless the
// file shows that no more than the prompt is gone.
func TestReportOfACutHead(t *testing.T) {
	whole, err := os.ReadFile("../fixtures/claude/rules/lost-prompt/ok.jsonl")
	announced, err2 := os.ReadFile("../fixtures/claude/rules/lost-prompt/bad-and-cut-answer.jsonl")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for cut, headless := range map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 8: true, -1: false} {
		text := announced
		if cut > 0 {
			text = bytes.Join(lines[cut:], nil)
		}
		_, rep, err := repairAs(text, lint.Options{}, Choice{})
		if err != nil || rep.History.Gap != headless || strings.Contains(rep.History.Words(), "all ") == headless {
			t.Errorf("%d lines cut: %v, %s", cut, err, rep.History.Words())
		}
	}
}

// TestReportOfAGap: where a record is missing that another one names, nobody is told that all items are there, though all that is left is.
func TestReportOfAGap(t *testing.T) {
	for path, lost := range map[string]int{
		"claude/healthy/answer-as-string/session": 2, "claude/rules/late-result/bad-without-ids": 7, "claude/rules/lost-kept/ok": 9,
		"pi/healthy/two-system-messages/session": 4,
	} {
		lines := linesOf(t, filepath.Join("../fixtures", path+".jsonl"))
		_, rep, err := repairAs(joined(slices.Delete(lines, lost-1, lost)), lint.Options{}, Choice{})
		if err != nil || len(rep.Edits) == 0 || !rep.History.Gap || strings.Contains(rep.History.Words(), "all ") {
			t.Errorf("%s: %v, %s", path, err, rep.History.Words())
		}
	}
}

// TestReportOfASubAgent: that a client resumes a sub-agent only with its session does not make its items lost.
func TestReportOfASubAgent(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // the run is recorded there
	text, err := os.ReadFile("../fixtures/claude/rules/lost-result/bad-of-a-sub-agent.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "agent-a9c0ffee.jsonl")
	put(t, path, text)
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	rep, err := Do(t.Context(), Job{Source: src, Mode: ToFile, Output: path + ".copy", Lint: lint.Options{Name: lint.NameOf(path, false)}})
	if err != nil || rep.History.Before != 5 || rep.History.After != 6 || rep.History.Items != 7 {
		t.Errorf("%+v, %v", rep, err)
	}
}

// TestReportOfAMark: a mark of git in front of the header keeps the client from reading it, but holds nothing of the history.
func TestReportOfAMark(t *testing.T) {
	lines := linesOf(t, "../fixtures/codex/healthy/search-in-script/session.jsonl")
	_, rep, err := repairAs(append([]byte("<<<<<<< HEAD\n"), joined(lines)...), lint.Options{}, Choice{})
	if err != nil || len(rep.Edits) == 0 || rep.History.Partly {
		t.Errorf("%v, %s", err, rep.History.Words())
	}
}

// TestReportOfATornHeader: a header holds nothing of the history, so nothing of that is lost with a piece of it.
func TestReportOfATornHeader(t *testing.T) {
	for _, path := range []string{"codex/healthy/search-in-script", "pi/healthy/two-system-messages"} {
		lines := linesOf(t, filepath.Join("../fixtures", path, "session.jsonl"))
		lines[0] = lines[0][40:]
		_, rep, err := repairAs(joined(lines), lint.Options{}, Choice{})
		if err != nil || len(rep.Edits) == 0 || rep.History.Partly {
			t.Errorf("%s: %v, %s", path, err, rep.History.Words())
		}
	}
}

// TestPlaceholderBesideTheHistory: a placeholder in something that the model is not sent (a header, a time, the note of a leaf) loses
// nothing of the history, nor does a record that is taken out and that was read; a placeholder in an item does, and a line that can't be read. Where a header is gone without a number to say that nothing else is, that is not known.
func TestPlaceholderBesideTheHistory(t *testing.T) {
	for name, want := range map[string]string{
		"codex/rules/bad-header/bad-cli-version":              "all 5 known items",
		"codex/rules/no-header/bad-paginated":                 "all 5 known items",
		"codex/rules/no-header/bad":                           "records of it are missing",
		"codex/rules/bad-arguments/bad-no-json":               "some of it is lost",
		"codex/rules/lone-surrogate/bad":                      "some of it is lost",
		"claude/rules/lost-prompt/bad-counted-more":           "records of it are missing",
		"claude/rules/missing-time/bad":                       "all 8 known items",
		"claude/rules/wrong-leaf/bad-ahead-of-time":           "all 6 known items",
		"claude/rules/duplicate-record/bad-behind-a-lost-end": "all 8 known items",
		"claude/rules/other-session/bad-between":              "all 8 known items",
		"codex/rules/stray-header/bad":                        "all 9 known items",
		"codex/rules/bad-json/bad":                            "some of it is lost",
		"pi/rules/bad-shape/bad-message":                      "6 of 7 known items",
		"pi/rules/lost-header/bad":                            "all 7 known items",
		"pi/rules/wrong-kept/bad":                             "records of it are missing",
	} {
		text, err := os.ReadFile(filepath.Join("../fixtures", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		_, rep, err := repairAs(text, lint.Options{}, Choice{})
		if err != nil || !strings.Contains(rep.History.Words(), want) {
			t.Errorf("%s: %v, want %q in %q", name, err, want, rep.History.Words())
		}
	}
}
