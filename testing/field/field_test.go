package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	lost := found{Rule: "broken-parent", Impact: "loses"}
	note := found{Rule: "cut-turn", Impact: "notes"}
	open := found{Rule: "unfinished-call", Impact: "loses"}
	waits := found{Rule: "lost-prompt", Impact: "loses", Message: "the last prompt is not in the file: x"}
	first := found{Rule: "lost-prompt", Impact: "loses", Message: "the first prompt is not in the file: x"}
	judged := map[string]string{"0123456789ab": "an answer was never written"}
	for _, c := range []struct {
		name     string
		hash     string
		findings []found
		want     class
	}{
		{"nothing", "", nil, healthy},
		{"a note", "", []found{note}, healthy},
		{"a call that ran at the end", "", []found{open, note}, stopped},
		{"a prompt that waited, too", "", []found{open, waits}, stopped},
		{"calls at the end", "", []found{{8, "call-without-output", "loses", ""}, {9, "call-without-output", "loses", ""}}, stopped},
		{"a call in the middle", "", []found{{7, "call-without-output", "loses", ""}, {9, "call-without-output", "loses", ""}}, alarm},
		{"a loss", "", []found{lost}, alarm},
		{"the first prompt", "", []found{first}, alarm},
		{"a loss, and a call that ran", "", []found{lost, open}, alarm},
		{"somebody has looked at it", "0123456789ab", []found{lost}, damaged},
		{"somebody has, but nothing is found", "0123456789ab", nil, healthy},
	} {
		s := &sighting{hash: c.hash, lines: 9, findings: c.findings}
		if s.judge(judged); s.class != c.want {
			t.Errorf("%s: %s, not %s", c.name, classNames[s.class], classNames[c.want])
		}
	}
}

func TestWriterOf(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       writer
	}{
		{"a.jsonl", `{"type":"last-prompt","sessionId":"s"}` + "\n" + `{"type":"user","sessionId":"s","version":"2.1.78","entrypoint":"sdk-cli"}`, writer{"claude", "2.1.78", "sdk-cli", "session"}},
		{"agent-a1.jsonl", `{"type":"user","sessionId":"s","version":"2.1.2"}`, writer{"claude", "2.1.2", "-", "sub-agent"}},
		{"full.jsonl", "torn\n" + `{"type":"session_meta","payload":{"cli_version":"0.142.0","originator":"codex-tui","source":"cli"}}`, writer{"codex", "0.142.0", "codex-tui", "checkpoint"}},
		{"rollout.jsonl", `{"type":"session_meta","payload":{"cli_version":"0.171.0","source":{"subagent":"review"}}}`, writer{"codex", "0.171.0", "-", "sub-agent"}},
		{"notes.jsonl", `{"a":1}`, writer{"", "unknown", "-", "session"}},
	} {
		if got := writerOf(c.name, []byte(c.text)); got != c.want {
			t.Errorf("%s: %+v, not %+v", c.name, got, c.want)
		}
	}
}

func TestReport(t *testing.T) {
	r := &report{most: 0.2, files: 4}
	for _, s := range []*sighting{
		{path: "a.jsonl", by: writer{agent: "claude"}},
		{path: "b.jsonl", by: writer{agent: "claude"}, class: alarm, hash: "0123456789ab", findings: []found{{3, "broken-parent", "loses", "its parent is not there"}}},
		{path: "c.jsonl", again: true},
		{path: "d.jsonl", trouble: "repair changed a healthy file"},
	} {
		r.add(s)
	}
	var out bytes.Buffer
	if !r.print(&out) {
		t.Error("a finding in every second file is all right")
	}
	for _, want := range []string{"1 healthy, 1 to look at (50.00 % of these)", "b.jsonl:3: its parent is not there (0123456789ab)", "TROUBLE d.jsonl: repair changed a healthy file"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
}
