package codex

import (
	"bytes"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Agent is Codex without its rules, which package rules adds.
type Agent struct{}

// Name is "codex".
func (Agent) Name() string { return "codex" }

// Title is "Codex".
func (Agent) Title() string { return "Codex" }

// marks are strings that only a rollout's lines have. Inside a text their quotes would be escaped.
var marks = [][]byte{
	[]byte(`"session_meta"`), []byte(`"response_item"`), []byte(`"event_msg"`), []byte(`"turn_context"`), []byte(`"compacted"`),
}

// Claims recognises a rollout by its name, by a record of the client's, or by the form that sessions had before 0.32.
func (Agent) Claims(base string, head []byte) bool {
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

// ReadName reads a rollout's name.
func (Agent) ReadName(base string) check.Name {
	n := check.Name{Base: base}
	if p, ok := home.ParseName(base); ok {
		n.Canonical, n.ThreadID, n.FileID, n.Time = true, p.ThreadID, p.RolloutID, p.Time
	}
	return n
}

// NewName is a rollout's canonical name.
func (Agent) NewName(now time.Time, thread string) string { return home.Name(now, thread) }

// Decoder reads a rollout's lines.
func (Agent) Decoder() session.Decoder { return Decoder{} }

// NewHistory works out what of a session is sent.
func (Agent) NewHistory() check.History { return NewHistory() }

// NewLinks keeps the ordinals of a paginated session right.
func (Agent) NewLinks(about session.Info) agent.Links {
	return newNumberer(about.Paginated(), about.BaseOrdinal, about.SubagentStart)
}

// Reidentify gives a header a new thread.
func (Agent) Reidentify(header []byte, old session.Info, thread string) []byte {
	return Reidentify(header, old, thread)
}

// IsHeader says whether a line is a session_meta.
func (Agent) IsHeader(line []byte) bool {
	rec := session.Record{Raw: line, Spans: make([]jsonl.Span, fieldCount)}
	shape.ScanOne(line, rec.Spans)
	Decoder{}.Decode(&rec)
	return rec.Kind == session.Header
}

// Resume is `codex resume THREAD`; nil if the client would not accept the id.
func (Agent) Resume(thread string) []string { return onThread("resume", thread) }

// ResumeIn is `codex resume -C DIR THREAD`; nil if the client would not accept the id.
func (Agent) ResumeIn(thread, dir string) []string {
	if onThread("resume", thread) == nil {
		return nil
	}
	return []string{"codex", "resume", "-C", dir, thread}
}

// Unarchive is `codex unarchive THREAD`; nil if the client would not accept the id.
func (Agent) Unarchive(thread string) (command []string, why string) {
	return onThread("unarchive", thread), "it is in the archive, from which clients from 0.145 on do not resume"
}

// onThread is a command of the client for a thread. Users paste it into a shell, so it is nil if the thread is not an id.
func onThread(command, thread string) []string {
	if !home.IsID(thread) {
		return nil
	}
	return []string{"codex", command, thread}
}

// TooOld says why a client before 0.145 can't read a session (measured with 0.79.0 and 0.114.0).
func (Agent) TooOld(version string, about session.Info, compressed bool) string {
	if Before(version, 0, 145) && (compressed || about.BaseThread != "") {
		return "clients before 0.145 read neither compressed sessions nor forks that continue another file"
	}
	return ""
}
