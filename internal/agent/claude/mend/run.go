package mend

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/agent/claude/home"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

// NewCheckers makes the one checker that sees the whole tree.
func NewCheckers(run *check.Run) []check.Checker {
	o := run.Options()
	opts := options{Options: o, For: o.For[format.AgentName], Session: o.Name.ThreadID, SubAgent: strings.HasPrefix(o.Name.Base, "agent-"), Forked: forked(o.Name.Base)}
	if o.Path != "" {
		opts.Beside = evidence.Open(o.Path, o.Text, o.Asked)
		if id := strings.TrimSuffix(filepath.Base(o.Path), format.Extension); opts.Session == "" && format.IsID(id) {
			opts.Session = id
		}
	}
	c := newChecker(run, opts)
	if h, ok := run.History().(*check.TreeHistory); ok {
		h.Of = c
	}
	return []check.Checker{c}
}

// errors notes the errors that the client has written among the messages.
func (c *Checker) errors(rec *session.Record) {
	switch typ := format.Text(rec, format.FieldType); {
	case format.IsTrue(rec, format.FieldSidechain) && !c.opts.SubAgent:
	case string(typ) == "assistant" && format.IsTrue(rec, format.FieldAPIError):
		words, _ := format.Words{}.Message(rec)
		details := gjson.GetBytes(rec.Raw, "errorDetails").String() // the API's words, where the client has its own for them
		c.run.Refused([]byte(words+"\n"+details), finding.RefOf(rec), false)
	case string(typ) == "assistant" && string(format.Text(rec, format.FieldModel)) != format.Synthetic, string(format.Text(rec, format.FieldSubtype)) == "compact_boundary":
		c.run.Answered()
	}
}

// empty reports a file without a record.
func (c *Checker) empty() {
	f := finding.Finding{
		Rule: normalize.EmptyFile, Impact: finding.Blocks, Pos: session.Pos{Line: 1},
		Message: "the file holds no record: the client finds no conversation in it; look for a backup or a fork",
	}
	// A file of NULs or of unreadable lines once held something.
	if c.opts.Beside != nil && !c.zeros && len(c.dead) == 0 && c.opts.Beside.Stray() {
		f.Impact, f.Message = finding.Notes, "the file is empty: a resume of another session has left it, and the client finds no conversation in it"
	} else {
		c.onlyAsked(&f)
	}
	c.noRecord = f.Edits == nil
	c.run.Report(f)
}

// Explains says whether a finding is about a line of a file without a record: to mend it would leave none.
func (c *Checker) Explains(f *finding.Finding) bool {
	return c.noRecord && f.Framing && f.Impact > finding.Notes
}

// misplaced reports a conversation that lies where no client looks for it.
func (c *Checker) misplaced() {
	if c.opts.Home == "" || c.opts.Path == "" || c.Summary.Seen == 0 {
		return
	}
	says, elsewhere := home.Astray(c.opts.Home, c.opts.Path, c.beside.Cwd.Words)
	if says == "" {
		return
	}
	f := finding.Finding{Rule: faults.Misplaced, Impact: finding.Blocks, Pos: session.Pos{Line: 1}, Message: says}
	if c.opts.Asked != nil {
		c.opts.Asked()
	}
	if elsewhere != "" {
		f.Impact, f.Message = finding.Notes, says+"; it resumes "+elsewhere
	}
	c.run.Report(f)
}

// ownHelpers are how the files of a client's own helpers are named, which begin with all that the session has said so far: who sums it up,
// thinks of a next prompt, or answers a question beside it. Those of other sub-agents begin with a name that a user gave, or with none.
var ownHelpers = []string{"agent-acompact-", "agent-aprompt_suggestion-", "agent-aside_question-"}

// forked says whether a file is named as one of a client's own helpers.
func forked(base string) bool {
	return slices.ContainsFunc(ownHelpers, func(name string) bool { return strings.HasPrefix(base, name) })
}
