package claude

import (
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
)

// oldTarget says whether a client older than 2.1.100, which does not look for lost parents by time, may read the session.
func (c *Checker) oldTarget() bool {
	if c.opts.For != "" {
		return format.Before(c.opts.For, "2.1.100")
	}
	return c.written != "" && format.Before(c.written, "2.1.100")
}

// readers are the versions that may read the session: the one that the user named, or else the one that wrote it and the newest
// known, which is "".
func (c *Checker) readers() []string {
	if c.opts.For != "" {
		return []string{c.opts.For}
	}
	return []string{c.written, ""}
}

// middleTarget says whether a client up to 2.1.215 may read the session.
func (c *Checker) middleTarget() bool {
	v := c.opts.For
	if v == "" {
		v = c.written
	}
	return v != "" && format.Before(v, "2.1.216")
}

// newTarget says whether the newest client may read the session. It may, unless the user named another.
func (c *Checker) newTarget() bool { return c.opts.For == "" || !format.Before(c.opts.For, "2.1.216") }

// worst is the worst that a fault does to a client that may read the session.
func (c *Checker) worst(impact faults.ByVersion) finding.Impact {
	worst := finding.Notes
	if c.oldTarget() {
		worst = max(worst, impact.Old)
	}
	if c.middleTarget() {
		worst = max(worst, impact.Middle)
	}
	if c.newTarget() {
		worst = max(worst, impact.Newest)
	}
	return worst
}
