package normalize

import (
	"bytes"
	"slices"
	"testing"

	"github.com/hist-cli/hist/internal/agent/codex"
)

// TestLacking: of the characters that hold a record together each is put back if it alone is missing; where it could
// have stood at several places, nothing is made of the line.
func TestLacking(t *testing.T) {
	line := []byte(`{"timestamp":"2026-11-18T09:30:01.000Z","ordinal":7,"type":"response_item","payload":{"type":"message","role":"assistant",` +
		`"content":[{"type":"output_text","text":"Three: \"a\", {b}, [c]"},{"type":"output_text","text":"and, that was: all"}],"phase":"final_answer","end_turn":true}}`)
	back, known := 0, 0
	for at, c := range line[:len(line)-1] {
		if at == 0 || !bytes.ContainsRune([]byte(marks), rune(c)) || line[at-1] == '\\' || inText(line, at) {
			continue
		}
		damage := slices.Delete(bytes.Clone(line), at, at+1)
		known++
		n := New(bytes.NewReader(nil), Options{Decoder: codex.Decoder{}})
		p, ok := n.lacking(damage, n.scanner.Scan(damage, n.spans))
		switch {
		case ok && !bytes.Equal(p.raw, line):
			t.Errorf("%s\nbecame\n%s", damage, p.raw)
		case ok:
			back++
		}
	}
	if back < known*7/10 {
		t.Errorf("%d of %d were put back", back, known)
	}
}

// inText says whether a byte of a line stands inside a string.
func inText(line []byte, at int) (in bool) {
	for i := range at {
		if line[i] == '"' && (i == 0 || line[i-1] != '\\') {
			in = !in
		}
	}
	return in && line[at] != '"'
}
