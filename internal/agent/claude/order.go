package claude

import (
	"bytes"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// resultsFirst reports a message in which something stands in front of a tool's output: the API wants the outputs first. To
// mend it, what stood in front is moved behind the last output.
func (n *facts) resultsFirst(rec *session.Record) {
	first, last := -1, -1
	for i := range n.blocks {
		if n.blocks[i].kind == blockResult {
			last = i
		} else if first < 0 {
			first = i
		}
	}
	if n.role != roleResult || first < 0 || first > last {
		return
	}
	var results, others [][]byte
	for i := first; i <= last; i++ {
		if raw := n.blocks[i].span.In().Of(rec.Raw); n.blocks[i].kind == blockResult {
			results = append(results, raw)
		} else {
			others = append(others, raw)
		}
	}
	start, end := n.blocks[first].span.From(), n.blocks[last].span.To()
	n.fault(fault{
		rule: faults.BadResult, message: "something comes before a tool's output in one message: the API wants the outputs first", at: start, fix: finding.Exact,
		cuts:   []finding.Cut{{Start: start, End: end, New: bytes.Join(append(results, others...), []byte(","))}},
		impact: faults.OnAll(finding.Rejects),
	})
}
