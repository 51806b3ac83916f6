package repair

import (
	"bytes"
	"os"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestLimitedSettles: a repair that may not mend all comes to an end in what it may mend, and a second one changes nothing.
func TestLimitedSettles(t *testing.T) {
	exact := Choice{Only: []lint.Fix{lint.Exact}}
	for _, c := range []struct {
		name, fixture string
		damage        func(lines [][]byte) [][]byte
		choice        Choice
	}{
		{"a laid out record behind which one is lost", "lost-message/bad-paginated-answer", func(lines [][]byte) [][]byte {
			lines[9] = laidOut(lines[9])
			return lines
		}, exact},
		{"two turns that lack their answers behind one dead line", "not-object/ok", func(lines [][]byte) [][]byte {
			return [][]byte{lines[0], []byte("}\n"), ended("one"), ended("two")}
		}, Choice{Only: []lint.Fix{lint.Exact, lint.Recovered}}},
	} {
		text, err := os.ReadFile("../fixtures/codex/rules/" + c.fixture + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.Join(c.damage(bytes.SplitAfter(text, newline)), nil)
		out, _, err := repairText(text, "", c.choice)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if again, _, err := repairText(out, "", c.choice); err != nil || !bytes.Equal(out, again) {
			t.Errorf("%s: a second repair changes the copy (%v)", c.name, err)
		}
	}
}

// ended is the event of a turn's end with the turn's last answer.
func ended(answer string) []byte {
	return []byte(`{"timestamp":"2026-11-18T09:30:02.000Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"` + answer + `","last_agent_message":"` + answer + `"}}` + "\n")
}
