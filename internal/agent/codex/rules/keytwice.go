package rules

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// keyTwice settles the impact of a key that is there twice, which depends on the client (measured with 0.79.0 to 0.169.0):
// 0.114 to 0.141 refuse a session with such a header; those up to 0.153 refuse one whose header has the key outside its
// payload; 0.145 to 0.153 drop such an item of a paginated session. All others take the last value.
func (c *headerChecker) keyTwice(f *finding.Finding, at session.Pos) {
	switch {
	case f.Framing: // the last value is damage, for every client
		if f.Pos.Line == at.Line {
			f.Impact = finding.Blocks
		}
	case f.Pos == at:
		last := 155
		if p := gjson.GetBytes(c.line, "payload"); c.within(f.Offset, p.Index, len(p.Raw)) {
			last = 145
		}
		if c.run.usedBy(114, last) {
			f.Impact, f.Message = finding.Blocks, "a key appears twice in the header: the client can't read it"
		}
	case c.run.paginated && strings.HasPrefix(f.Record, "response_item/") && c.run.usedBy(145, 155):
		f.Impact, f.Message = finding.Loses, "a key appears twice in one object: the client drops the record"
	}
}

// within says whether an offset of the file is in a part of the header.
func (c *headerChecker) within(offset int64, from, size int) bool {
	n := offset - c.at.Offset
	return int64(from) <= n && n < int64(from+size)
}

// usedBy says whether the session's client, or the one that will resume it, is at least 0.from and older than 0.before.
func (s *run) usedBy(from, before int) bool {
	is := func(version string) bool { return codex.Before(version, 0, before) && !codex.Before(version, 0, from) }
	return is(s.header.Version) || is(s.client)
}
