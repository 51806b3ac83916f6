package claude_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/finding"
)

// TestHoles: a few NULs inside a text may stand in place of something. Where the file, or another one beside it, tells what that was,
// it is put back; elsewhere the NULs alone are taken out.
func TestHoles(t *testing.T) {
	const (
		front  = `{"parentUuid":`
		middle = `,"isSidechain":false,"cwd":"/home/dev/demo","sessionId":"2ac8f520-5b5b-41eb-a2c4-3b7013389650","version":"2.1.332","type":"`
		prompt = front + `null` + middle + `user","message":{"role":"user","content":"feed the grey hen"},"uuid":"a1","timestamp":"2026-11-18T10:00:00.000Z"}`
		call   = front + `"a1"` + middle + `assistant","message":{"id":"msg_1","role":"assistant","model":"claude-opus-5-5","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}]},"uuid":"a2","timestamp":"2026-11-18T10:00:01.000Z"}`
		output = front + `"a2"` + middle + `user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"barn\nshed\nwell"}]},"uuid":"a3","timestamp":"2026-11-18T10:00:02.000Z","toolUseResult":{"stdout":"barn\nshed\nwell","stderr":"","interrupted":false,"isImage":false}}`
		answer = front + `"a3"` + middle + `assistant","message":{"id":"msg_2","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"It is fed."}]},"uuid":"a4","timestamp":"2026-11-18T10:00:03.000Z"}`
		last   = `{"type":"last-prompt","lastPrompt":"feed the grey hen","sessionId":"2ac8f520-5b5b-41eb-a2c4-3b7013389650"}`
	)
	whole := strings.Join([]string{prompt, call, output, answer, last}, "\n") + "\n"
	for name, c := range map[string]struct{ was, is, source, back string }{
		"a prompt":            {`"content":"feed the grey hen"`, "\"content\":\"feed \x00\x00\x00 grey hen\"", "the last-prompt record of this file", `"feed the grey hen"`},
		"an output":           {`"content":"barn\nshed`, "\"content\":\"barn\\n\x00\x00\x00\x00", "the tool's own result in the same record", `"barn\nshed\nwell"`},
		"an answer":           {`It is fed.`, "It is \x00\x00\x00\x00", "the same record in fork.jsonl", `"text":"It is fed."`},
		"nothing stood there": {`It is fed.`, "It is\x00 fed.", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "projects/-home-dev-demo")
			if strings.HasSuffix(c.source, "fork.jsonl") || c.source == "" {
				write(t, filepath.Join(folder, "fork.jsonl"), whole)
			}
			found := lintAt(t, filepath.Join(folder, "2ac8f520-5b5b-41eb-a2c4-3b7013389650.jsonl"), strings.Replace(whole, c.was, c.is, 1))
			if len(found) != 1 || found[0].Rule.Name != "nul-bytes" || found[0].Source != c.source {
				t.Fatalf("%+v", found)
			}
			if c.source == "" {
				if found[0].Fix != finding.Exact {
					t.Errorf("%+v", found[0])
				}
				return
			}
			edits := found[0].Edits
			if put := edits[len(edits)-1].Cuts[0].New; found[0].Fix != finding.Recovered || !strings.Contains(string(put), c.back) {
				t.Errorf("%s: %s", found[0].Fix, put)
			}
		})
	}
}
