package claude

import (
	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/claude/reader"
	"github.com/hist-cli/hist/internal/session"
)

// readSent is what the client of a version sends of a session.
func readSent(text []byte, at agent.ReadAt, version string) (*session.Sent, error) {
	return reader.Sent(text, version, at.Each), nil
}
