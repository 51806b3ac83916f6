package clienttest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Newest is the newest version that was measured.
const Newest = "2.1.332"

// Binary is one installed version of the client.
type Binary struct {
	Version string
	Command []string // the program and what goes in front of its arguments
}

// Dir is where versions are installed, each in a folder of its own: $HIST_CLAUDE_DIR, else .claude-bin at the
// repository's root.
func Dir() string {
	if dir := os.Getenv("HIST_CLAUDE_DIR"); dir != "" {
		return dir
	}
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		return ".claude-bin"
	}
	return filepath.Join(filepath.Dir(file), "..", "..", "..", ".claude-bin")
}

// Find returns the client of one version. The error names the command that installs it.
func Find(version string) (Binary, error) {
	modules := filepath.Join(Dir(), version, "node_modules", "@anthropic-ai")
	native := filepath.Join(modules, "claude-code-"+runtime.GOOS+"-"+nodeArch(), "claude")
	if _, err := os.Stat(native); err == nil {
		return Binary{version, []string{native}}, nil
	}
	script := filepath.Join(modules, "claude-code", "cli.js")
	if _, err := os.Stat(script); err == nil {
		return Binary{version, []string{"node", script}}, nil
	}
	return Binary{}, fmt.Errorf("no Claude Code %s in %s: npm install --prefix %s @anthropic-ai/claude-code@%s",
		version, Dir(), filepath.Join(Dir(), version), version)
}

func nodeArch() string {
	if runtime.GOARCH == "amd64" {
		return "x64"
	}
	return runtime.GOARCH
}
