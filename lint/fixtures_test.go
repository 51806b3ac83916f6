package lint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	recorded "github.com/hist-cli/hist/fixtures"
	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testkit/testfile"
)

const fixtures = "../fixtures"

// TestRuleFixtures lints fixtures/*/rules: every rule has a directory; what is bad in it yields that rule's finding and
// no others than its golden file lists, and ok.jsonl, the nearest session without the damage, yields none.
func TestRuleFixtures(t *testing.T) {
	for _, rule := range Rules {
		if rule.Home {
			continue // TestHomeFixtures
		}
		t.Run(rule.Name, func(t *testing.T) {
			dirs := ruleDirs(rule.Name)
			if len(dirs) == 0 {
				t.Fatalf("rule %s has no fixtures", rule.Name)
			}
			for _, dir := range dirs {
				bad := sessions(t, dir, "bad")
				if len(bad) == 0 {
					t.Fatalf("rule %s has no fixture bad*.jsonl or bad*.generate in %s", rule.Name, dir)
				}
				for _, path := range bad {
					t.Run(testfile.Stem(path), func(t *testing.T) {
						result := lintFixture(t, path)
						if !slices.ContainsFunc(result.Findings, func(f Finding) bool { return f.Rule == rule }) {
							t.Errorf("%s: no finding of rule %s; got:\n%s", path, rule.Name, testfile.Findings(result.Findings))
						}
						testfile.Golden(t, filepath.Join(dir, testfile.Stem(path)+".out"), testfile.Findings(result.Findings))
					})
				}
				silent(t, "ok", filepath.Join(dir, "ok.jsonl"), true)
				for _, path := range sessions(t, dir, "ok-") { // a note may say what they are
					t.Run(testfile.Stem(path), func(t *testing.T) {
						for _, f := range lintFixture(t, path).Findings {
							if f.Impact > Notes && f.Rule == rule {
								t.Errorf("%s: %s", path, testfile.Findings([]Finding{f}))
							}
						}
					})
				}
			}
		})
	}
}

// TestFindingsAreData: a finding, with its edits and the recipes of what they insert, can be printed, compared and kept without the
// rule that made it: no part of it is a function, and two readings of one session give equal findings.
func TestFindingsAreData(t *testing.T) {
	recipes := map[string]bool{}
	for _, rule := range Rules {
		if rule.Home {
			continue
		}
		for _, dir := range ruleDirs(rule.Name) {
			for _, path := range sessions(t, dir, "bad") {
				found := lintFixture(t, path).Findings
				for _, f := range found {
					for _, e := range f.Edits {
						if r := e.New.Recipe; r != nil {
							holdsNoFunction(t, reflect.TypeOf(r))
							recipes[fmt.Sprintf("%T", r)] = true
						}
					}
				}
				if again := lintFixture(t, path).Findings; !reflect.DeepEqual(found, again) {
					t.Errorf("%s: the second reading gives other findings:\n%s", path, testfile.Findings(again))
				}
			}
		}
	}
	holdsNoFunction(t, reflect.TypeFor[Edit]())
	if len(recipes) < 8 {
		t.Errorf("only %d recipes were seen, so this shows little: %v", len(recipes), recipes)
	}
}

// holdsNoFunction fails if a value of the type can hold a function or a channel.
func holdsNoFunction(t *testing.T, of reflect.Type) {
	t.Helper()
	switch of.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		t.Errorf("%v is not data", of)
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		holdsNoFunction(t, of.Elem())
	case reflect.Struct:
		for i := range of.NumField() {
			holdsNoFunction(t, of.Field(i).Type)
		}
	}
}

