package claude

import (
	"strings"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// served is one half of a call that the API's own servers ran, such as a search of the web: both stand in the answer.
type served struct {
	id     string
	output bool
	tool   string     // whose output it is
	span   jsonl.Span // of the block
}

// serve notes a block of a type whose work the API's servers do.
func (n *node) serve(kind string, v *value, span jsonl.Span) {
	s := served{span: span}
	s.tool, s.output = strings.CutSuffix(kind, "_tool_result")
	switch {
	case s.output && s.tool != "mcp": // those name their server, too
		s.id = string(v.word("tool_use_id"))
	case strings.HasSuffix(kind, "_tool_use"):
		s.id = string(v.word("id"))
	}
	if s.id != "" {
		n.own().served = append(n.served, s)
	}
}

// servedAlone reports outputs of the API's servers whose call is not in the file: the client sends them (measured with
// 2.1.330, which drops a call without its output by itself).
func (c *Checker) servedAlone() {
	if !c.some.served {
		return
	}
	calls := map[string]bool{}
	for _, n := range c.nodes {
		for _, s := range n.served {
			calls[s.id] = calls[s.id] || !s.output
		}
	}
	for _, n := range c.nodes {
		for _, s := range n.served {
			if !s.output || calls[s.id] {
				continue
			}
			f := fault{
				rule: ruleBadBlock, message: "the output of a tool of the API's own has no call: the API refuses it", at: s.span.Start,
				fix: finding.StandIn, impact: onAll(finding.Rejects), lost: 1,
				cuts: []finding.Cut{{Start: s.span.Start, End: s.span.Start, New: append(s.call(), ',')}},
			}
			n.fault(f)
			c.some.faults = true
		}
	}
}

// call stands in for the call of an output.
func (s served) call() []byte {
	return object{"type": "server_tool_use", "id": s.id, "name": s.tool, "input": object{"query": lostInput}}.json()
}
