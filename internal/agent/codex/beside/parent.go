package beside

import (
	"bytes"
	"context"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/session"
)

// forkedAt is when a legacy fork was made; zero for a sub-agent, which inherits only a part of what was said.
func forkedAt(header []byte, h session.Info) time.Time {
	if gjson.Get(h.Source, "subagent").Exists() {
		return time.Time{}
	}
	return madeAt(header)
}

// madeAt is when a session was made, by its header.
func madeAt(header []byte) time.Time {
	t, _ := time.Parse(time.RFC3339, gjson.GetBytes(header, "payload.timestamp").String())
	return t
}

// cut keeps what is left of a cut record of a legacy fork.
func (c *copies) cut(rec *session.Record) {
	if c.timeless == nil {
		return
	}
	n := len(c.records)
	if _, two := c.torn[n]; two {
		c.torn[n] = nil
		return
	}
	c.torn[n] = nil
	if at := bytes.Index(rec.Raw, endOfTime); at >= 0 {
		c.torn[n] = bytes.Clone(rec.Raw[at:])
	}
}

// ofParent are the records that a legacy fork has lost of those it began with. end is the session's record in front of which
// the copied part ends, -1 if that is not lost.
func (c *copies) ofParent(ctx context.Context, h session.Info) (lost []check.Lost, end int) {
	if c.timeless == nil {
		return nil, -1
	}
	found, err := home.Find(ctx, c.dir, h.ForkedFrom)
	if err != nil {
		return nil, -1
	}
	for _, path := range found {
		if lost, end = c.compare(ctx, path, aParent); len(lost) > 0 {
			return lost, end
		}
	}
	return nil, -1
}
