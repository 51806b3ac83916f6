package lint_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestLongWrittenAnew: what a client has written anew at one moment is known, however far the session had gone on before.
func TestLongWrittenAnew(t *testing.T) {
	text, err := os.ReadFile("../fixtures/claude/healthy/written-anew-at-one-moment/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	const last, lastAnew = 10, 20 // lines
	const record = `{"parentUuid":%q,"isSidechain":false,"cwd":"/home/dev/p","sessionId":"5c9d1f0e-3b7a-4c52-9f10-6a2d8e4b7c31","version":"2.0.29","type":%q,"message":%s,"uuid":%q,"timestamp":"2026-03-02T09:00:%s0Z"}` + "\n"
	turns := func(copied int, parent string) (list []string, end string) {
		for n := range 300 {
			prompt, answer := fmt.Sprintf("2f3a1%d11-7a1c-4d3e-8b5f-%012d", copied, n), fmt.Sprintf("2f3a2%d22-7a1c-4d3e-8b5f-%012d", copied, n)
			at := "17.11"
			if copied == 0 {
				at = fmt.Sprintf("%05.2f", 9+float64(n)/50)
			}
			list = append(list,
				fmt.Sprintf(record, parent, "user", fmt.Sprintf(`{"role":"user","content":"more %d"}`, n), prompt, at),
				fmt.Sprintf(record, prompt, "assistant", fmt.Sprintf(`{"id":"msg_1%d","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"Done."}]}`, n), answer, at))
			parent = answer
		}
		return list, parent
	}
	lines := strings.SplitAfter(string(text), "\n")
	uuid := func(line string) string {
		_, after, _ := strings.Cut(line, `"uuid":"`)
		return after[:36]
	}
	first, _ := turns(0, uuid(lines[last-1]))
	anew, end := turns(1, uuid(lines[lastAnew-1]))
	lines[lastAnew] = strings.Replace(lines[lastAnew], uuid(lines[lastAnew-1]), end, 1)
	long := strings.Join(lines[:last], "") + strings.Join(first, "") + strings.Join(lines[last:lastAnew], "") + strings.Join(anew, "") + strings.Join(lines[lastAnew:], "")
	res, err := lint.Session(t.Context(), strings.NewReader(long), lint.Options{})
	if err != nil || len(res.Findings) != 0 {
		t.Errorf("%v, %v", res.Findings, err)
	}
}
