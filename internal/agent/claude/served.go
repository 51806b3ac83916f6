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
	span   jsonl.Span // of the block
}

// serve notes a block of a type whose work the API's servers do.
func (n *node) serve(kind string, v *value, span jsonl.Span) {
	s := served{output: strings.HasSuffix(kind, "_tool_result"), span: span}
	switch {
	case s.output:
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
				fix: finding.SetAside, impact: onAll(finding.Rejects), lost: 1,
				cuts: []finding.Cut{{Start: s.span.Start, End: s.span.End, Element: true}},
			}
			if len(n.blocks) == 1 {
				f.cuts, f.drop = nil, true
			}
			n.fault(f)
			c.some.faults = true
		}
	}
}
