package content

import (
	"bytes"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// Served is one half of a call that the API's own servers ran, such as a web search: both halves are in the answer.
type Served struct {
	ID     string
	At     jsonl.Span // of the id's value
	Output bool
	Tool   string     // the tool that is called, or whose output this is
	Span   jsonl.Span // of the block
	own    bool       // it is a call of a tool of the API itself
}

var servedLimits = api.LimitsOf("server_tool_use", "id")

// WrongID says what the API refuses in the id of a call of its own tools, "" if nothing is known, or if it is no such call.
func (s Served) WrongID() string {
	if !s.own {
		return ""
	}
	f, _ := servedLimits.WrongText("anthropic", s.ID)
	return f.What
}

// serve notes a block of a type for which the API's servers do the work.
func (n *Facts) serve(kind string, v *format.Value, span jsonl.Span) {
	s := Served{Span: span}
	key := format.KeyResultID
	s.Tool, s.Output = strings.CutSuffix(kind, "_tool_result")
	switch {
	case s.Output && s.Tool != "mcp": // outputs of MCP tools are left out: they name their server, too
		s.ID = string(v.Word(key))
	case strings.HasSuffix(kind, "_tool_use"):
		key = format.KeyID
		s.ID, s.Tool, s.own = string(v.Word(key)), string(v.Word(format.KeyName)), kind == "server_tool_use"
	}
	if s.ID != "" {
		s.At = jsonl.Span{Start: span.Start + v.At(key), End: span.Start + v.At(key) + len(v.Raw(key))}
		n.Own().Served = append(n.Served, s)
	}
	if s.Tool == "tool_search" {
		n.passing(v, span)
	}
}

// AtStart is a tool that the client offers only while its MCP servers start: a resumed session has it for moments, or not at all.
const atStart = "WaitForMcpServers"

// passing notes references to that tool in the output of the API's own search for tools, which is sent as it is (2.1.215, 2.1.332, measured).
func (n *Facts) passing(v *format.Value, span jsonl.Span) {
	if !bytes.Contains(v.Text, []byte(atStart)) {
		return
	}
	for _, ref := range v.Parsed().Get("content.tool_references").Array() {
		if ref.Get("tool_name").String() == atStart {
			at := span.Start + ref.Index
			f := n.Fault(check.Refused, at, "a reference to "+atStart+", which the client does not offer for long: the API may refuse every request",
				finding.Cut{Start: at, End: at + len(ref.Raw), Element: true})
			f.Fix, f.Impact = finding.SetAside, faults.OnAll(finding.Notes)
		}
	}
}

// Call stands in for the call of an output.
func (s Served) Call() []byte {
	return format.Object{"type": "server_tool_use", "id": s.ID, "name": s.Tool, "input": format.Object{"query": LostInput}}.JSON()
}

// NoOutput stands in for the output of a call: it is what the API itself writes for a call that failed.
func (s Served) NoOutput() []byte {
	kind := s.Tool + "_tool_result"
	none := format.Object{"type": kind + "_error", "error_code": "unavailable"}
	return format.Object{"type": kind, "tool_use_id": s.ID, "content": none}.JSON()
}
