package rules

import (
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

// zeroChecker reports lines of NULs between and after records: nothing is left in the file of what was there. Other checkers
// restore what is known of it from elsewhere. In front of the header nothing is lost.
type zeroChecker struct {
	run   *run
	begun bool // a record has been read
}

func (c *zeroChecker) Record(rec *session.Record) {
	switch {
	case rec.Kind != session.Unreadable:
		c.begun = true
	case rec.Zeros && c.begun && !(rec.Open && c.run.opts.Live):
		about := c.run.About(rec.Pos)
		about.Nothing = about.Rule == normalize.NULBytes
	}
}

func (c *zeroChecker) End() {}
