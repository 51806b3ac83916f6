package claude

import (
	"fmt"
	_ "image/gif"  // a header that dimensions reads
	_ "image/jpeg" // a header that dimensions reads
	_ "image/png"  // a header that dimensions reads

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
)

// manyPictures reports images that are too wide for a request that holds so many.
func (c *Checker) manyPictures() {
	if !c.some.pictures {
		return
	}
	total := 0
	for _, n := range c.nodes {
		total += n.Pictures
	}
	if total <= content.Many {
		return
	}
	sent := c.sentNow()
	total = 0
	for _, n := range sent.list {
		total += n.Pictures
	}
	if total <= content.Many {
		return
	}
	for _, n := range c.nodes {
		if !sent.has(n) {
			continue
		}
		for _, p := range n.Wide {
			words := fmt.Sprintf("[hist: an image of %d by %d pixels stood here; the API refuses it among more than %d images]", p.Width, p.Height, content.Many)
			n.Fault(content.Fault{
				Rule: faults.ManyPictures, At: p.Span.Start, Fix: finding.StandIn, Lost: 1, Impact: faults.OnAll(finding.Rejects),
				Message: fmt.Sprintf("%d images are sent, and this one has %d by %d pixels: the API refuses over %d on a side among more than %d", total, p.Width, p.Height, content.ManyPixels, content.Many),
				Cuts:    []finding.Cut{{Start: p.Span.Start, End: p.Span.End, New: format.Object{"type": "text", "text": words}.JSON()}},
			})
			c.some.faults = true
		}
	}
}
