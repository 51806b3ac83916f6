package all

import (
	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/claude"
	codex "github.com/hist-cli/hist/internal/agent/codex/rules"
	"github.com/hist-cli/hist/internal/agent/pi"
	"github.com/hist-cli/hist/internal/surgery"
)

// Surgeon is the surgeon for an agent's sessions, nil if there is none: the one list of the agents on whose sessions hist operates.
func Surgeon(a *agent.Agent) surgery.Surgeon {
	switch a {
	case codex.Agent:
		return codex.Surgeon{}
	case claude.Agent:
		return claude.Surgeon{}
	case pi.Agent:
		return pi.Surgeon{}
	}
	return nil
}
