package cmd

import (
	"fmt"

	"github.com/hist-cli/hist/lint"
)

// shared are findings that many sessions have because of one file beside them, in the order in which they came. In text each is
// printed once: a home of a thousand sessions would otherwise print it a thousand times.
type shared []*lint.Finding

// add counts a finding. The one that is printed gets the worst impact of all.
func (s *shared) add(f *lint.Finding) {
	for _, known := range *s {
		if known.Beside == f.Beside && known.Rule == f.Rule && known.Message == f.Message {
			known.Count++
			known.Impact = max(known.Impact, f.Impact)
			return
		}
	}
	first := *f
	first.Count = 1
	*s = append(*s, &first)
}

// tellShared prints them with the files that they are about.
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
