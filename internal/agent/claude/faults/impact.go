package faults

import (
	"github.com/hist-cli/hist/internal/finding"
)

// ByVersion is what a fault does to clients of different versions.
type ByVersion struct {
	Old    finding.Impact // before 2.1.100
	Middle finding.Impact // up to 2.1.215
	Newest finding.Impact
}

// OnAll is the impact of a fault that is the same for every version.
func OnAll(impact finding.Impact) ByVersion { return ByVersion{impact, impact, impact} }

// OldAndNewer is the impact of a fault on versions before 2.1.100, and on all newer ones.
func OldAndNewer(old, newer finding.Impact) ByVersion { return ByVersion{old, newer, newer} }
