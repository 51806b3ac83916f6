// Package pi reads, judges and mends the session files of pi (@earendil-works/pi-coding-agent), and changes them where a user wants it: a tree
// of records whose last record says which chain of parents is sent.
package pi

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

// name is the agent's name in reports.
const name = "pi"

// Agent is pi. From another directory than a session's, its client offers to fork it instead; it takes no locks, names sessions inside them,
// and knows no difference between those of persons and of scripts. Between two writes it leaves no sign of which session it has open.
var Agent = &agent.Agent{
	Name: name, Title: name,
	Claims: claims, ReadName: readName, NewName: newName,
	Decoder: Decoder{}, NewHistory: func() check.History { return &check.TreeHistory{} }, NewCheckers: newCheckers, Rules: allRules(), Effect: effect,
	NewLinks: func(session.Info, string) agent.Links { return agent.NoLinks{} }, Branched: true,
	Words: Words{}, Parts: parts, Outline: outline, About: about, Reidentify: reidentify, IsHeader: isHeader,
	ReadSent:   readSent,
	TriesAgain: compacts,
	Resume:     resume, Explain: explain, Unnoticed: always, OnlyInPlace: always,
	Home: &agent.Home{
		Variable: "PI_CODING_AGENT_DIR", DefaultHome: defaultHome, Sessions: sessions, Lists: func(string) []string { return nil }, Live: live, LiveAt: liveAt, Folder: "a folder of sessions/",
		HomeAbove: homeAbove, Find: find, InUse: inUse, TakesAny: func([]string) bool { return true }, Asking: asking, Last: last, FolderFor: folderFor,
	},
}

// always is true of every version of the client.
func always(string) bool { return true }

// claims recognises a session by its header, or by records that only this client writes. Its name is no sign of its own.
func claims(_ string, head []byte) bool {
	return header.Match(head) && bytes.Contains(head, []byte(`"timestamp":`)) || marks.Match(head)
}

// header and marks are how records begin, also where a script has put spaces into them, or how they end where one has sorted their
// members. In a text, their quotes would be escaped.
var (
	header = regexp.MustCompile(`\{ ?"type": ?"session",|"type": ?"session", ?"version": ?\d ?\}`)
	marks  = regexp.MustCompile(`\{ ?"type": ?"(?:message|model_change|thinking_level_change|compaction|session_info|branch_summary|label)", ?(?:"id": ?"[0-9A-Za-z-]+", ?"parentId":|"timestamp": ?"[^"]*", ?"(?:message|provider|thinkingLevel)":)|"parentId": ?[^,{}]+, ?"timestamp": ?"[^"]*", ?"type": ?"message"`)
)

// fileName is the client's own form: the time, and an id that is a UUID or a text that the user gave.
var fileName = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-\d{3}Z_([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\.jsonl$`)

// readName reads a session's name: when it began, and its id.
func readName(base string) check.Name {
	n := check.Name{Base: base}
	if m := fileName.FindStringSubmatch(base); m != nil {
		n.Canonical, n.Time, n.ThreadID = true, m[1], m[2]
	}
	return n
}

// isID says whether a text can be a session's id.
func isID(s string) bool { return fileName.MatchString("2026-01-01T00-00-00-000Z_" + s + ".jsonl") }

// newName is a session's file name.
func newName(now time.Time, thread string) string {
	if !isID(thread) {
		return ""
	}
	return now.UTC().Format("2006-01-02T15-04-05") + "-000Z_" + thread + ".jsonl"
}

// resume is `pi --session ID`.
func resume(thread string) []string {
	if !isID(thread) {
		return nil
	}
	return []string{"pi", "--session", thread}
}

// about reads a session's header, which may stand behind lines that are none.
func about(head []byte) (a agent.About) {
	scanner := jsonl.NewScanner(shape)
	defer scanner.Done()
	spans := make([]jsonl.Span, fields)
	readable := false
	for line := range bytes.Lines(head) {
		line = bytes.Trim(line, "\ufeff \t\r\n\x00")
		if v := scanner.Scan(line, spans); v.Fault != jsonl.None || !v.Object {
			continue
		}
		readable = true
		if r := gjson.ParseBytes(line); r.Get("type").String() == "session" {
			a.Info = session.Info{ID: r.Get("id").String(), SessionID: r.Get("id").String(), CWD: r.Get("cwd").String(), Mode: "version " + r.Get("version").String()}
			if from := r.Get("parentSession").String(); from != "" {
				a.Info.ForkedFrom = readName(filepath.Base(strings.ReplaceAll(from, `\`, "/"))).ThreadID
			}
			a.Created, _ = time.Parse(time.RFC3339, r.Get("timestamp").String())
			if a.Info.ID == "" {
				a.Fault, a.Rule = "the header has no id", ruleWrongHeader
			}
			return a
		}
	}
	switch {
	case len(bytes.TrimSpace(head)) == 0:
		a.Fault, a.Rule = "the file is empty", normalize.EmptyFile
	case !readable:
		a.Fault, a.Rule = "no record can be read", normalize.BadJSON
	default:
		a.Fault, a.Rule = "no line says whose session this is", ruleLostHeader
	}
	return a
}

// reidentify makes a header that of a fork under a new id.
func reidentify(header []byte, _ session.Info, thread string) []byte {
	return session.Splice(header, session.SetMember(header, "", "id", quote(thread)))
}

// isHeader says whether a line is a header.
func isHeader(line []byte) bool { return gjson.GetBytes(line, "type").String() == "session" }

var _ check.Settler = (*checker)(nil)
