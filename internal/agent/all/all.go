// Package all is the one list of the agents that hist knows.
package all

import (
	"bytes"

	"github.com/hist-cli/hist/internal/agent"
	codex "github.com/hist-cli/hist/internal/agent/codex/rules"
)

// Agents are all agents, the one first that a file without anything in it is taken for.
var Agents = []agent.Agent{codex.Agent{}}

// Names are the agents' names.
func Names() []string {
	var names []string
	for _, a := range Agents {
		names = append(names, a.Name())
	}
	return names
}

// Named is the agent of that name, nil if there is none.
func Named(name string) agent.Agent {
	for _, a := range Agents {
		if a.Name() == name {
			return a
		}
	}
	return nil
}

// ByName is the agent that the name of a session's file alone tells, nil if it tells none.
func ByName(base string) agent.Agent {
	for _, a := range Agents {
		if a.Claims(base, nil) {
			return a
		}
	}
	return nil
}

// Of is the agent that wrote a session, by its file's base name and first bytes in UTF-8. The error is an
// *agent.Unclaimed.
func Of(base string, head []byte) (agent.Agent, error) {
	if a := ByName(base); a != nil {
		return a, nil
	}
	for _, a := range Agents {
		if a.Claims(base, head) {
			return a, nil
		}
	}
	if len(bytes.Trim(head, "\ufeff\x00 \t\r\n")) == 0 {
		return Agents[0], nil
	}
	return nil, &agent.Unclaimed{Looks: agent.LooksLike(head)}
}
