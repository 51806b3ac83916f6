package clienttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/claude"
	"github.com/hist-cli/hist/internal/surgery"
)

// TestRealClientPart: a session that goes on with one of its sub-agents sends what the reader says of that one's file.
func TestRealClientPart(t *testing.T) {
	h := newest(t)
	call := func(id, tool string, input object) []Block {
		return []Block{{Type: "tool_use", ID: id, Name: tool, Input: input}}
	}
	id, _, err := h.Record(t.Context(), []Turn{{"have it done", [][]Block{
		call("toolu_01aa", "Agent", object{"description": "a task", "prompt": "print a word", "subagent_type": "general-purpose", "run_in_background": false}),
		{say("I look first."), bash("toolu_01sb", "echo word")},
		{say("The word is printed.")},
		{say("It is done.")},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := filepath.Glob(filepath.Join(h.Projects(), id, "subagents", "agent-*.jsonl"))
	if err != nil || len(parts) != 1 {
		t.Fatal(parts, err)
	}
	text, err := os.ReadFile(parts[0])
	if err != nil {
		t.Fatal(err)
	}
	sent, err := claude.Agent.ReadSent(text, agent.ReadAt{Base: filepath.Base(parts[0])}, h.Bin.Version)
	if err != nil || !strings.Contains(sent.Refused, "sub-agent") {
		t.Fatal(sent, err)
	}

	name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(parts[0]), "agent-"), ".jsonl")
	if _, err := h.run(t.Context(), [][]Block{
		call("toolu_01ts", "ToolSearch", object{"query": "select:SendMessage"}),
		call("toolu_01sm", "SendMessage", object{"to": name, "message": "print it again", "summary": "again"}),
		{say("Again.")},
		{say("It is on its way.")},
		{say("It was printed again.")},
	}, "-p", "once more", "--resume", id, "--allowedTools", "SendMessage,ToolSearch"); err != nil {
		t.Fatal(err)
	}
	asked := ""
	for _, r := range h.Server.Requests() {
		if said := strings.Join(Items(r.Body), "\n"); strings.Contains(said, "I look first.") {
			asked = said
		}
	}
	if !strings.Contains(asked, "print it again") {
		t.Fatal("no request goes on with the sub-agent")
	}
	told := 0
	for i := range sent.Items {
		for _, p := range surgery.Parts(&sent.Items[i]) {
			if strings.HasPrefix(p.Text, "{") || strings.HasPrefix(p.Text, "<system-reminder>") {
				continue // a call's arguments, and what stands apart from the conversation
			}
			_, behind, ok := strings.Cut(asked, p.Text)
			if !ok {
				t.Errorf("item %d is not sent in its place: %.100q", i, p.Text)
				continue
			}
			asked, told = behind, told+1
		}
	}
	if told < 4 {
		t.Errorf("only %d texts were looked for", told)
	}
}
