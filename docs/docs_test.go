// Package docs holds the documentation; its test executes what stands there.
package docs

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/cmd"
	"github.com/hist-cli/hist/lint"
)

var update = flag.Bool("update", false, "rewrite the pages that are generated")

// run runs hist at the root of the repository and returns what it prints.
func run(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	cmd.Main(append([]string{"hist"}, args...), strings.NewReader(""), &out, &out)
	return out.String()
}

func atRoot(t *testing.T) {
	t.Helper()
	t.Setenv("NO_COLOR", "1")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Chdir("..")
}

// TestConsole runs every `$ hist` line in the documentation and compares what it prints.
func TestConsole(t *testing.T) {
	atRoot(t)
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllSubmatch(text, -1) {
			want := string(block[1])
			var got strings.Builder
			for _, line := range strings.Split(want, "\n") {
				if command, ok := strings.CutPrefix(line, "$ hist "); ok {
					got.WriteString(line + "\n" + run(t, strings.Fields(command)...))
					ran++
				}
			}
			if got.String() != want {
				t.Errorf("%s: the output is another now:\n%s", page, got.String())
			}
		}
	}
	if ran < 2 {
		t.Errorf("only %d commands were run", ran)
	}
}

var flagInHelp = regexp.MustCompile(`(?m)^   (--?[a-z][a-z-]*)`)

// TestFlags compares the flags that the README lists for each command with those that the command has.
func TestFlags(t *testing.T) {
	atRoot(t)
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"lint", "repair", "undo", "explain"} {
		var want []string
		for _, m := range flagInHelp.FindAllStringSubmatch(run(t, command, "--help"), -1) {
			if m[1] != "--help" {
				want = append(want, m[1])
			}
		}
		var got []string
		_, section, found := strings.Cut(string(readme), "### hist "+command+"\n")
		if found {
			section, _, _ = strings.Cut(section, "\n### ")
			for _, m := range regexp.MustCompile("(?m)^\\| `(--[a-z-]+)`").FindAllStringSubmatch(section, -1) {
				got = append(got, m[1])
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("hist %s has the flags %v, the README lists %v", command, want, got)
		}
	}
}

// TestRulePages writes the rule pages from the rules and their fixtures, and fails if they differ from what stands there.
func TestRulePages(t *testing.T) {
	atRoot(t)
	pages := map[string]*strings.Builder{}
	for _, r := range lint.Rules {
		page := pages[r.Family]
		if page == nil {
			page = &strings.Builder{}
			pages[r.Family] = page
			fmt.Fprintf(page, "# Rules: %s\n\nThis page is written by a test, from the rules and their fixtures; `hist explain RULE` prints the same.\n", r.Family)
		}
		fmt.Fprintf(page, "\n## %s\n\n%s. Impact: `%s`; fix: `%s`.\n\n%s\n", r.Name, upper(r.Title), r.Impact, r.Fix, r.Text)
		if _, example, ok := strings.Cut(run(t, "explain", r.Name), "\nExample\n"); ok && strings.TrimSpace(example) != "" {
			fmt.Fprintf(page, "\n```text\n%s```\n", example)
		}
	}
	index := &strings.Builder{}
	index.WriteString("# Rules\n\n| rule | impact | fix | what |\n|---|---|---|---|\n")
	for _, r := range lint.Rules {
		fmt.Fprintf(index, "| [%s](%s.md#%s) | %s | %s | %s |\n", r.Name, r.Family, r.Name, r.Impact, r.Fix, r.Title)
	}
	pages["README"] = index
	for name, page := range pages {
		path := filepath.Join("docs/rules", name+".md")
		if *update {
			if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		have, err := os.ReadFile(path)
		if err != nil || string(have) != page.String() {
			t.Errorf("%s is not what the rules say (%v); run go test ./docs -update and read the change", path, err)
		}
	}
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
