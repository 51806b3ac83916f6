package claude_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestFileOutputs: the lost output of a call that read or changed a file comes back from what the session and the client's
// copies of the file tell, if the hash of the request proves it, or if the next edit found the same there.
func TestFileOutputs(t *testing.T) {
	const (
		file    = "/home/dev/demo/a.txt"
		current = "../../../fixtures/claude/2.1.330/checkpoint/0def103a-d27a-4392-9c83-646384f706d5.jsonl"
		older   = "../../../fixtures/claude/2.1.2/checkpoint/0b363a15-dd3b-4e50-80cb-0e0c97b957af.jsonl"
		read    = `{"tool_use_id":"toolu_01r1","type":"tool_result"`
		edited  = `{"tool_use_id":"toolu_01e1","type":"tool_result"`
		was     = `"originalFile":"alpha\nbeta\n",`
		before  = "alpha\nbeta\n"
	)
	// Another call of the older client that read a file tells how it shows one.
	again := `{"parentUuid":"0bdb52eb-0000-4000-8000-000000000000","isSidechain":false,"type":"user","uuid":"5a0c0b52-0000-4000-8000-000000000001",` +
		`"message":{"role":"user","content":[{"tool_use_id":"toolu_01r0","type":"tool_result","content":"     1→old\n     2→\n\n(note)\n"}]},` +
		`"toolUseResult":{"type":"text","file":{"filePath":"/home/dev/demo/b.txt","content":"old\n","numLines":2,"startLine":1,"totalLines":2}},"isMeta":true}` + "\n"
	between := `{"parentUuid":null,"isSidechain":true,"type":"assistant","uuid":"5a0c0b52-0000-4000-8000-000000000002",` +
		`"message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"toolu_01r9","name":"Read","input":{"file_path":"` + file + `"}}]}}` + "\n"
	for name, c := range map[string]struct {
		session, lost string
		change        func(session string) string
		copied        string // what the client's copy of the file holds, "" if there is none
		want, source  string // of the output that comes back, "" if none does
	}{
		"an edit, proved":               {current, edited, nil, "", "The file " + file + " has been updated.", "the client's own wording, proved by the hash of the request"},
		"a read, proved":                {current, read, nil, "", `1\talpha\n2\tbeta\n3\t`, "the structured result of the file's edit, proved by the hash of the request"},
		"a read, by a copy":             {current, read, without(was), before, `1\talpha\n2\tbeta\n3\t`, "the client's file history, " + copyName(file, 1) + ", proved by the hash of the request"},
		"the copy is of something else": {current, read, without(was), "delta\n", "", ""},
		"no copy":                       {current, read, without(was), "", "", ""},
		"an edit without proof":         {older, edited, nil, before, "", ""},
		"what the next edit found":      {older, read, func(s string) string { return again + s }, "", `     1→alpha\n     2→beta\n     3→\n\n(note)\n`, "the structured result of the file's edit"},
		"what was copied for the edit":  {older, read, func(s string) string { return again + without(was)(s) }, before, `     1→alpha\n     2→beta\n     3→\n\n(note)\n`, "the client's file history, " + copyName(file, 1)},
		"the edit found something else": {older, read, func(s string) string {
			return again + strings.ReplaceAll(s, `"version":"2.1.2"`, `"version":"2.1.215"`)
		}, before, "", ""},
		"the edit found what was read": {older, read, func(s string) string {
			s = strings.ReplaceAll(s, `"version":"2.1.2"`, `"version":"2.1.215"`)
			return again + strings.Replace(s, "has been updated.", "has been updated. (file state is current)", 1)
		}, "", `     1→alpha\n     2→beta\n     3→\n\n(note)\n`, "the structured result of the file's edit"},
		"with line ends of two bytes": {older, read, func(s string) string { return strings.ReplaceAll(again+s, "\n", "\r\n") }, "", `     1→alpha\n     2→beta\n     3→\n\n(note)\n`, "the structured result of the file's edit"},
		"nothing shows how":           {older, read, nil, before, "", ""},
		"read again before the edit": {older, read, func(s string) string {
			at := strings.Index(s, `{"parentUuid":"3261038d`)
			return again + s[:at] + between + s[at:]
		}, before, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(c.session)
			if err != nil {
				t.Fatal(err)
			}
			var session string
			for line := range bytes.Lines(text) {
				if !bytes.Contains(line, []byte(c.lost)) {
					session += string(line)
				}
			}
			if c.change != nil {
				session = c.change(session)
			}
			home := t.TempDir()
			path := filepath.Join(home, "projects/-home-dev-demo", filepath.Base(c.session))
			if c.copied != "" {
				write(t, filepath.Join(home, "file-history", strings.TrimSuffix(filepath.Base(path), ".jsonl"), copyName(file, 1)), c.copied)
			}
			found := lintAt(t, path, session)
			i := find(found, "lost-result")
			if i < 0 {
				t.Fatalf("%+v", found)
			}
			f := found[i]
			if f.Source != c.source || c.want != "" && !bytes.Contains(f.Edits[0].New.Literal, []byte(`"content":"`+c.want+`"`)) {
				t.Errorf("from %q: %q", f.Source, f.Edits[0].New.Literal)
			}
		})
	}
}

// without takes some words out of a session.
func without(words string) func(string) string {
	return func(s string) string { return strings.ReplaceAll(s, words, "") }
}

// copyName is the name that a client gives its copy of a file.
func copyName(file string, version int) string {
	sum := sha256.Sum256([]byte(file))
	return hex.EncodeToString(sum[:])[:16] + "@v" + string(rune('0'+version))
}

// lintAt is what lint finds in a session that lies at a path, whatever else lies in that home.
func lintAt(t *testing.T, path, session string) []lint.Finding {
	t.Helper()
	write(t, path, session)
	res, err := lint.File(context.Background(), path, lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Findings
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
