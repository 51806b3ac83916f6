package codex

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Name is Codex's name in reports.
const Name = "codex"

// Agent is Codex without its rules, which package rules adds.
var Agent = agent.Agent{
	Name: Name, Title: "Codex",
	Claims: claims, ReadName: readName, NewName: home.Name,
	Decoder: Decoder{}, NewHistory: func() check.History { return NewHistory() }, NewLinks: newLinks,
	Words: Words{}, Typed: typed, Thought: thought, Outline: outline,
	About: about, Reidentify: Reidentify, IsHeader: IsHeader, OfSubagent: OfSubagent, Interactive: isInteractive,
	ReadSent: readSent, RuleFor: ruleFor,
	Resume: resume, ResumeIn: resumeIn, Subcommand: subcommand, Explain: explain, TooOld: clientTooOld,
	Home: &agent.Home{
		Variable: "CODEX_HOME", DefaultHome: home.Default, Sessions: home.Sessions, Lists: home.Lists, Doubles: home.Doubles, Live: live, LiveAt: liveAt, Folder: "sessions/",
		HomeAbove: HomeAbove, Find: home.Find, Named: home.Named, Names: home.Names, InUse: home.InUse, TakesAny: takesAny, Apart: apart, Left: home.Left, Asking: home.Asking, Lock: home.Lock, Prompts: home.Typed,
		Archive: &agent.Archive{Archived: archived, NewDir: newDir, Unarchive: unarchive},
		Bounds:  &agent.Bounds{Databases: databases, Twins: home.Twins},
	},
}

// marks are strings that only a rollout's lines have. Inside a text their quotes would be escaped.
var marks = [][]byte{
	[]byte(`"session_meta"`), []byte(`"response_item"`), []byte(`"event_msg"`), []byte(`"turn_context"`), []byte(`"compacted"`),
}

// claims recognises a rollout by its name, by a record of the client's, or by the form that sessions had before 0.32.
func claims(base string, head []byte) bool {
	if _, ok := home.ParseName(base); ok {
		return true
	}
	for _, mark := range marks {
		if bytes.Contains(head, mark) {
			return true
		}
	}
	return bareHead(head)
}

// bareHead says whether a session begins as before 0.32: a line {id, timestamp, …} without a type, and then naked items.
func bareHead(head []byte) bool {
	first, rest, _ := bytes.Cut(head, []byte{'\n'})
	if !BareHeader(first) {
		return false
	}
	rest = bytes.TrimSpace(rest)
	if len(rest) == 0 {
		return gjson.GetBytes(first, "instructions").Exists()
	}
	for line := range bytes.Lines(rest) {
		if BareItem(line) {
			return true
		}
	}
	return false
}

// readName reads a rollout's name.
func readName(base string) check.Name {
	n := check.Name{Base: base}
	if p, ok := home.ParseName(base); ok {
		n.Canonical, n.ThreadID, n.FileID, n.Time = true, p.ThreadID, p.RolloutID, p.Time
	} else {
		n.Right = home.Right(base)
	}
	return n
}

// newLinks keeps the ordinals of a paginated session right.
func newLinks(about session.Info, target string) agent.Links {
	n := newNumberer(about.Paginated(), about.BaseOrdinal, about.SubagentStart)
	n.skips = SkipsUnread(target)
	return n
}

// IsHeader says whether a line is a session_meta.
func IsHeader(line []byte) bool {
	rec := session.Record{Raw: line, Spans: make([]jsonl.Span, fieldCount)}
	shape.ScanOne(line, rec.Spans)
	Decoder{}.Decode(&rec)
	return rec.Kind == session.Header
}

// resume is `codex resume THREAD`; nil if the client would not accept the id.
func resume(thread string) []string { return onThread("resume", thread) }

// resumeIn is `codex resume -C DIR THREAD`; nil if the client would not accept the id.
func resumeIn(thread, dir string) []string {
	if onThread("resume", thread) == nil {
		return nil
	}
	return []string{"codex", "resume", "-C", dir, thread}
}

// unarchive is `codex unarchive THREAD`; nil if the client would not accept the id.
func unarchive(thread string) (command []string, why string) {
	return onThread("unarchive", thread), "it is in the archive, from which clients from 0.145 on do not resume"
}

// onThread is a command of the client for a thread. Users paste it into a shell, so it is nil if the thread is not an id.
func onThread(command, thread string) []string {
	if !home.IsID(thread) {
		return nil
	}
	return []string{"codex", command, thread}
}

// clientTooOld says why a client before 0.145 can't read a session (measured with 0.79.0 and 0.114.0).
func clientTooOld(version string, about session.Info, compressed bool) string {
	if Before(version, 0, 145) && (compressed || about.BaseThread != "") {
		return "clients before 0.145 read neither compressed sessions nor forks that continue another file"
	}
	return ""
}
