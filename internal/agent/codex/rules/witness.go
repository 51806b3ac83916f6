package rules

import (
	"cmp"
	"fmt"

	"github.com/hist-cli/hist/internal/finding"
)

// witness is an event that repeats what another record says.
type witness struct {
	ref  finding.Ref
	name string
	torn bool   // its line was cut off: the record that it repeats was never written, or is lost with the rest
	sum  uint64 // for a message's event: its eventSum
	said uint64 // for a thought's event: the sum of the first text that it shows
	from string // the file that holds it, if the session has lost it; "" for the client's database
}

// source names the witness in a report.
func (t *witness) source() string {
	if t.ref.Pos.Lost > 0 {
		return cmp.Or(t.from, KeptSource)
	}
	return fmt.Sprintf("%s on line %d", t.name, t.ref.Pos.Line)
}
