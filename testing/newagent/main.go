// Newagent makes what a new agent begins with: its folder, a fixture, and the tests that fail until it is written.
//
//	go run ./testing/newagent NAME [TITLE]
package main

import (
	_ "embed"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed agent.go.tmpl
var agentFile string

//go:embed agent_test.go.tmpl
var testFile string

// session is a fixture to replace with what the client wrote.
const session = `{"type":"NAME.begin","id":"01a1edfd-e191-74b0-9003-79b97f4a7c15","cwd":"/home/dev/demo"}
{"type":"NAME.said","id":"1"}
`

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: go run ./testing/newagent NAME [TITLE]")
		os.Exit(2)
	}
	made, err := scaffold(".", os.Args[1], strings.Join(os.Args[2:], ""))
	if err != nil {
		fmt.Fprintln(os.Stderr, "newagent:", err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(made, "\n"))
	fmt.Printf("now: add %s.Agent to internal/agent/all, and %q to fixtures/fixtures.go; then\n  go test ./internal/agent/%[1]s\nsays what is missing; docs/dev/new-agent.md says what comes first\n", os.Args[1], os.Args[1])
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// scaffold writes the files below the root of the project and lists them. It writes over nothing.
func scaffold(root, name, title string) (made []string, err error) {
	if !nameForm.MatchString(name) {
		return nil, fmt.Errorf("%q is no name of a package: lower case letters and digits", name)
	}
	if title == "" {
		title = name
	}
	folder := filepath.Join(root, "internal", "agent", name)
	if _, err := os.Stat(folder); err == nil {
		return nil, fmt.Errorf("%s is there already", folder)
	}
	fill := strings.NewReplacer("NAME", name, "TITLE", title)
	for path, text := range map[string]string{
		filepath.Join(folder, "agent.go"):                                                  agentFile,
		filepath.Join(folder, "agent_test.go"):                                             testFile,
		filepath.Join(root, "fixtures", name, "healthy", "first-session", "session.jsonl"): session,
	} {
		out := []byte(fill.Replace(text))
		if filepath.Ext(path) == ".go" {
			if out, err = format.Source(out); err != nil {
				return nil, err
			}
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, out, 0o644); err != nil {
			return nil, err
		}
		made = append(made, path)
	}
	return made, nil
}
