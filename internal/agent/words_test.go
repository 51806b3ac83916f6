package agent_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// eachFile parses all Go files of this module but tests; name is the path below its root, with slashes.
func eachFile(t *testing.T, see func(name string, f *ast.File, at func(ast.Node) token.Position)) {
	t.Helper()
	root, set := "../..", token.NewFileSet()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != root {
			if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil {
				return filepath.SkipDir // another module
			}
		}
		if filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		see(filepath.ToSlash(name), f, func(n ast.Node) token.Position { return set.Position(n.Pos()) })
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// texts calls do for every string in a file but the names of imports and of members in hist's own JSON.
func texts(f *ast.File, do func(n ast.Node, text string)) {
	tags := map[*ast.BasicLit]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil {
				tags[n.Tag] = true
			}
		}
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && !tags[lit] {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				do(lit, text)
			}
		}
		return true
	})
}

// formatWords are record types and members of the agents' formats, homeWords what is called in their homes and how they
// are called themselves.
var (
	formatWords = regexp.MustCompile(`\b(session_meta|response_item|event_msg|turn_context|compacted|task_started|task_complete|turn_started|turn_aborted|` +
		`function_call\w*|custom_tool_call\w*|local_shell_call|web_search_call|item_completed|user_message|agent_message|token_count|replacement_history|` +
		`history_base|history_mode|call_id|turn_id|payload|encrypted_content|parentUuid|leafUuid|tool_use\w*|tool_result|isSidechain|sessionId|compact_boundary)\b`)
	homeWords = regexp.MustCompile(`\b(codex|claude|CODEX_\w+|CLAUDE_\w+|archived_sessions|thread_history\w*|state_5\w*|rollout-|thread-writer-locks|projects|subagent|app-server|mcp-server)\b`)
)

// rulesOfOne are the rules that only one agent has, by their names, with the agent's.
func rulesOfOne() map[string]string {
	of := map[string]string{}
	for _, r := range lint.Rules {
		if agents := lint.Agents(r); len(agents) == 1 {
			of[r.Name] = agents[0]
		}
	}
	return of
}

// TestWords: nothing outside an agent's folder names a record type or a member of its format, nor a rule that it alone has, and
// nobody but the help of the command line its home, its command or itself.
func TestWords(t *testing.T) {
	ownRules := rulesOfOne()
	within := func(pkg string, dirs []string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return below(pkg, dir) })
	}
	eachFile(t, func(name string, f *ast.File, at func(ast.Node) token.Position) {
		pkg := path.Dir(name)
		madeForOne := within(pkg, []string{"internal/api", "internal/testkit", "internal/shim"})
		if name == "internal/agent/looks.go" { // formats that hist does not read
			return
		}
		if madeForOne || slices.ContainsFunc(agents(t), func(a string) bool { return below(pkg, a) }) {
			return
		}
		operates := below(pkg, "internal/surgery") // on sessions of any agent: it knows where ids, sealed texts and bodies stand
		texts(f, func(n ast.Node, text string) {
			if owner := ownRules[text]; owner != "" && pkg != "cmd" && !operates && !slices.Contains([]string{"internal/check/rules.go", "internal/normalize/rules.go"}, name) { // what cmd may name is in explained
				t.Errorf("%s: only %s has the rule %q", at(n), owner, text)
			}
			if word := formatWords.FindString(text); word != "" && !operates {
				t.Errorf("%s: %q is a word of one agent's format", at(n), word)
			}
			if word := homeWords.FindString(text); word != "" && pkg != "cmd" && pkg != "fixtures" && name != "internal/session/model.go" { // where it is typed and printed, where the sessions lie, and what models are called
				t.Errorf("%s: %q is one agent's", at(n), word)
			}
		})
	})
}

// explained are rules that the command line names in words meant for people: the examples of its help.
var explained = []string{"context-lost", "corrupt-zst", "huge-line", "open-turn", "torn-tail"}

// TestCmdDecidesNothing: package cmd makes no finding and no edit, asks for no rule by its name, and of an impact or a fix
// only whether it is a note, or none; it does not know the packages in which that is decided.
func TestCmdDecidesNothing(t *testing.T) {
	for _, used := range imports(t, "../..")["cmd"] {
		for _, room := range []string{"internal/check", "internal/finding", "internal/normalize"} {
			if below(used, room) {
				t.Errorf("cmd imports %s", used)
			}
		}
	}
	files := 0
	eachFile(t, func(name string, f *ast.File, at func(ast.Node) token.Position) {
		if path.Dir(name) != "cmd" {
			return
		}
		files++
		texts(f, func(n ast.Node, text string) {
			if lint.FindRule(text) != nil && !slices.Contains(explained, text) && !said(f, n) {
				t.Errorf("%s: asks for the rule %q", at(n), text)
			}
		})
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if name := ofLint(n.Type); slices.Contains([]string{"Finding", "Edit", "Rule", "Content", "Cut"}, name) {
					t.Errorf("%s: makes a lint.%s", at(n), name)
				}
			case *ast.BinaryExpr:
				for _, side := range []ast.Expr{n.X, n.Y} {
					if slices.Contains([]string{"Shows", "Loses", "Rejects", "Blocks", "Exact", "Recovered", "StandIn", "SetAside"}, ofLint(side)) {
						t.Errorf("%s: compares with lint.%s", at(n), ofLint(side))
					}
				}
			}
			return true
		})
	})
	if files < 20 {
		t.Errorf("only %d files of cmd were read", files)
	}
}

// ofLint is the name of what an expression takes from package lint, "" if it takes nothing.
func ofLint(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "lint" {
			return s.Sel.Name
		}
	}
	return ""
}

// said says whether a text is no name of a rule but something printed or the tag of a field: it is compared with nothing.
func said(f *ast.File, text ast.Node) bool {
	said := true
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			said = said && n.X != text && n.Y != text
		case *ast.CaseClause:
			for _, e := range n.List {
				said = said && e != text
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "FindRule" {
				said = said && n.Args[0] != text
			}
		}
		return true
	})
	return said
}
