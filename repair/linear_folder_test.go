package repair

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// siblings are sessions of one folder, all of one kind: the path of the i-th below the user's home, and its text.
var siblings = map[string]func(i int) (path, text string){
	"Claude Code: a record is gone": func(i int) (path, text string) {
		of := fmt.Sprintf("%08d-0000-4000-8000-000000000000", i)
		return ".claude/projects/-home-dev/" + of + ".jsonl", strings.NewReplacer("7c1f0b1e-5a0e-4d53-9a6b-0f5d3f6f2a11", of, "11111111-1111", fmt.Sprintf("%08d-1111", i)).Replace(
			tree(8, works, func(n int, r *treeRecord) bool { return n == 4 }))
	},
	"pi: nothing is wrong":   func(i int) (path, text string) { return piSibling(i, 0) },
	"pi: a record is gone":   func(i int) (path, text string) { return piSibling(i, 3) },
	"pi: the header is gone": func(i int) (path, text string) { return piSibling(i, 1) },
	"Codex: a header alone": func(i int) (path, text string) {
		path, text = codexSibling(i)
		return path, text[:strings.Index(text, "\n")+1]
	},
	"Codex: the header is gone": func(i int) (path, text string) {
		path, text = codexSibling(i)
		return path, text[strings.Index(text, "\n")+1:]
	},
}

// piSibling lacks one of its lines, counted from 1; 0: none.
func piSibling(i, gone int) (path, text string) {
	id := fmt.Sprintf("019cadb2-1111-7000-8000-%012d", i)
	lines := []string{`{"type":"session","version":3,"id":"` + id + `","timestamp":"2026-03-02T09:00:00.000Z","cwd":"/home/dev"}` + "\n"}
	parent := "null"
	for n := range 6 {
		is := fmt.Sprintf(`"%08x"`, 8*i+n)
		lines = append(lines, fmt.Sprintf(`{"type":"message","id":%s,"parentId":%s,"timestamp":"2026-03-02T09:00:0%d.000Z","message":{"role":"user","content":"word","timestamp":1772442000000}}`+"\n", is, parent, n))
		parent = is
	}
	if gone > 0 {
		lines[gone-1] = ""
	}
	return ".pi/agent/sessions/--home-dev--/2026-03-02T09-00-00-000Z_" + id + ".jsonl", strings.Join(lines, "")
}

func codexSibling(i int) (path, text string) {
	id := fmt.Sprintf("01a1edfd-e191-74b0-9003-%012d", i)
	header := strings.Replace(fmt.Sprintf(probeHeader, ""), "01a1edfd-e191-74b0-9003-79b97f4a7c15", id, 1)
	return ".codex/sessions/2026/11/18/rollout-2026-11-18T09-30-00-" + id + ".jsonl", header + each(4, probeMessage)
}

// TestLinearFolders lints all sessions of a folder, and of one that holds four times as many.
func TestLinearFolders(t *testing.T) {
	for _, name := range []string{"CODEX_HOME", "CLAUDE_CONFIG_DIR", "PI_CODING_AGENT_DIR"} { // the homes are where they usually are
		t.Setenv(name, "")
	}
	hist := countingHist(t)
	for name, session := range siblings {
		t.Run(name, func(t *testing.T) {
			hist.grows(t, 300, func(n int) map[string]int {
				dir, hourAgo := hist.folder(t), time.Now().Add(-time.Hour)
				for i := range n {
					path, text := session(i)
					path = filepath.Join(dir, path)
					if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
					for _, p := range []string{path, filepath.Dir(path)} {
						if err := os.Chtimes(p, hourAgo, hourAgo); err != nil {
							t.Fatal(err)
						}
					}
				}
				return hist.run(t, dir, "lint", "--no-cache")
			})
		})
	}
}
