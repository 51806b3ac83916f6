// Package surgeons is the one list of the agents on whose sessions hist operates.
package surgeons

import (
	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/claude"
	operateclaude "github.com/hist-cli/hist/internal/agent/claude/operate"
	operatecodex "github.com/hist-cli/hist/internal/agent/codex/operate"
	codex "github.com/hist-cli/hist/internal/agent/codex/rules"
	"github.com/hist-cli/hist/internal/agent/pi"
	operatepi "github.com/hist-cli/hist/internal/agent/pi/operate"
	"github.com/hist-cli/hist/internal/surgery"
)

// Of is the surgeon for an agent's sessions, nil if there is none.
func Of(a *agent.Agent) surgery.Surgeon {
	switch a {
	case codex.Agent:
		return operatecodex.Surgeon{}
	case claude.Agent:
		return operateclaude.Surgeon{}
	case pi.Agent:
		return operatepi.Surgeon{}
	}
	return nil
}
