package claude

import (
	"github.com/hist-cli/hist/internal/agent/claude/format"
)

// onlyInPlace says whether a client finds a session only from the directory in which it was begun: all up to 2.1.215 (measured;
// 2.1.330 finds it from any).
func onlyInPlace(version string) bool { return format.Before(version, "2.1.216") }
