package claude

import (
	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
)

// unknownLinks looks for parents that no client reads. Their children are hung on the nearest record above that clients do
// read.
func (c *Checker) unknownLinks() {
	above := map[*node]*node{} // for a record that is not read, the nearest one above it that is
	for _, n := range c.nodes {
		if n.Side || n.up == nil || !c.unread(n.up) {
			continue
		}
		bad := n.up
		var skipped []*node
		p := bad
		for p != nil && c.unread(p) {
			skipped = append(skipped, p)
			if over, ok := above[p]; ok {
				p = over
				continue
			}
			p = p.up
		}
		for _, m := range skipped {
			above[m] = p
		}
		d := c.add(&draft{about: bad, Finding: finding.Finding{
			Rule: faults.UnknownLink, Impact: finding.Loses, Fix: finding.Exact,
			Message: "the chain leads through a record of the type " + quoteType(bad.Typ) + ", which the client does not read: it forgets everything above",
		}})
		c.hang(n, p, d)
	}
}

func quoteType(t string) string { return `"` + content.Clip(t) + `"` }

// firstProgress is the first version known to write progress records. Versions up to 2.1.2 neither write them nor read on
// above one.
const firstProgress = "2.1.3"

// unread says whether a record is a link that clients do not follow. All but old versions follow progress records, which
// healthy sessions have, too; so these count only if the session is for such an old version or was written by one.
func (c *Checker) unread(n *node) bool {
	if n.Typ == "progress" && (c.opts.For != "" && format.Before(c.opts.For, "2.1.100") || c.opts.For == "" && format.Before(n.Version, firstProgress)) {
		return true
	}
	return n.Role == content.RoleOther && n.Typ != "progress" && !format.NewerThanKnown(n.Version)
}
