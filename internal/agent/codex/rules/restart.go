package rules

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

var (
	ruleRestartGap  = texts.Rule(finding.Rule{Name: "restart-gap", Family: "restart", Restart: finding.WentOn, Impact: finding.Notes, Fix: finding.NoFix})
	ruleStaleWake   = texts.Rule(finding.Rule{Name: "stale-wake", Family: "restart", Restart: finding.StaleWake, Impact: finding.Notes, Fix: finding.NoFix})
	ruleMissingSave = texts.Rule(finding.Rule{Name: "missing-save", Family: "restart", Restart: finding.NotSaved, Impact: finding.Notes, Fix: finding.NoFix})
	restartRules    = []*finding.Rule{ruleRestartGap, ruleStaleWake, ruleMissingSave, ruleSandboxOnlyFailure}
)

// restartChecker looks for turns that a restart cut off, and for wake messages that are repeated after it. The checker of turns shows it each record.
type restartChecker struct {
	run     *run
	begins  []byte                      // how the text of a wake message begins in the file, quote included
	calls   session.OpenCalls[openTool] // of the turn in hand
	ids     textBatch                   // of these calls
	seed    maphash.Seed
	wakes   map[uint64]int64 // line of the first copy of each wake message from before the newest restart
	newer   map[uint64]int64 // the same for those since
	restart int64            // line of the newest restart, 0 if there was none
}

// openTool is a call without an output.
type openTool struct{ id, tool string }

func newRestartChecker(s *run) *restartChecker {
	prefix := cmp.Or(s.opts.WakePrefix, "[WAKE]")
	quoted := jsonl.AppendQuote(nil, prefix)
	return &restartChecker{run: s, begins: quoted[:len(quoted)-1], seed: maphash.MakeSeed(), wakes: map[uint64]int64{}, newer: map[uint64]int64{}}
}

func (c *restartChecker) record(rec *session.Record) {
	switch {
	case rec.Kind == session.TurnStart, rec.Kind == session.TurnEnd:
		c.calls.Clear()
	case rec.Kind == session.Call:
		if c.calls.Len() < maxOpenTools {
			c.calls.Open(rec, openTool{c.ids.of(rec.CallID), codex.ToolName(rec)})
		}
	case rec.Kind == session.Output:
		c.calls.Answer(rec)
	case rec.Boundary:
		c.wake(rec)
	}
}

// maxOpenTools is how many calls without an output are kept in a turn, maxWakes how many wake messages.
const (
	maxOpenTools = 1024
	maxWakes     = 4096
)

// gap reports that a turn begins with a record although the one before, t, has not ended. If lines were lost, its end may have been among them.
func (c *restartChecker) gap(t *turn, rec *session.Record) *check.Claim {
	if t.parent || c.run.holes.First(t.start.Pos, rec.Pos) != nil {
		return nil
	}
	message := fmt.Sprintf("the turn that began on line %d never ended, and the session goes on here", t.start.Pos.Line)
	if then, err := time.Parse(time.RFC3339, t.when()); err == nil {
		if later := codex.Time(rec).Sub(then).Round(time.Second); later > 0 {
			message += fmt.Sprintf(", %s later", later)
		}
	}
	if c.calls.Len() > 0 {
		message += "; no output for " + named(c.calls.All())
	}
	c.restart = rec.Pos.Line
	c.age()
	return c.run.Claim(ruleRestartGap.Of(rec, message))
}

// age counts the wake messages since the last restart as from before the newest. If there are too many, the first are kept.
func (c *restartChecker) age() {
	for _, sum := range slices.SortedFunc(maps.Keys(c.newer), func(a, b uint64) int { return cmp.Compare(c.newer[a], c.newer[b]) }) {
		if len(c.wakes) < maxWakes {
			c.wakes[sum] = c.newer[sum]
		}
	}
	clear(c.newer)
}

// maxNamed is how many calls a message names.
const maxNamed = 4

// named lists calls by tool and id.
func named(calls []openTool) string {
	var names []string
	for i, call := range calls {
		if i == maxNamed {
			names = append(names, fmt.Sprintf("%d more", len(calls)-i))
			break
		}
		names = append(names, fmt.Sprintf("%s (%s)", check.Clip([]byte(call.tool), 40), check.Clip([]byte(call.id), 40)))
	}
	return strings.Join(names, ", ")
}

// wake reports a wake message that repeats one from before the newest restart.
func (c *restartChecker) wake(rec *session.Record) {
	if !bytes.HasPrefix(codex.FirstText(rec), c.begins) {
		return
	}
	text, _ := codex.MessageText(rec)
	sum := maphash.String(c.seed, strings.TrimSpace(text))
	if line, ok := c.wakes[sum]; ok {
		c.run.Report(ruleStaleWake.Of(rec, fmt.Sprintf("a wake message that repeats the one on line %d word for word, from before the restart on line %d", line, c.restart)))
	} else if len(c.newer) < maxWakes {
		c.newer[sum] = rec.Pos.Line
	}
}

// saveChecker reports that the last turn did not save its work although the turns before it did.
type saveChecker struct {
	run   *run
	turn  savedTurn
	saved [2]bool // whether the two turns before saved
}

// savedTurn is what is known of the turn in hand.
type savedTurn struct {
	at     finding.Ref
	record string
	saved  bool
	worked bool // the model said or did something
}

func (c *saveChecker) Record(rec *session.Record) {
	switch {
	case rec.Begins:
		if c.turn.worked {
			c.saved = [2]bool{c.turn.saved, c.saved[0]}
		}
		c.turn = savedTurn{at: finding.RefOf(rec), record: rec.Type}
	case rec.Kind == session.Call:
		c.turn.worked = true
		c.turn.saved = c.turn.saved || c.saves(codex.Text(rec, codex.FieldName))
	case rec.Answer:
		c.turn.worked = true
	}
}

// tool is the name of the tool that saves.
func (c *saveChecker) tool() string { return cmp.Or(c.run.opts.SaveTool, "add_memory") }

// saves says whether a tool is the one that saves, directly or as the tool of an MCP server.
func (c *saveChecker) saves(name []byte) bool {
	server, ok := strings.CutSuffix(string(name), c.tool())
	return ok && (server == "" || strings.HasSuffix(server, "__"))
}

func (c *saveChecker) End() {
	if c.turn.saved || !c.turn.worked || !c.saved[0] || !c.saved[1] || c.run.opts.Live {
		return
	}
	c.run.Report(ruleMissingSave.At(c.turn.at, c.turn.record, fmt.Sprintf("the last turn did not call %s, which the two turns before it did", check.Clip([]byte(c.tool()), 40))))
}
