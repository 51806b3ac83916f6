package repair

import (
	"bytes"
	"context"
	"testing"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/testkit/damage"
	"github.com/hist-cli/hist/lint"
)

// TestRefusalsMended: of each session that an API refuses, the copy is one that it takes: what is sent of it has the fault no more. That is so
// whether the client has recorded the error or a user brings it.
func TestRefusalsMended(t *testing.T) {
	t.Parallel()
	for _, c := range damage.RefusedSessions() {
		if c.Row == 13 || c.Row == 14 || c.Row == 57 {
			continue // the newest client leaves such images out, and reasoning that was never there can't be made
		}
		opts := lint.Options{Agent: c.Agent, StripEncrypted: c.Agent == "codex"}
		refusalMended(t, c, opts)
		c.Data = c.Data[:bytes.LastIndexByte(c.Data[:len(c.Data)-1], '\n')+1]
		opts.Error = c.Error
		refusalMended(t, c, opts)
	}
}

// refusalMended repairs a session, and looks at what is sent of the copy.
func refusalMended(t *testing.T, c damage.Refused, opts lint.Options) {
	t.Helper()
	out, _, err := repairAs(c.Data, opts, Choice{Tidy: true})
	if err != nil {
		t.Errorf("row %d: %v", c.Row, err)
		return
	}
	res, err := lint.Session(context.Background(), bytes.NewReader(out), opts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Impact >= lint.Loses && f.Rule.Name != "unreadable-record" { // which no client sends
			t.Errorf("row %d: left: %s", c.Row, f.Message)
		}
	}
	sent, err := all.Named(c.Agent).ReadSent(out, agent.ReadAt{}, "")
	if err != nil || sent.Refused != "" {
		t.Fatal(sent, err)
	}
	for _, r := range api.Explain(c.Error) {
		places, _ := api.Locate(&r, sent)
		for _, p := range places {
			t.Errorf("row %d: line %d: %s", c.Row, sent.Items[p.Item].Pos.Line, p.Fault.What)
		}
	}
	for i := range sent.Items {
		for _, f := range api.Check(sent.Items[i].Content, map[string]string{"codex": "chatgpt", "claude": "anthropic"}[c.Agent], "") {
			t.Errorf("row %d: line %d: %s", c.Row, sent.Items[i].Pos.Line, f.What)
		}
	}
}
