package docs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	files "github.com/hist-cli/hist/fixtures"
	"github.com/hist-cli/hist/internal/testkit/testhome"
	"github.com/hist-cli/hist/lint"
)

const head = `# Rules: %s

Every example is real: ` + "`fixtures/AGENT/rules/RULE/bad.jsonl`" + `, or the home in ` + "`bad.txtar`" + `, linted and repaired. Lines longer than %d
characters are cut. ` + "`go test ./docs -update`" + ` generates this page from the rules.
`

// longest is how much of a line the pages show.
const longest = 400

// TestRulePages makes the rule pages from the rules and their fixtures, and fails if they differ from what stands there.
func TestRulePages(t *testing.T) {
	atRoot(t)
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]*strings.Builder{}
	index := &strings.Builder{}
	index.WriteString("# Rules\n\nImpact and fix are the usual ones; a finding can have others. [What they mean](../commands.md#impact-and-fix).\n\n")
	index.WriteString("| rule | agent | impact | fix | what |\n|---|---|---|---|---|\n")
	for _, r := range lint.Rules {
		page := pages[r.Family]
		if page == nil {
			page = &strings.Builder{}
			fmt.Fprintf(page, head, r.Family, longest)
			pages[r.Family] = page
		}
		fmt.Fprintf(page, "\n## %s\n\n%s. Agent: %s; impact: `%s`; fix: `%s`.\n\n%s\n", r.Name, upper(r.Title), strings.Join(lint.Agents(r), ", "), r.Impact, r.Fix, lint.Described(r))
		page.WriteString(example(t, root, r))
		agents := strings.Join(lint.Agents(r), ", ")
		fmt.Fprintf(index, "| [%s](%s.md#%s) | %s | %s | %s | %s |\n", r.Name, r.Family, r.Name, agents, r.Impact, r.Fix, r.Title)
	}
	pages["README"] = index
	for name, page := range pages {
		generated(t, filepath.Join(root, "docs/rules", name+".md"), page.String())
	}
	stray, err := filepath.Glob(filepath.Join(root, "docs/rules/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stray {
		if pages[strings.TrimSuffix(filepath.Base(path), ".md")] == nil {
			t.Errorf("%s belongs to no rule", path)
		}
	}
}

// TestNoStrayTexts: every text of a rule belongs to one; that each rule has one, the program sees to at its start.
func TestNoStrayTexts(t *testing.T) {
	atRoot(t)
	found := 0
	err := filepath.WalkDir("internal", func(path string, _ os.DirEntry, err error) error {
		dir := filepath.Base(filepath.Dir(path))
		if err == nil && (dir == "texts" || dir == "effects") {
			if dir == "texts" {
				found++
			}
			if lint.FindRule(strings.TrimSuffix(filepath.Base(path), ".md")) == nil {
				t.Errorf("%s belongs to no rule", path)
			}
		}
		return err
	})
	if err != nil || found < len(lint.Rules) {
		t.Errorf("%d texts were found for %d rules: %v", found, len(lint.Rules), err)
	}
}

// example lints and repairs a rule's damaged session and shows what hist says.
func example(t *testing.T, root string, r *lint.Rule) string {
	t.Helper()
	if r.Home {
		return homeExample(t, root, r)
	}
	name, client := place(t, root, r.Name)
	args := append(client, "--notes", "--rule", r.Name, name)
	found, _ := run(append([]string{"lint"}, args...)...)
	if !strings.Contains(found, "["+r.Name+"]") {
		t.Errorf("the example of %s does not show it:\n%s", r.Name, found)
	}
	page := fmt.Sprintf("\n```console\n$ hist lint %s\n%s```\n", strings.Join(args, " "), cut(found))
	args = append(client, "--dry-run", "--output", "repaired.jsonl", "--diff", "--show-content", "--rule", r.Name, name) // the thread keeps its id
	diff, _ := run(append([]string{"repair"}, args...)...)
	diff, _, _ = strings.Cut(diff, "\n  records: ")
	_, diff, _ = strings.Cut(diff, "+++ "+name+"\n")
	hunks, _, _ := strings.Cut(diff, "\n  line ")
	if !strings.HasPrefix(hunks, "@@") {
		return page // nothing to mend inside the file
	}
	return page + fmt.Sprintf("\n`hist repair` changes:\n\n```diff\n%s\n```\n", strings.TrimSuffix(cut(hunks), "\n"))
}

// homeExample lints a home that shows a rule.
func homeExample(t *testing.T, root string, r *lint.Rule) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := files.RuleDir(r.Name)
	if err := testhome.Unpack(filepath.Join(root, "fixtures", filepath.FromSlash(in), "bad.txtar"), dir); err != nil {
		t.Fatal(err)
	}
	home, usual := "CODEX_HOME", "~/.codex"
	if strings.HasPrefix(in, "claude/") {
		home, usual = "CLAUDE_CONFIG_DIR", "~/.claude"
	}
	t.Setenv("CODEX_HOME", t.TempDir())
	t.Setenv(home, dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if r.Name == "repaired" {
		run("repair", "--yes")
	}
	found, _ := run("lint", "--notes", "--rule", r.Name)
	found = copyID.ReplaceAllString(found, "${1}01a1ee00-0000-7000-8000-000000000001")
	if !strings.Contains(found, "["+r.Name+"]") {
		t.Errorf("the example of %s does not show it:\n%s", r.Name, found)
	}
	return fmt.Sprintf("\n```console\n$ hist lint --notes --rule %s\n%s```\n", r.Name, cut(strings.ReplaceAll(found, dir, usual)))
}

// copyID is the id of a repaired copy, which is another one each time.
var copyID = regexp.MustCompile(`(repaired as |codex resume )[0-9a-f-]{36}`)

// place puts the example of a rule into a directory of its own, goes there and returns the session's path, and the flags that name the
// client by which it is damaged.
func place(t *testing.T, root, rule string) (name string, client []string) {
	t.Helper()
	dir := filepath.Join(root, "fixtures", filepath.FromSlash(files.RuleDir(rule)))
	text, err := os.ReadFile(filepath.Join(dir, "bad.jsonl"))
	if err != nil {
		text = enlarge(t, read(t, filepath.Join(dir, "bad.generate")))
	}
	name = "session.jsonl"
	if base, err := os.ReadFile(filepath.Join(dir, "bad.name")); err == nil {
		name = "sessions/" + strings.Fields(string(base))[0] // read as in a client's home
	}
	flags, _ := os.ReadFile(filepath.Join(dir, "bad.flags"))
	if client = slices.Clip(strings.Fields(string(flags))); slices.Equal(client, []string{"--corrupt"}) {
		name, text, client = name+".zst", broken(t, text), nil
	}
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
	old := time.Date(2026, 11, 18, 10, 0, 0, 0, time.UTC) // an empty file that is a moment old is not finished
	if err := os.Chtimes(name, old, old); err != nil {
		t.Fatal(err)
	}
	return name, client
}

var repeated = regexp.MustCompile(`@@([^@*]+)\*([0-9]+)@@`)

// enlarge makes a session of a .generate file: @@TEXT*N@@ is N times TEXT.
func enlarge(t *testing.T, text string) []byte {
	t.Helper()
	return repeated.ReplaceAllFunc([]byte(text), func(match []byte) []byte {
		parts := repeated.FindSubmatch(match)
		n, err := strconv.Atoi(string(parts[2]))
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Repeat(parts[1], n)
	})
}

// broken compresses a text into a stream that breaks off behind it.
func broken(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// cut shortens long lines.
func cut(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if runes := []rune(line); len(runes) > longest {
			line = string(runes[:longest]) + "…\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
