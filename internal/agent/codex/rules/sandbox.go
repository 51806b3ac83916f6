package rules

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

var ruleSandboxOnlyFailure = texts.Rule(finding.Rule{Name: "sandbox-only-failure", Family: "restart", Restart: finding.FailedInSandbox, Impact: finding.Notes, Fix: finding.NoFix})

// sandboxChecker follows the commands and MCP calls of a turn.
type sandboxChecker struct {
	run    *run
	policy string // of the newest turn's settings, as it stands there: most turns have the same
	closed bool   // commands run without network
	turn   sandboxTurn
}

// sandboxTurn is what is known of the turn in hand.
type sandboxTurn struct {
	failed []failedCommand
	mcp    int // how many MCP calls were answered and did not fail
	calls  session.OpenCalls[*sandboxCall]
}

// sandboxCall is a call that matters here.
type sandboxCall struct {
	kind   string // "shell", "outside" or "mcp"
	failed bool   // an event says that the MCP call failed
}

// failedCommand is a command that failed on the network.
type failedCommand struct {
	at finding.Ref
	id string
}

func (c *sandboxChecker) Record(rec *session.Record) {
	if rec.Begins || rec.Kind == session.TurnEnd {
		c.End()
	}
	switch rec.Kind {
	case session.Context:
		c.settings(rec)
	case session.Call:
		c.call(rec)
	case session.Evidence:
		for _, call := range c.turn.calls.Told(rec) {
			call.failed = call.failed || call.kind == "mcp" && codex.EvidenceOutcome(rec).State == session.Failed
		}
	case session.Output:
		c.output(rec)
	}
}

func (c *sandboxChecker) settings(rec *session.Record) {
	policy := codex.Field(rec, codex.FieldSandbox)
	if string(policy) == c.policy {
		return
	}
	c.policy = string(policy)
	if no, known := codex.NoNetwork(rec); known {
		c.closed = no
	}
}

func (c *sandboxChecker) call(rec *session.Record) {
	if !c.closed || c.turn.calls.Len() >= maxOpenTools {
		return
	}
	kind := ""
	switch name := codex.ToolName(rec); {
	case strings.HasPrefix(name, "mcp__"):
		kind = "mcp"
	case codex.Shell(name) && codex.Escalated(rec):
		kind = "outside"
	case codex.Shell(name):
		kind = "shell"
	default:
		return
	}
	c.turn.calls.Open(rec, &sandboxCall{kind: kind})
}

func (c *sandboxChecker) output(rec *session.Record) {
	call, matters := c.turn.calls.Answer(rec)
	if !matters {
		return
	}
	switch call.kind {
	case "mcp":
		if !call.failed && mcpAnswered(rec) {
			c.turn.mcp++
		}
	case "outside":
		if codex.OutputOutcome(rec).State == session.Succeeded {
			c.turn.failed = nil // the commands were tried again with network
		}
	case "shell":
		if codex.OutputOutcome(rec).State == session.Failed && offNetwork(codex.Field(rec, codex.FieldOutput)) {
			c.turn.failed = append(c.turn.failed, failedCommand{finding.RefOf(rec), string(rec.CallID)})
		}
	}
}

// mcpAnswered says whether an MCP tool's output is something other than one of the client's own errors.
func mcpAnswered(rec *session.Record) bool {
	text := codex.OutputText(rec)
	state := codex.OutputOutcome(rec).State
	return (state == session.Untold || state == session.Succeeded) && !strings.HasPrefix(text, "tool call ") && !strings.HasPrefix(text, "user ")
}

// networkWords are what commands print when they can't connect or can't resolve a name.
var networkWords = [][]byte{
	[]byte("Could not resolve host"), []byte("Couldn't connect to server"), []byte("Connection refused"), []byte("Failed to connect to"),
	[]byte("Network is unreachable"), []byte("name resolution"), []byte("Name or service not known"), []byte("error connecting to "),
	[]byte("ECONNREFUSED"), []byte("ENOTFOUND"), []byte("EAI_AGAIN"), []byte("connection refused"), []byte("no such host"),
}

// maxSearched is how much of a failed command's output is searched, in bytes.
const maxSearched = 64 << 10

func offNetwork(output []byte) bool {
	output = output[:min(len(output), maxSearched)]
	return slices.ContainsFunc(networkWords, func(w []byte) bool { return bytes.Contains(output, w) })
}

// End reports the turn in hand.
func (c *sandboxChecker) End() {
	if t := c.turn; len(t.failed) > 0 && t.mcp > 0 {
		first := t.failed[0]
		what := fmt.Sprintf("the command of call %s", check.Clip([]byte(first.id), 40))
		if n := len(t.failed); n > 1 {
			what = fmt.Sprintf("%d commands, the first that of call %s,", n, check.Clip([]byte(first.id), 40))
		}
		what += " failed on the network inside the sandbox, while MCP tools worked in the same turn: try outside the sandbox before concluding that a service is down"
		c.run.Report(ruleSandboxOnlyFailure.At(first.at, "response_item/function_call_output", what))
	}
	c.turn = sandboxTurn{}
}
