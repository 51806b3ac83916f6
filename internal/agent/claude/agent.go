package claude

import (
	"bytes"
	"regexp"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/agent/claude/home"
	"github.com/hist-cli/hist/internal/agent/claude/mend"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/session"
)

// Agent is Claude Code. Its repairs name each record's parent themselves, it has no locks, and it does not tell its tools in which session
// they run.
var Agent = &agent.Agent{
	Name: format.AgentName, Title: "Claude Code",
	Claims: claims, ReadName: readName, NewName: newName,
	Decoder: mend.Decoder{}, NewHistory: func() check.History { return &check.TreeHistory{} }, NewCheckers: mend.NewCheckers, Rules: faults.Rules, Effect: faults.Effect,
	NewLinks: func(session.Info, string) agent.Links { return agent.NoLinks{} }, Branched: true,
	Words: format.Words{}, Typed: format.TypedOf, Outline: outline, About: format.About, Part: home.Part, Roots: roots,
	ReadSent: readSent, RuleFor: ruleFor, TriesAgain: triesAgain,
	Resume: resume, Explain: explain, Unnoticed: home.Unnoticed, OnlyInPlace: onlyInPlace,
	Home: home.OnDisk, Ended: faults.LostEnd,
}

// marks are the signs of Claude Code: a session's first bytes hold all members of at least one of these lists. Inside a text
// their quotes would be escaped, so a text that quotes a session does not match.
var marks = [][]string{
	{`"parentUuid"`, `"sessionId"`},
	{`"parentUuid"`, `"isSidechain"`},
	{`"parentUuid"`, `"uuid"`, `"message"`},
	{`"type":"summary"`, `"leafUuid"`},
	{`"type":"queue-operation"`, `"sessionId"`},
	{`"type":"last-prompt"`},
	{`"type":"file-history-snapshot"`, `"messageId"`},
}

// claims recognises a session by members that only this client writes. Its name is no sign: a bare uuid may be anything.
func claims(_ string, head []byte) bool {
	if !bytes.Contains(head, []byte(`"content":`)) && bytes.Contains(head, []byte(`"parts":[`)) {
		return false // of another client, whose records look alike
	}
	for _, words := range marks {
		all := true
		for _, w := range words {
			all = all && bytes.Contains(head, []byte(w))
		}
		if all {
			return true
		}
	}
	return false
}

// root is how a record says that nothing stands above it.
var root = regexp.MustCompile(`"parentUuid"\s*:\s*null`)

func roots(lines []byte) int { return len(root.FindAllIndex(lines, -1)) }

// readName reads a session's name: its id, or that of a sub-agent.
func readName(base string) check.Name {
	n := check.Name{Base: base}
	if id := strings.TrimSuffix(base, format.Extension); id != base && format.IsID(id) {
		n.Canonical, n.ThreadID = true, strings.ToLower(id)
	}
	return n
}

// newName is a session's file name.
func newName(_ time.Time, thread string) string {
	if !format.IsID(thread) {
		return ""
	}
	return thread + format.Extension
}

// resume is `claude --resume SESSION`. It is nil if thread is not an id, because the client would take it for a title or a
// path.
func resume(thread string) []string {
	if !format.IsID(thread) {
		return nil
	}
	return []string{"claude", "--resume", thread}
}
