package content

import (
	"bytes"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// resultsFirst reports a message in which something stands in front of a tool's output: the API wants the outputs first. To
// mend it, what stood in front is moved behind the last output.
func (n *Facts) resultsFirst(rec *session.Record) {
	first, last := -1, -1
	for i := range n.Blocks {
		if n.Blocks[i].Kind == BlockResult {
			last = i
		} else if first < 0 {
			first = i
		}
	}
	if n.Role != RoleResult || first < 0 || first > last {
		return
	}
	var results, others [][]byte
	for i := first; i <= last; i++ {
		if raw := n.Blocks[i].Span.In().Of(rec.Raw); n.Blocks[i].Kind == BlockResult {
			results = append(results, raw)
		} else {
			others = append(others, raw)
		}
	}
	start, end := n.Blocks[first].Span.From(), n.Blocks[last].Span.To()
	n.Fault(faults.BadResult, start, "something comes before a tool's output in one message: the API wants the outputs first",
		finding.Cut{Start: start, End: end, New: bytes.Join(append(results, others...), []byte(","))}).Fix = finding.Exact
}
