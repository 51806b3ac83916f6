package evidence

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent/claude/format"
)

// TestNeighbours: records and outputs are found in the other files of the folder, as many as are looked up.
func TestNeighbours(t *testing.T) {
	record := func(of string, n int) string {
		return fmt.Sprintf(`{"type":"user","uuid":"%s-%d","parentUuid":null,"message":{"role":"user","content":[{"type":"tool_result", "tool_use_id" : "call-%s-%d","content":"%s"}]}}`+"\n", of, n, of, n, strings.Repeat("x", 400))
	}
	dir := t.TempDir()
	for _, name := range []string{"fork", "stranger"} {
		var text strings.Builder
		for n := range 500 {
			text.WriteString(record(name, n))
		}
		if err := os.WriteFile(filepath.Join(dir, name+format.Extension), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := Open(filepath.Join(dir, "session"+format.Extension), nil, nil)
	some := func([]byte) bool { return true }
	for n := range maxLookups / 2 {
		line, source := f.Record(fmt.Sprintf("fork-%d", 7*n), some)
		if string(line)+"\n" != record("fork", 7*n) || source != "the same record in fork.jsonl" {
			t.Errorf("record %d: %q from %q", 7*n, line, source)
		}
		if n%2 == 0 {
			if line, _ := f.Record(fmt.Sprintf("lost-%d", n), some); line != nil {
				t.Errorf("record %d, which is nowhere: %q", n, line)
			}
		} else if line, _ := f.elsewhere(fmt.Sprintf("call-stranger-%d", n), some); string(line)+"\n" != record("stranger", n) {
			t.Errorf("output %d: %q", n, line)
		}
	}
}
