package evidence

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/disk"
)

// counted is a file that counts what is read of it.
type counted struct {
	agent.SiblingFile
	bytes *int
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.SiblingFile.Read(p)
	*c.bytes += n
	return n, err
}

func (c counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.SiblingFile.ReadAt(p, at)
	*c.bytes += n
	return n, err
}

// TestNeighboursAreReadOnce: however much of a session is looked for beside it, each of the other files is read through once, and
// of what is found only its line again.
func TestNeighboursAreReadOnce(t *testing.T) {
	record := func(of string, n int) string {
		return fmt.Sprintf(`{"type":"user","uuid":"%s-%d","parentUuid":null,"message":{"role":"user","content":[{"type":"tool_result", "tool_use_id" : "call-%s-%d","content":"%s"}]}}`+"\n", of, n, of, n, strings.Repeat("x", 400))
	}
	dir, size := t.TempDir(), map[string]int{}
	for _, name := range []string{"fork", "stranger"} {
		var text strings.Builder
		for n := range 500 {
			text.WriteString(record(name, n))
		}
		size[name] = text.Len()
		if err := os.WriteFile(filepath.Join(dir, name+format.Extension), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opens, bytes := map[string]int{}, 0
	f := Open(filepath.Join(dir, "session"+format.Extension), nil, nil)
	f.near.Open = func(path string) (agent.SiblingFile, error) {
		opens[strings.TrimSuffix(filepath.Base(path), format.Extension)]++
		of, err := disk.Open(path)
		return counted{of, &bytes}, err
	}
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
	found := map[string]int{"fork": maxLookups / 2, "stranger": maxLookups / 4}
	most := 0
	for name, lines := range found {
		if opens[name] != 1+lines {
			t.Errorf("%s was opened %d times for %d records", name, opens[name], lines)
		}
		most += size[name] + lines*len(record(name, 500))
	}
	if bytes > most {
		t.Errorf("%d bytes were read of %d", bytes, most)
	}
}
