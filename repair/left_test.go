package repair

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestLeftIsInTheCopy: damage without a repair that is gone with other damage is not reported as left.
func TestLeftIsInTheCopy(t *testing.T) {
	for path, left := range map[string]bool{"claude/rules/lost-branch/bad-until-repaired.jsonl": false, "codex/rules/too-deep/bad.jsonl": true} {
		text, err := os.ReadFile(filepath.Join("../fixtures", path))
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		without := 0
		for _, f := range lintText(t, text, name).Findings {
			if f.Impact != lint.Notes && f.Fix == lint.NoFix {
				without++
			}
		}
		_, rep, err := repairText(text, name, Choice{})
		if err != nil {
			t.Fatal(err)
		}
		if without == 0 || rep.Unrepaired() != left {
			t.Errorf("%s: %d findings without a repair, left: %+v", path, without, rep.Left)
		}
	}
}
