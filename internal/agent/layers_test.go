package agent_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/hist-cli/hist/"

// imports lists, by package folder below the root, what its files import of this module; tests are left out.
func imports(t *testing.T, root string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return filepath.SkipDir // another module
			}
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		dir = filepath.ToSlash(dir)
		for _, i := range f.Imports {
			if name, quoted := strconv.Unquote(i.Path.Value); quoted == nil && strings.HasPrefix(name, module) {
				found[dir] = append(found[dir], strings.TrimPrefix(name, module))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// below says whether a package is the named one or lies below it.
func below(pkg, dir string) bool { return pkg == dir || strings.HasPrefix(pkg, dir+"/") }

// agents are the folders of agents.
func agents(t *testing.T) []string {
	t.Helper()
	list, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		if e.IsDir() && !slices.Contains([]string{"all"}, e.Name()) {
			names = append(names, "internal/agent/"+e.Name())
		}
	}
	return names
}

// knowAgents are the packages outside of an agent's folder that may import it: the lists, and what makes one agent's sessions for
// tests.
var knowAgents = []string{"internal/agent/all", "internal/inspect", "internal/testkit/corpus", "internal/testkit/damage"}

// TestLayers: nobody but the lists knows an agent, agents do not know each other, and no arrow runs back.
func TestLayers(t *testing.T) {
	order := []string{"internal/session", "internal/finding", "internal/normalize", "internal/check", "internal/agent", "internal/surgery", "lint", "repair", "cmd"}
	rank := func(pkg string) int { return slices.Index(order, pkg) }
	all := imports(t, "../..")
	if len(all["cmd"]) == 0 || len(all["internal/agent/codex/rules"]) == 0 {
		t.Fatal("the packages were not found")
	}
	for pkg, used := range all {
		for _, u := range used {
			for _, a := range agents(t) {
				if below(u, a) && !below(pkg, a) && !slices.Contains(knowAgents, pkg) {
					t.Errorf("%s imports %s: only an agent's own folder knows it", pkg, u)
				}
			}
			if from, to := rank(pkg), rank(u); from >= 0 && to > from {
				t.Errorf("%s imports %s: the arrow runs back", pkg, u)
			}
		}
	}
}

// rooms are those of agents' folders, in the order of the flow: each imports only those in front of it. "" is the folder itself.
var rooms = map[string][]string{
	"claude": {"reader", "format", "faults", "content", "home", "evidence", "mend", ""},
	"codex":  {"home", "", "rules", "beside"},
	"pi":     {""},
}

// TestRooms: no arrow between the rooms of an agent's folder runs back, and every room is listed.
func TestRooms(t *testing.T) {
	for pkg, used := range imports(t, "../..") {
		name, found := strings.CutPrefix(pkg, "internal/agent/")
		agent, room, _ := strings.Cut(name, "/")
		if !found || agent == "all" {
			continue
		}
		from := slices.Index(rooms[agent], room)
		if from < 0 {
			t.Errorf("%s is no room that is listed here", pkg)
		}
		for _, u := range used {
			name, within := strings.CutPrefix(u+"/", "internal/agent/"+agent+"/")
			if within && slices.Index(rooms[agent], strings.TrimSuffix(name, "/")) > from {
				t.Errorf("%s imports %s: the arrow runs back", pkg, u)
			}
		}
	}
}

// roomy is how many files, besides its tests, a package may have and still be overseen.
const roomy = 60

// TestOverseen: no package that hist is built of is too large to be overseen.
func TestOverseen(t *testing.T) {
	files := map[string]int{}
	for _, root := range []string{"../../internal", "../../lint", "../../repair", "../../cmd"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
				files[filepath.Dir(path)]++
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) == 0 {
		t.Fatal("the packages were not found")
	}
	for dir, n := range files {
		if n > roomy {
			t.Errorf("%s has %d files", dir, n)
		}
	}
}

// TestLintLinksNoDatabase: who only lints gets no SQLite; what a home's databases keep is read by who hands it in.
func TestLintLinksNoDatabase(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../../lint").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, module+"internal/agent/codex/rules") {
		t.Fatalf("the agents are not among what lint links: %d packages", len(deps))
	}
	for _, d := range deps {
		if d == "database/sql" || strings.Contains(d, "sqlite") {
			t.Errorf("lint links %s", d)
		}
	}
}

// gjson.Valid recurses: some megabytes of open brackets, in a string that a model wrote, end the program. jsonl.Valid does not.
func TestNoRecursion(t *testing.T) {
	eachFile(t, func(_ string, f *ast.File, at func(ast.Node) token.Position) {
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "Valid" || s.Sel.Name == "ValidBytes") {
				if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "gjson" {
					t.Errorf("%s: gjson.%s, where it should be jsonl.Valid", at(n), s.Sel.Name)
				}
			}
			return true
		})
	})
}
