package clienttest

import (
	"testing"

	"github.com/hist-cli/hist/internal/testkit/agenttest"
)

// TestNewestClient says when there is a newer client than the newest that was measured.
func TestNewestClient(t *testing.T) {
	agenttest.IsNewest(t, "@anthropic-ai/claude-code", Newest)
}
