package rules

import (
	"cmp"
	"fmt"

	"github.com/hist-cli/hist/internal/finding"
)

// witness is an event that shows what another record says.
type witness struct {
	ref  finding.Ref
	name string
	torn bool   // its line had been cut: what it tells was never written a second time, or is lost with the rest
	sum  uint64 // of a message's event: eventSum
	from string // the file that holds it, if the session has lost it and it is not the client's database
}

// source names it in a report.
func (t *witness) source() string {
	if t.ref.Pos.Lost > 0 {
		return cmp.Or(t.from, KeptSource)
	}
	return fmt.Sprintf("%s on line %d", t.name, t.ref.Pos.Line)
}
