// Package docs holds the documentation; its tests execute what stands there.
package docs

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/cmd"
	"github.com/hist-cli/hist/repair"
)

var update = flag.Bool("update", false, "rewrite what is generated: the rule pages, and what follows each `$ hist` line")

// The user's cache is left alone.
var _ = os.Setenv("XDG_CACHE_HOME", filepath.Join(os.TempDir(), "hist-test-cache"))

// run runs hist in the working directory and returns what it prints and its exit code.
func run(args ...string) (string, int) {
	var out bytes.Buffer
	code := cmd.Main(append([]string{"hist"}, args...), strings.NewReader(""), &out, &out)
	return out.String(), code
}

// atRoot goes to the root of the repository for one test.
func atRoot(t *testing.T) {
	t.Helper()
	t.Setenv("NO_COLOR", "1")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("CODEX_HOME", t.TempDir())
	t.Chdir("..")
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// generated compares a page with what it should say, or rewrites it.
func generated(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, _ := os.ReadFile(path)
	if string(have) != want {
		t.Errorf("%s is not what hist says now; run go test ./docs -update and read the change", path)
	}
}

// blocks are what a page is executed from: sessions at a terminal, and config files whose first line is their name.
var blocks = regexp.MustCompile("(?s)```(console|toml)\n(.*?)```")

// TestConsole runs every `$ hist` line in the hand-written pages and compares what it prints. Each page has a
// directory of its own, with the fixtures and the files that stand in the page.
func TestConsole(t *testing.T) {
	atRoot(t)
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, page := range append(pages, "README.md") {
		room := t.TempDir()
		if err := os.Symlink(filepath.Join(root, "fixtures"), filepath.Join(room, "fixtures")); err != nil {
			t.Fatal(err)
		}
		t.Chdir(room)
		path := filepath.Join(root, page)
		generated(t, path, blocks.ReplaceAllStringFunc(read(t, path), func(block string) string {
			m := blocks.FindStringSubmatch(block)
			if name, ok := strings.CutPrefix(m[2], "# "); ok && m[1] == "toml" {
				name, _, _ = strings.Cut(name, "\n")
				if err := os.WriteFile(name, []byte(m[2]), 0o600); err != nil {
					t.Fatal(err)
				}
				return block
			}
			var got strings.Builder
			for line := range strings.Lines(m[2]) {
				if command, ok := strings.CutPrefix(line, "$ hist "); ok {
					out, _ := run(strings.Fields(command)...)
					got.WriteString(line + out)
					ran++
				}
			}
			return "```" + m[1] + "\n" + got.String() + "```"
		}))
	}
	if ran < 2 {
		t.Errorf("only %d commands were run", ran)
	}
}

// TestFirstCommand runs the command that the README offers first: it must find the damage that it is said to find.
func TestFirstCommand(t *testing.T) {
	atRoot(t)
	m := regexp.MustCompile(`(?m)^go run \. (.*)$`).FindStringSubmatch(read(t, "README.md"))
	if m == nil {
		t.Fatal("the README has no such command")
	}
	if out, code := run(strings.Fields(m[1])...); code != cmd.ExitFindings {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// section returns the part of a page below a heading, up to the next one of the same rank or a higher one.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(page, "\n"+heading+"\n")
	if !found {
		t.Fatalf("the page has no section %q", heading)
	}
	rank := len(heading) - len(strings.TrimLeft(heading, "#"))
	for i := rank; i >= 2; i-- {
		text, _, _ = strings.Cut(text, "\n"+strings.Repeat("#", i)+" ")
	}
	return text
}

// firstColumn returns what stands in code quotes in the first column of the tables in a text.
func firstColumn(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		if cell, ok := strings.CutPrefix(line, "| `"); ok {
			cell, _, _ = strings.Cut(cell, " |")
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch("`"+cell, -1) {
				names = append(names, m[1])
			}
		}
	}
	slices.Sort(names)
	return names
}

var (
	inCommands = regexp.MustCompile(`(?m)^   ([a-z][a-z-]*)  `)
	inOptions  = regexp.MustCompile(`(?m)^   (--?[a-z].*?)(?:  |$)`)
	flagName   = regexp.MustCompile(`(?:^|[ ,])(--?[a-z][a-z-]*)`)
)

// options returns the flags that a help text lists, short ones too.
func options(help string) []string {
	_, help, _ = strings.Cut(help, "OPTIONS:\n") // further groups follow
	help, _, _ = strings.Cut(help, "EXIT STATUS:\n")
	var names []string
	for _, line := range inOptions.FindAllStringSubmatch(help, -1) {
		for _, m := range flagName.FindAllStringSubmatch(line[1], -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestFlags compares the commands and flags that docs/commands.md lists with those that there are.
func TestFlags(t *testing.T) {
	atRoot(t)
	readme := read(t, "docs/commands.md")
	top, _ := run("--help")
	_, list, _ := strings.Cut(top, "DESCRIPTION:\n")
	list, _, _ = strings.Cut(list, "OPTIONS:\n")
	everywhere := firstColumn(section(t, readme, "## Everywhere"))
	if want := options(top); !slices.Equal(everywhere, want) {
		t.Errorf("hist has the flags %v, docs/commands.md lists %v", want, everywhere)
	}
	var commands []string
	for _, m := range inCommands.FindAllStringSubmatch(list, -1) {
		name := m[1]
		commands = append(commands, name)
		help, _ := run(name, "--help")
		want := slices.DeleteFunc(options(help), func(f string) bool { return f == "--help" || f == "-h" })
		if got := firstColumn(section(t, readme, "## hist "+name)); !slices.Equal(got, want) {
			t.Errorf("hist %s has the flags %v, docs/commands.md lists %v", name, want, got)
		}
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `hist ([a-z-]+)").FindAllStringSubmatch(readme, -1) {
		listed = append(listed, m[1])
	}
	if len(commands) < 4 || !slices.Equal(listed, commands) {
		t.Errorf("the commands are %v, docs/commands.md lists %v", commands, listed)
	}
}

// TestExitCodes compares the table of docs/commands.md with what hist's help ends with, of which each command has some.
func TestExitCodes(t *testing.T) {
	atRoot(t)
	var rows, codes []string
	for _, m := range regexp.MustCompile(`(?m)^\| ([0-9]+) \| (.*) \|$`).FindAllStringSubmatch(read(t, "docs/commands.md"), -1) {
		rows, codes = append(rows, m[1]+" "+m[2]), append(codes, m[1])
	}
	status := func(args ...string) (rows, codes []string) {
		help, _ := run(args...)
		_, help, _ = strings.Cut(help, "EXIT STATUS:\n")
		for _, m := range regexp.MustCompile(`(?m)^ +([0-9]+) +(.*)$`).FindAllStringSubmatch(help, -1) {
			rows, codes = append(rows, m[1]+" "+m[2]), append(codes, m[1])
		}
		return rows, codes
	}
	if all, _ := status("--help"); !slices.Equal(all, rows) {
		t.Errorf("hist --help:\n%s\ndocs/commands.md:\n%s", strings.Join(all, "\n"), strings.Join(rows, "\n"))
	}
	for command, lacks := range map[string][]string{
		"lint": {"4"}, "repair": nil, "undo": {"1"}, "pre-resume": nil, "show": {"1", "4"}, "explain": {"1", "4"}, "shim": {"4"},
	} {
		want := slices.DeleteFunc(slices.Clone(codes), func(code string) bool { return slices.Contains(lacks, code) })
		if _, got := status(command, "--help"); !slices.Equal(got, want) {
			t.Errorf("hist %s --help has the exit codes %v, want %v", command, got, want)
		}
	}
}

// TestFindingFields compares the fields that docs/commands.md lists with those of all findings in the fixtures.
func TestFindingFields(t *testing.T) {
	atRoot(t)
	out, _ := run("lint", "--format", "jsonl", "fixtures/codex/rules")
	found := map[string]bool{}
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "{") {
			continue // a fixture that can't be read
		}
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		for name := range fields {
			found[name] = true
		}
	}
	var want []string
	for name := range found {
		want = append(want, name)
	}
	slices.Sort(want)
	if got := firstColumn(section(t, read(t, "docs/commands.md"), "## Findings as JSON")); !slices.Equal(got, want) {
		t.Errorf("findings have the fields %v, docs/commands.md lists %v", want, got)
	}
}

// TestEntryFields compares the fields and kinds that the page on show lists with those of all entries in the fixtures.
func TestEntryFields(t *testing.T) {
	atRoot(t)
	page := read(t, "docs/show.md")
	fields, kinds := map[string]bool{}, map[string]bool{}
	for _, path := range sessionsBelow(t, "fixtures") {
		out, code := run("show", "--format", "jsonl", "--show-content", path)
		if code == 3 { // no agent wrote it
			continue
		}
		for line := range strings.Lines(out) {
			var entry map[string]any
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				t.Fatalf("%s: %v: %s", path, err, line)
			}
			for name := range entry {
				fields[name] = true
			}
			kinds[entry["kind"].(string)] = true
		}
	}
	for heading, found := range map[string]map[string]bool{"## Entries as JSON": fields, "## Kinds": kinds} {
		want := slices.Sorted(maps.Keys(found))
		if got := firstColumn(section(t, page, heading)); !slices.Equal(got, want) {
			t.Errorf("%s: entries have %v, the page lists %v", heading, want, got)
		}
	}
}

// sessionsBelow returns the session files below a directory.
func sessionsBelow(t *testing.T, dir string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".jsonl" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestConfigKeys compares the keys that the page lists with those that a config file takes, as its errors tell them.
func TestConfigKeys(t *testing.T) {
	atRoot(t)
	page := firstColumn(section(t, read(t, "docs/config.md"), "## Keys"))
	t.Chdir(t.TempDir())
	told := func(text string) string {
		if err := os.WriteFile("c.toml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, code := run("lint", "--config", "c.toml")
		if code != cmd.ExitUsage {
			t.Fatalf("exit code %d: %s", code, out)
		}
		_, list, _ := strings.Cut(strings.TrimSpace(out), "; it takes ")
		list, _, _ = strings.Cut(list, "; until ")
		return list
	}
	var keys []string
	for _, k := range strings.Split(told("[lint]\nx = 1\n"), ", ") {
		if k == "rules" {
			keys = append(keys, "lint.rules.RULE")
			continue
		}
		for _, sub := range strings.Split(told("[[lint."+k+"]]\nx = 1\n"), ", ") {
			keys = append(keys, "lint."+k+"."+sub)
		}
	}
	for _, k := range strings.Split(told("[restart]\nx = 1\n"), ", ") {
		keys = append(keys, "restart."+k)
	}
	slices.Sort(keys)
	if !slices.Equal(page, keys) {
		t.Errorf("a config takes %v, the page lists %v", keys, page)
	}
}

// TestReportFields compares the page on the report with the type that is written.
func TestReportFields(t *testing.T) {
	page := read(t, "report.md")
	for heading, of := range map[string]any{"## A session": repair.Report{}, "## An edit": repair.Entry{}, "## What is left": repair.Left{}} {
		var want []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(of)) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		if got := firstColumn(section(t, page, heading)); !slices.Equal(got, want) {
			t.Errorf("%s has the fields %v, the page lists %v", heading, want, got)
		}
	}
}

// TestArchitecture: the table of packages names every one of this module, or the folder that it lies in.
func TestArchitecture(t *testing.T) {
	page := read(t, "dev/architecture.md")
	dirs, err := filepath.Glob("../internal/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal(len(dirs), err)
	}
	for _, dir := range dirs {
		if name := "`internal/" + filepath.Base(dir) + "`"; !strings.Contains(page, name) {
			t.Errorf("docs/dev/architecture.md does not name %s", name)
		}
	}
}

// TestShortEnough: what a user may have to read stays within what one sitting takes; what a maintainer needs stands in docs/dev, and the
// pages of rules are made.
func TestShortEnough(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	for _, page := range append(pages, "../README.md") {
		words += len(strings.Fields(read(t, page)))
	}
	const most = 25_000
	if words > most {
		t.Errorf("README.md and docs/*.md have %d words, more than %d: say a thing once, or where it belongs", words, most)
	}
	if lines := strings.Count(read(t, "../README.md"), "\n"); lines > 100 {
		t.Errorf("README.md has %d lines, more than 100", lines)
	}
}

// TestFiguresOfCodex: the README's rows of Codex are those of docs/dev/testing.md, which says how they are measured.
func TestFiguresOfCodex(t *testing.T) {
	rows := regexp.MustCompile(`(?m)^\| Codex [0-9.]+ \| .*\|$`)
	told, measured := rows.FindAllString(read(t, "../README.md"), -1), rows.FindAllString(read(t, "dev/testing.md"), -1)
	if len(told) < 4 || !slices.Equal(told, measured) {
		t.Errorf("the README has\n%s\ndocs/dev/testing.md\n%s", strings.Join(told, "\n"), strings.Join(measured, "\n"))
	}
}

// TestFigures: what the README says of Claude Code was measured: the page of its behaviour has the same figures.
func TestFigures(t *testing.T) {
	readme, page := read(t, "../README.md"), read(t, "dev/claude-behaviour.md")
	rows := regexp.MustCompile(`(?m)^\| Claude Code ([0-9.]+) \| ([0-9]+) \| ([0-9]+) \| ([0-9]+) \| ([0-9.]+) % \| ([0-9.]+) % \|$`).FindAllStringSubmatch(readme, -1)
	if len(rows) != 2 {
		t.Fatalf("the README has figures of %d versions", len(rows))
	}
	for _, r := range rows {
		measured := section(t, page, "## "+r[1])
		if want := fmt.Sprintf("%s kinds of damage to sessions that it wrote: %s %% of the history is sent without a repair, %s %% after it;", r[2], r[5], r[6]); !strings.Contains(measured, want) {
			t.Errorf("docs/dev/claude-behaviour.md does not say of %s: %s", r[1], want)
		}
		damages, before, after := 0, 0, 0
		for _, row := range regexp.MustCompile(`(?m)^\| (.+?) \| (.+?) \| (.+?) \| .+ \|$`).FindAllStringSubmatch(measured, -1) {
			if row[1] == "damage" || strings.HasPrefix(row[1], "---") {
				continue
			}
			damages++
			if row[2] != "refused" {
				before++
			}
			if row[3] != "refused" {
				after++
			}
		}
		if got := []string{fmt.Sprint(damages), fmt.Sprint(before), fmt.Sprint(after)}; !slices.Equal(got, r[2:5]) {
			t.Errorf("docs/dev/claude-behaviour.md has %v of %s, the README %v", got, r[1], r[2:5])
		}
	}
}
