package repair

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestPrettyPrinted: a recording that went through jq gets back the very bytes that its client wrote, of each agent, and
// lint says one thing of it, however long it is.
func TestPrettyPrinted(t *testing.T) {
	paths, err := filepath.Glob("../fixtures/*/*/clean/*.jsonl")
	if err != nil || len(paths) < 8 {
		t.Fatalf("%d recordings: %v", len(paths), err)
	}
	for _, path := range paths {
		sound, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var laid bytes.Buffer
		for line := range bytes.Lines(sound) {
			if err := json.Indent(&laid, line, "", "\t"); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
		getsBack(t, path, sound, laid.Bytes(), "pretty-printed")
	}
}

// getsBack tries that lint finds one thing in a text that was made of a sound recording, by that rule, and that its repair gives the very bytes
// that the client wrote. It returns what was found.
func getsBack(t *testing.T, path string, sound, text []byte, rule string) (found lint.Finding) {
	t.Helper()
	opts := lint.Options{Name: lint.NameOf(filepath.Base(path), false)}
	res, err := lint.Session(t.Context(), bytes.NewReader(text), opts)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	told := 0
	for _, f := range res.Findings {
		switch {
		case f.Rule.Name == rule && f.Fix == lint.Exact:
			told, found = told+1, f
		case f.Impact != lint.Notes:
			t.Errorf("%s: line %d: %s", path, f.Pos.Line, f.Message)
		}
	}
	if told != 1 {
		t.Errorf("%s: told %d times", path, told)
	}
	out, rep, err := repairAs(text, opts, Choice{Rules: []string{rule}})
	if err != nil || !bytes.Equal(out, sound) || len(rep.Edits) != 1 || rep.Fix != "exact" {
		t.Errorf("%s: the repaired copy is not what the client wrote (%v)", path, err)
	}
	return found
}

// TestPrettyPrintedAlong: where a client reads such records, they are joined once the session is mended for another reason,
// and the report says so; alone they are left.
func TestPrettyPrintedAlong(t *testing.T) {
	damaged, err := os.ReadFile("../fixtures/claude/rules/lost-result/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := repairText(damaged, "", Choice{})
	if err != nil {
		t.Fatal(err)
	}
	var laid bytes.Buffer
	for line := range bytes.Lines(damaged) {
		if err := json.Indent(&laid, line, "", "  "); err != nil {
			t.Fatal(err)
		}
	}
	got, rep, err := repairText(laid.Bytes(), "", Choice{})
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v, or another copy than of the session on single lines:\n%s", err, got)
	}
	if text := fmt.Sprintf("%+v", rep.Edits); !strings.Contains(text, "pretty-printed") {
		t.Error("the report does not tell of it")
	}
}

// TestPrettyPrintedWithALeftFault: what is wrong in one record, and is to be left, keeps neither that record nor the others laid out.
func TestPrettyPrintedWithALeftFault(t *testing.T) {
	damaged := joined(linesOf(t, "../fixtures/codex/rules/duplicate-key/bad-last-empty.jsonl"))
	var laid bytes.Buffer
	for line := range bytes.Lines(damaged) {
		if err := json.Indent(&laid, line, "", "  "); err != nil {
			t.Fatal(err)
		}
	}
	m := mutant{whole: damaged, text: laid.Bytes(), choice: Choice{Only: []lint.Fix{lint.Exact}}}
	m.opts.Mend = m.choice.Allows
	got, rep, err := repairAs(m.text, m.opts, m.choice)
	if err != nil || !bytes.Equal(got, damaged) || len(rep.Notes) > 0 {
		t.Errorf("%v, %v, or another copy than of the session on single lines:\n%s", err, rep.Notes, got)
	}
	if err := laws(t, m); err != nil {
		t.Error(err)
	}
}

// TestPrettyPrintedNot: what only looks like it is no record: another one that begins in it, and an end that never comes.
func TestPrettyPrintedNot(t *testing.T) {
	header := `{"timestamp":"2026-11-18T09:30:00.000Z","type":"session_meta","payload":{"id":"01a1edfd-e191-74b0-9003-79b97f4a7c15","timestamp":"2026-11-18T09:30:00.000Z","cwd":"/home/dev/notes","originator":"codex_exec","cli_version":"0.114.0","source":"exec","model_provider":"openai"}}` + "\n"
	for _, text := range []string{"{\n", "{\n" + header + "}\n", "{\n  \"a\": 1,\n}\n", "{\n\"a\": 1\n}\n", "{", strings.Repeat("{\n", 1000), "{\n  \"a\": \"b" + header + "\"\n}\n"} {
		res, err := lint.Session(t.Context(), strings.NewReader(header+text), lint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range res.Findings {
			if f.Rule.Name == "pretty-printed" {
				t.Errorf("%q: %s", text, f.Message)
			}
		}
	}
}
