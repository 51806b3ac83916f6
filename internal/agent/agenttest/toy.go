package agenttest

import (
	"bytes"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Toy is an agent that nobody uses. Its sessions are called toy-ID.jsonl; a line is {"k":KIND, …}: head{id, cwd},
// start{turn}, end{turn}, say{who, text}, call{id, tool, in}, out{id, text}. The order of the file is what is sent.
type Toy struct{}

const (
	kind = iota
	id
	turn
	who
	text
	fields
)

var shape, _ = jsonl.Compile("k", "id", "turn", "who", "text")

func (Toy) Name() string              { return "toy" }
func (Toy) Title() string             { return "Toy" }
func (Toy) Decoder() session.Decoder  { return Toy{} }
func (Toy) Words() agent.Words        { return toyWords{} }
func (Toy) NewHistory() check.History { return &toyHistory{} }
func (Toy) Rules() []*finding.Rule {
	return []*finding.Rule{check.CallWithoutOutput, check.OutputWithoutCall, check.DuplicateOutput, check.DuplicateCall, check.OpenTurn, check.UnansweredPrompt}
}
func (Toy) Effect(r *finding.Rule, _ string) (finding.Impact, string) { return r.Impact, "" }
func (Toy) Resume(thread string) []string                             { return []string{"toy", "--resume", thread} }
func (Toy) Explain(string) *agent.Meaning                             { return nil }
func (Toy) NewLinks(session.Info) agent.Links                         { return agent.NoLinks{} }
func (Toy) NewCheckers(r *check.Run) []check.Checker {
	return []check.Checker{&toyHead{run: r}, check.NewCalls(r, Toy{}), check.NewTurns(r, Toy{})}
}

func (Toy) Claims(base string, head []byte) bool {
	return strings.HasPrefix(base, "toy-") || bytes.Contains(head, []byte(`{"k":"head"`))
}

func (Toy) ReadName(base string) check.Name {
	thread := strings.TrimSuffix(strings.TrimPrefix(base, "toy-"), ".jsonl")
	return check.Name{Base: base, ThreadID: thread, FileID: thread, Canonical: base == "toy-"+thread+".jsonl" && uuid.Validate(thread) == nil}
}

func (Toy) NewName(_ time.Time, thread string) string { return "toy-" + thread + ".jsonl" }

func (Toy) About(head []byte) (a agent.About) {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	a.Info = session.Info{ID: gjson.GetBytes(line, "id").String(), CWD: gjson.GetBytes(line, "cwd").String()}
	if gjson.GetBytes(line, "k").String() != "head" {
		a.Fault = "the first line is no head"
	}
	return a
}

// What a line means.

func (Toy) Shape() *jsonl.Shape               { return shape }
func (Toy) Paths() int                        { return fields }
func (Toy) Starts() [][]byte                  { return [][]byte{[]byte(`{"k":`)} }
func (Toy) Envelope(rec *session.Record) bool { return len(field(rec, kind)) > 0 }
func (Toy) Complete(rec *session.Record) bool { return rec.Kind == session.TurnEnd }
func (Toy) TextCut(rec *session.Record, at int) bool {
	return rec.Spans[text].Start <= at && at < rec.Spans[text].End
}

func field(rec *session.Record, f int) []byte { return bytes.Trim(rec.Spans[f].Of(rec.Raw), `"`) }

var kinds = map[string]session.Kind{
	"head": session.Header, "start": session.TurnStart, "end": session.TurnEnd, "say": session.Message, "call": session.Call, "out": session.Output,
}

func (Toy) Decode(rec *session.Record) {
	rec.Kind, rec.Type = kinds[string(field(rec, kind))], string(field(rec, kind))
	rec.ID, rec.CallID, rec.TurnID, rec.Role = nil, field(rec, id), field(rec, turn), field(rec, who)
	rec.Model = rec.Kind == session.Message || rec.Kind == session.Call || rec.Kind == session.Output
	rec.Boundary = rec.Kind == session.Message && string(rec.Role) == "user"
	rec.Answer = rec.Kind == session.Call || rec.Kind == session.Message && !rec.Boundary
}

// How records are mended.

func (Toy) Answer(c check.Open) []finding.Edit {
	line := append(jsonl.AppendQuote([]byte(`{"k":"out","id":`), c.ID), `,"text":"Outcome unknown: nothing was recorded."}`...)
	return []finding.Edit{{At: c.At.Pos, Op: finding.After, New: finding.Content{Literal: line}}}
}

func (Toy) EndTurn(t check.Open, last session.Pos) []finding.Edit {
	line := append(jsonl.AppendQuote([]byte(`{"k":"end","turn":`), t.ID), '}')
	return []finding.Edit{{At: last, Op: finding.After, New: finding.Content{Literal: line}}}
}

func (Toy) Drop(rec *session.Record) []finding.Edit {
	return []finding.Edit{{At: rec.Pos, Op: finding.Remove}}
}

func (Toy) Reidentify(head []byte, _ session.Info, thread string) []byte {
	return session.Splice(head, session.SetMember(head, "", "id", jsonl.AppendQuote(nil, thread)))
}
func (Toy) IsHeader(line []byte) bool { return gjson.GetBytes(line, "k").String() == "head" }

// toyHead takes over who the session is.
type toyHead struct{ run *check.Run }

func (c *toyHead) Record(rec *session.Record) {
	if rec.Kind == session.Header {
		c.run.SetHeader(Toy{}.About(rec.Raw).Info, rec.Pos)
	}
}
func (c *toyHead) End() {}

type toyHistory struct{ seen, mended int64 }

func (h *toyHistory) Add(rec *session.Record, seen bool) {
	if rec.Model {
		h.mended++
		if seen {
			h.seen++
		}
	}
}
func (h *toyHistory) End()                        {}
func (h *toyHistory) Counts(session.Pos) bool     { return true }
func (h *toyHistory) RolledBack(session.Pos) bool { return false }
func (h *toyHistory) Items() (seen, mended int64) { return h.seen, h.mended }

// toyWords reads the few words that the toy's records say.
type toyWords struct{ agent.NoWords }

func (toyWords) Tool(rec *session.Record) string  { return gjson.GetBytes(rec.Raw, "tool").String() }
func (toyWords) Asked(rec *session.Record) string { return gjson.GetBytes(rec.Raw, "in").String() }
func (toyWords) Got(rec *session.Record) string   { return gjson.GetBytes(rec.Raw, "text").String() }
func (toyWords) TurnMark() []byte                 { return []byte(`{"k":"start","turn":""}`) }
