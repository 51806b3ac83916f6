package repair

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/internal/testkit/testhome"
)

// TestNoCircle: an output that another session of the home has hangs there below what follows the call here. Hung on each other, the
// parents went in a circle, and the repair did not end.
func TestNoCircle(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if err := testhome.Unpack("../fixtures/claude/homes/circle.txtar", home); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "projects", "-home-dev-demo", "11111111-1111-4111-8111-000000000000.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := inItsHome(t, mutant{text: text}, home, path); err != nil {
		t.Error(err)
	}
}
