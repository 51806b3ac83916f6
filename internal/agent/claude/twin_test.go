package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// foundBeside lints one file of a project's folder, and returns its findings.
func foundBeside(t *testing.T, files map[string]string, name string) []lint.Finding {
	t.Helper()
	home := filepath.Join(t.TempDir(), ".claude")
	path := filepath.Join(home, "projects", "-srv-shed", name)
	for f, text := range files {
		at := filepath.Join(filepath.Dir(path), f)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	res, err := inspect.Lint(t.Context(), src, lint.Options{Home: home, Name: lint.NameOf(path, true)})
	if err != nil {
		t.Fatal(err)
	}
	return res.Findings
}

const goodName, twinName = "3a1d7c10-5b5e-4c7a-9a3e-0c5f6d7e8f90.jsonl", "4b2e8d21-6c6f-4d8b-8b4f-1d607e8f9012.jsonl"

func shedRecord(session, uuid, parent, typ, message string) string {
	if parent != "null" {
		parent = `"` + parent + `"`
	}
	return `{"parentUuid":` + parent + `,"isSidechain":false,"userType":"external","cwd":"/srv/shed","sessionId":"` + strings.TrimSuffix(session, ".jsonl") + `","version":"2.1.215","type":"` + typ + `","uuid":"` + uuid +
		`","timestamp":"2026-11-26T20:36:0` + uuid[len(uuid)-1:] + `.000Z","message":` + message + "}\n"
}

// A resume that failed leaves the end of a conversation under another id: the file that has all of it is named.
func TestEndOfAnotherSession(t *testing.T) {
	const id = "7d7d7d7d-0000-4000-8000-00000000000"
	said := func(of, n, text string) string {
		return `{"id":"msg_shed` + n + `","type":"message","role":"assistant","model":"claude-opus-4-8","content":[{"type":"text","text":"` + text + `"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`
	}
	end := func(session string) string {
		return shedRecord(session, id+"3", id+"2", "user", `{"role":"user","content":"And the rake?"}`) + shedRecord(session, id+"4", id+"3", "assistant", said(session, "B", "Behind the door."))
	}
	good := shedRecord(goodName, id+"1", "null", "user", `{"role":"user","content":"Where is the spade?"}`) + shedRecord(goodName, id+"2", id+"1", "assistant", said(goodName, "A", "On the wall.")) + end(goodName)
	files := map[string]string{goodName: good, twinName: end(twinName)}
	if found := foundBeside(t, files, goodName); len(found) > 0 {
		t.Errorf("the whole session: %v", found)
	}
	found := foundBeside(t, files, twinName)
	if len(found) != 1 || found[0].Impact != lint.Loses || !strings.Contains(found[0].Message, goodName) {
		t.Errorf("its end: %v", found)
	}
	if found := foundBeside(t, map[string]string{twinName: end(twinName)}, twinName); len(found) != 1 || found[0].Impact != lint.Loses || found[0].Fix != lint.StandIn {
		t.Errorf("alone: %v", found)
	}
}

// Of a conversation that a program has written over, what is left beside the file is named.
func TestWrittenOver(t *testing.T) {
	stub := `{"type":"last-prompt","lastPrompt":"Where is the spade?","sessionId":"` + strings.TrimSuffix(goodName, ".jsonl") + `"}` + "\n" + `{"type":"mode","mode":"normal","sessionId":"` + strings.TrimSuffix(goodName, ".jsonl") + `"}` + "\n"
	dir := strings.TrimSuffix(goodName, ".jsonl")
	found := foundBeside(t, map[string]string{
		goodName: stub, dir + "/subagents/agent-a41c.jsonl": "{}\n", dir + "/tool-results/toolu_01ShedA.txt": "a spade\n",
	}, goodName)
	if len(found) != 1 || found[0].Impact != lint.Blocks || !strings.Contains(found[0].Message, "1 conversations of sub-agents") || !strings.Contains(found[0].Message, "tool-results") {
		t.Errorf("%v", found)
	}
}

// A file of the same session in another project's folder, or a backup beside this one, has what this one has lost.
func TestSameSessionElsewhere(t *testing.T) {
	const id = "7d7d7d7d-0000-4000-8000-00000000000"
	said := func(n, text string) string {
		return `{"id":"msg_shed` + n + `","type":"message","role":"assistant","model":"claude-opus-4-8","content":[{"type":"text","text":"` + text + `"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`
	}
	begun := shedRecord(goodName, id+"1", "null", "user", `{"role":"user","content":"Where is the spade?"}`)
	answer := shedRecord(goodName, id+"2", id+"1", "assistant", said("A", "On the wall."))
	end := shedRecord(goodName, id+"3", id+"2", "user", `{"role":"user","content":"And the rake?"}`) + shedRecord(goodName, id+"4", id+"3", "assistant", said("B", "Behind the door."))
	for other, want := range map[string]string{"../-srv-barn/" + goodName: "-srv-barn/" + goodName, goodName + ".bak": goodName + ".bak", "../-srv-barn/" + twinName: ""} {
		found := foundBeside(t, map[string]string{goodName: begun + end, other: begun + answer + end}, goodName)
		if len(found) != 1 || (found[0].Fix == lint.Recovered) != (want != "") || want != "" && !strings.HasSuffix(filepath.ToSlash(found[0].Source), want) {
			t.Errorf("%s: %+v", other, found)
		}
	}
}
