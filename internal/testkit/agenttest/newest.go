package agenttest

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// IsNewest fails if npm has another version of a client than the newest one that is known. Without npm or a network, it skips the test.
func IsNewest(t *testing.T, pkg, known string) {
	t.Helper()
	if testing.Short() {
		t.Skip("asks npm; left out by -short")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "npm", "view", "--fetch-retries=0", pkg, "version").Output()
	if err != nil {
		t.Skipf("npm does not tell which %s is the newest: %v", pkg, err)
	}
	if newest := strings.TrimSpace(string(out)); newest != known {
		t.Errorf("npm has %s %s, and %s is the newest that was measured: measure it, and let .ci/run drive it", pkg, newest, known)
	}
}
