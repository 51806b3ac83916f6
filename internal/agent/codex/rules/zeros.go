package rules

import (
	"github.com/hist-cli/hist/internal/finding"
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
		c.run.AmendFraming(rec.Pos.Line, func(f *finding.Finding) {
			if f.Rule == normalize.NULBytes && f.Fix != finding.SetAside { // a line with several holes is reported once
				f.Impact, f.Fix = finding.Loses, finding.SetAside
				f.Message += "; the records that belong there never reached the disk"
			}
		})
	}
}

func (c *zeroChecker) End() {}
