package content

import (
	"bytes"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// Served is one half of a call that the API's own servers ran, such as a web search: both halves are in the answer.
type Served struct {
	ID     string
	Output bool
	Tool   string     // the tool that is called, or whose output this is
	Span   jsonl.Span // of the block
}

// serve notes a block of a type for which the API's servers do the work.
func (n *Facts) serve(kind string, v *format.Value, span jsonl.Span) {
	s := Served{Span: span}
	s.Tool, s.Output = strings.CutSuffix(kind, "_tool_result")
	switch {
	case s.Output && s.Tool != "mcp": // outputs of MCP tools are left out: they name their server, too
		s.ID = string(v.Word(format.KeyResultID))
	case strings.HasSuffix(kind, "_tool_use"):
		s.ID, s.Tool = string(v.Word(format.KeyID)), string(v.Word(format.KeyName))
	}
	if s.ID != "" {
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
			n.Fault(Fault{
				Rule: check.Refused, Message: "a reference to " + atStart + ", which the client does not offer for long: the API may refuse every request", At: at,
				Fix: finding.SetAside, Impact: faults.OnAll(finding.Notes), Cuts: []finding.Cut{{Start: at, End: at + len(ref.Raw), Element: true}},
			})
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
