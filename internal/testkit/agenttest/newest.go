package agenttest

import (
	"context"
	"flag"
	"os/exec"
	"strings"
	"testing"
	"time"
)

var asksNPM = flag.Bool("asknpm", false, "ask npm whether there are newer clients than those that were measured")

// IsNewest fails if npm has another version of a client than the newest one that is known: with -asknpm, because that is no fault of the code.
// Without npm or a network, it skips the test.
func IsNewest(t *testing.T, pkg, known string) {
	t.Helper()
	if !*asksNPM {
		t.Skip("asks npm: -asknpm does that")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "npm", "view", "--fetch-retries=0", pkg, "version").Output()
	if err != nil {
		t.Skipf("npm does not tell which %s is the newest: %v", pkg, err)
	}
	if has := strings.TrimSpace(string(out)); has != known {
		t.Errorf("npm has %s %s, and %s is the newest that was measured: measure it, and let .ci/run drive it", pkg, has, known)
	}
}
