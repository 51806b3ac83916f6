package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/lint"
)

// TestEffects: of damage that any agent's session may have, each agent says what its client does with it.
func TestEffects(t *testing.T) {
	for _, r := range normalize.Rules {
		var agents []string
		for _, e := range lint.Effects(r) {
			agents = append(agents, e.Agent)
			if !strings.Contains(lint.Described(r), e.Agent+" ("+e.Impact.String()+"): "+e.Text) {
				t.Errorf("%s: its description lacks what %s does", r.Name, e.Agent)
			}
		}
		if want := []string{"Codex", "Claude Code", "pi"}; !slices.Equal(agents, want) {
			t.Errorf("%s: %v say what they do with it, want %v", r.Name, agents, want)
		}
	}
}
