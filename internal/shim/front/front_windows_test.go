package front

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestCommand: a client that npm installed is run as its script does it, without cmd.exe, which would read the arguments.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	given := []string{"exec", `a "b" & %PATH%`}
	client, script, node := filepath.Join(dir, "codex.cmd"), dir+`\node_modules/@openai/codex/bin/codex.js`, filepath.Join(dir, "node.exe")
	if err := os.MkdirAll(filepath.Dir(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Programs[0].command(client, given); err == nil {
		t.Error("a script that is not npm's is run")
	}
	for _, path := range []string{script, node} {
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program, args, err := Programs[0].command(client, given)
	if err != nil || program != node || !slices.Equal(args, append([]string{script}, given...)) {
		t.Errorf("%s %q, %v", program, args, err)
	}
	if program, args, err := Programs[0].command(node, given); err != nil || program != node || !slices.Equal(args, given) {
		t.Errorf("%s %q, %v", program, args, err)
	}
}