// ruleDirs are the directories of a rule's fixtures, one for each agent that has it.
func ruleDirs(rule string) (dirs []string) {
	for _, agent := range recorded.Agents {
		dir := filepath.Join(fixtures, agent, "rules", rule)
		if _, err := os.Stat(dir); err == nil {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// TestNoStrayFixtures finds what no test reads: directories of no rule, golden files and sidecars of no session.
func TestNoStrayFixtures(t *testing.T) {
	for _, agent := range recorded.Agents {
		strayFixtures(t, filepath.Join(fixtures, agent, "rules"))
	}
}

func strayFixtures(t *testing.T, dir string) {
	for _, entry := range testfile.Entries(t, dir) {
		if FindRule(entry) == nil {
			t.Errorf("%s: there is no rule of that name", filepath.Join(dir, entry))
		}
		files := testfile.Entries(t, filepath.Join(dir, entry))
		for _, file := range files {
			switch {
			case file == "ok.jsonl", file == "name":
			case filepath.Ext(file) == ".txtar":
			case strings.HasPrefix(file, "bad") && (filepath.Ext(file) == ".jsonl" || filepath.Ext(file) == ".generate"):
				if !slices.Contains(files, testfile.Stem(file)+".out") {
					t.Errorf("%s: has no golden file; run with -update and read what it says", filepath.Join(dir, entry, file))
				}
			case slices.Contains(files, testfile.Stem(file)+".jsonl"), slices.Contains(files, testfile.Stem(file)+".generate"), slices.Contains(files, testfile.Stem(file)+".txtar"):
			default:
				t.Errorf("%s: belongs to no session", filepath.Join(dir, entry, file))
			}
		}
	}
}

// TestHealthyFixtures lints fixtures/codex/healthy: shapes that were once taken for damage. None yields a finding, not even
// a note.
func TestHealthyFixtures(t *testing.T) {
	for _, agent := range recorded.Agents {
		for _, shape := range testfile.Entries(t, filepath.Join(fixtures, agent, "healthy")) {
			silent(t, shape, filepath.Join(fixtures, agent, "healthy", shape, "session.jsonl"), true)
		}
	}
}

// healthyScenarios are the recordings to which nothing happened.
var healthyScenarios = []string{"clean", "compact", "tools", "code", "fork", "fork_parent"}

// TestRecordings lints what real clients wrote. A healthy session yields nothing, all others what their golden file
// lists.
func TestRecordings(t *testing.T) {
	root := filepath.Join(fixtures, "codex")
	for _, version := range testfile.Entries(t, root) {
		if version == "rules" || version == "healthy" {
			continue
		}
		for _, scenario := range testfile.Entries(t, filepath.Join(root, version)) {
			dir := filepath.Join(root, version, scenario)
			paths := sessions(t, dir, "rollout-")
			if len(paths) != 1 {
				t.Errorf("%s: want one recording, found %d", dir, len(paths))
				continue
			}
			if slices.Contains(healthyScenarios, scenario) {
				silent(t, version+"/"+scenario, paths[0], true)
				continue
			}
			t.Run(version+"/"+scenario, func(t *testing.T) {
				testfile.Golden(t, filepath.Join(dir, "findings.out"), testfile.Findings(lintFixture(t, paths[0]).Findings))
			})
		}
	}
}

// silent lints a session that must yield nothing.
func silent(t *testing.T, name, path string, wanted bool) {
	if _, err := os.Stat(path); err != nil && !wanted {
		return
	}
	t.Run(name, func(t *testing.T) {
		if got := testfile.Findings(lintFixture(t, path).Findings); got != "" {
			t.Errorf("%s: findings in a healthy session:\n%s", path, got)
		}
	})
}

// lintFixture lints a session under the name and with the flags of its sidecars.
func lintFixture(t *testing.T, path string) *Result {
	t.Helper()
	opts := Options{Name: nameOf(sidecar(t, path, "name"))}
	if base := filepath.Base(path); strings.HasPrefix(base, "rollout-") {
		opts.Name = nameOf(base)
	}
	flags := strings.Fields(sidecar(t, path, "flags"))
	var in io.Reader = bytes.NewReader(readFixture(t, path))
	if i := slices.Index(flags, "--corrupt"); i >= 0 { // as a compressed stream that breaks off there is read
		flags = slices.Delete(flags, i, i+1)
		in = io.MultiReader(in, iotest.ErrReader(source.ErrCorrupt))
	}
	setFlags(t, &opts, flags)
	result, err := Session(context.Background(), in, opts)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if result.Summary.Partial != nil {
		t.Errorf("%s: was not read to its end: %v", path, result.Summary.Partial)
	}
	return result
}

// sidecar returns what stands in <stem>.<kind> beside a session or, for all of its directory, in <kind>.
func sidecar(t *testing.T, path, kind string) string {
	t.Helper()
	for _, name := range []string{testfile.Stem(path) + "." + kind, kind} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), name))
		if err == nil {
			return strings.TrimSpace(string(text))
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return ""
}

// nameOf takes base for the name of a file in a Codex home; without one the session came from stdin.
func nameOf(base string) Name {
	if base == "" {
		return Name{}
	}
	n, ok := home.ParseName(base)
	return Name{Base: base, Canonical: ok, ThreadID: n.ThreadID, FileID: n.RolloutID, Time: n.Time, InHome: true}
}

// setFlags sets the options that a flags file names as the command line does.
func setFlags(t *testing.T, opts *Options, flags []string) {
	t.Helper()
	for i := 0; i < len(flags); i++ {
		switch f := flags[i]; {
		case f == "--live":
			opts.Live = true
		case f == "--fresh":
			opts.Fresh = true
		case f == "--strip-encrypted":
			opts.StripEncrypted = true
		case f == "--keep-orphans":
			opts.KeepOrphans = true
		case f == "--chain-parallel":
			opts.ChainParallel = true
		case f == "--for-claude" && i+1 < len(flags):
			i++
			opts.For = map[string]string{"claude": flags[i]}
		case f == "--provider" && i+1 < len(flags):
			i++
			opts.Provider = flags[i]
		case f == "--branch" && i+1 < len(flags):
			i++
			opts.Branch = flags[i]
		case f == "--for-codex" && i+1 < len(flags):
			i++
			opts.For = map[string]string{"codex": flags[i]}
		case f == "--sibling-version" && i+1 < len(flags):
			i++
			version := flags[i]
			opts.SiblingVersion = func() string { return version }
		default:
			t.Fatalf("unknown flag %q, or its value is missing", f)
		}
	}
}

var repeat = regexp.MustCompile(`@@([^@*]+)\*([0-9]+)@@`)

// readFixture reads a session. In a .generate file, which stands for one that is too large to keep, @@TEXT*N@@ is
// N times TEXT.
func readFixture(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(path) != ".generate" {
		return raw
	}
	return repeat.ReplaceAllFunc(raw, func(match []byte) []byte {
		parts := repeat.FindSubmatch(match)
		n, err := strconv.Atoi(string(parts[2]))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return bytes.Repeat(parts[1], n)
	})
}

// sessions returns the session files of a directory whose names begin with prefix.
func sessions(t *testing.T, dir, prefix string) []string {
	t.Helper()
	var paths []string
	for _, name := range testfile.Entries(t, dir) {
		if ext := filepath.Ext(name); strings.HasPrefix(name, prefix) && (ext == ".jsonl" || ext == ".generate") {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths
}
