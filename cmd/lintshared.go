package cmd

import (
	"fmt"

	"github.com/hist-cli/hist/lint"
)

// shared are findings that many sessions have because of one file beside them, in the order in which they came. For people each
// is told once: a home of a thousand sessions would tell it a thousand times.
type shared []*lint.Finding

// add counts a finding. The one that is told has the worst impact of them.
func (s *shared) add(f *lint.Finding) {
	for _, known := range *s {
		if known.Beside == f.Beside && known.Rule == f.Rule {
			known.Count++
			known.Impact = max(known.Impact, f.Impact)
			return
		}
	}
	first := *f
	first.Count = 1
	*s = append(*s, &first)
}

// tellShared prints them at the files that they are about.
func (p *textPrinter) tellShared() {
	for _, f := range p.shared {
		of := linted{target: target{path: f.Beside}, beside: true}
		told := *f
		told.Message += fmt.Sprintf(" (concerns %s)", count(f.Count, "session", "sessions"))
		told.Count = 0
		if p.group != nil {
			p.group.head(p, &of)
		}
		p.finding(of, &told)
	}
}
