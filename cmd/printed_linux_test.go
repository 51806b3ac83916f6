package cmd

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// printed is a command that hist prints for somebody to type: what stands behind hist, and whether a word of it stands for something
// that only its reader knows.
type printed struct {
	line     string
	words    []string
	template bool
}

var (
	histForm   = regexp.MustCompile(`(?:^|[\s(;:"'` + "`" + `])hist( [a-z-]+)`)
	standsFor  = regexp.MustCompile(`^[A-Z][A-Z_]*$|^\.\.\.$|^…$`)
	operand    = regexp.MustCompile(`^~?[^ ]*/|^\.\.?$|^[0-9a-fA-F]{8}(-[0-9a-fA-F-]*)?$|^20\d{6}T\d{6}Z-|\.jsonl$`)
	typed      = regexp.MustCompile(`(?m)^\$.*`)
	clientForm = regexp.MustCompile(`(?m)^ *(?:[a-z]+:?  *)?(?:cd (\S+) && )?(?:codex (?:unarchive|resume)|claude --resume|pi --session) ([0-9a-f-]{36})$`)
)

// printedIn finds the commands in a text: each hist with the name of a command behind it, and of what follows all that can't be a
// word of the sentence around it.
func printedIn(app *cli.App, text string) (list []printed) {
	for _, at := range histForm.FindAllStringSubmatchIndex(text, -1) {
		command := app.Command(strings.TrimSpace(text[at[2]:at[3]]))
		if command == nil {
			continue // a sentence: hist finds, hist knows
		}
		p := printed{words: []string{command.Name}}
		known, of := flagsOf(command.Flags), completedCommand{}
		for _, c := range completed(app) {
			if c.Name == command.Name {
				of = c
			}
		}
		value := false // the next word is the value of a flag
		rest, _, _ := strings.Cut(text[at[3]:], "\n")
		for rest != "" && rest[0] == ' ' && !strings.HasPrefix(rest, "  ") {
			word, behind, quoted := shellWord(rest[1:])
			if name, code, ok := strings.Cut(word, "`"); ok { // the end of code in a page
				word, behind = name+"`", code
			}
			bare := strings.TrimRight(word, ",;:.)?\"`")
			ends := !quoted && bare != word && word != "." && word != ".."
			if ends {
				word = bare
			}
			switch {
			case word == "":
			case value, quoted, standsFor.MatchString(word), operand.MatchString(word), len(p.words) == 1 && slices.Contains(of.Values, word):
				p.template = p.template || standsFor.MatchString(word)
				value = false
			case len(word) > 1 && word[0] == '-':
				_, value = known.part(word)
			default:
				word = ""
			}
			if word == "" {
				break
			}
			p.words = append(p.words, word)
			rest = behind
			if ends {
				break
			}
		}
		p.line = "hist " + strings.Join(p.words, " ")
		list = append(list, p)
	}
	return list
}

// shellWord is the first word of a line as a shell reads it, and the rest of the line.
func shellWord(line string) (word, rest string, quoted bool) {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ':
			return word, line[i:], quoted
		case c == '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 || i > 0 && !quoted && word != "" && !strings.HasSuffix(word, "=") { // an apostrophe
				word += "'"
				continue
			}
			word, quoted = word+line[i+1:i+1+end], true
			i += end + 1
		case c == '\\' && i+1 < len(line):
			i++
			word += line[i : i+1]
		default:
			word += line[i : i+1]
		}
	}
	return word, "", quoted
}

// known says what is wrong with a printed command by its words alone; "" if nothing is.
func (p *printed) unknown(app *cli.App) string {
	command := app.Command(p.words[0])
	known := flagsOf(append(slices.Clone(command.Flags), cli.HelpFlag))
	for i := 1; i < len(p.words) && p.words[i] != "--"; i++ {
		word := p.words[i]
		if !strings.HasPrefix(word, "-") || word == "-" {
			continue
		}
		parts, wants := known.part(word)
		for _, part := range parts {
			name, _, _ := strings.Cut(strings.TrimLeft(part, "-"), "=")
			if _, ok := known[name]; strings.HasPrefix(part, "-") && !ok {
				return "there is no flag " + part
			}
		}
		if wants {
			i++
			if i == len(p.words) {
				return word + " has no value"
			}
		}
	}
	return ""
}

// TestPrintedCommands: a command that is printed is one that the command line takes. Those in what the situations of the first hour
// print are run, too, where their reader would: see tried.
func TestPrintedCommands(t *testing.T) {
	app := newApp(&env{})
	var files []string
	for _, pattern := range []string{"testdata/first-hour/*.txt", "../docs/*.md", "../docs/rules/*.md", "../docs/dev/*.md", "../README.md", "../CONTRIBUTING.md", "../docs/hooks/*", "plugin/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	n := 0
	for _, path := range append(files, sources(t)...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		switch filepath.Ext(path) {
		case ".txt":
			text = typed.ReplaceAll(text, nil)
		case ".go":
			text = []byte(strings.NewReplacer(`\n`, "\n", `\t`, " ", `\"`, `"`).Replace(string(text)))
		}
		for _, p := range printedIn(app, string(text)) {
			n++
			if why := p.unknown(app); why != "" {
				t.Errorf("%s: %s: %s", path, p.line, why)
			}
		}
	}
	if n < 500 {
		t.Errorf("only %d commands were found", n)
	}
}

// sources are the files of the program, which hold the words that it prints.
func sources(t *testing.T) (list []string) {
	for _, dir := range []string{".", "../lint", "../repair", "../internal"} {
		if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				list = append(list, path)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// tried runs the commands that stand in what was printed, each from where the user is and as if the others had not been run: none is
// refused as wrong, and none finds less than what was spoken of. What they print is not part of the situation.
func (s *situation) tried(text string) {
	text = colourForm.ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), "")
	var lines []string
	for _, p := range printedIn(newApp(&env{}), text) {
		if !p.template && !slices.Contains([]string{"watch", "shim", "man", "completion"}, p.words[0]) {
			lines = append(lines, strings.ReplaceAll("hist "+quotedWords(p.words), "--wait 2m", "--wait 1ms"))
		}
	}
	for _, m := range clientForm.FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(m[1]); m[1] != "" && err != nil {
			s.t.Errorf("%q goes where nothing is: %v", m[0], err)
		}
		if !strings.Contains(text, m[0]+"\n        once the file is in") {
			lines = append(lines, "hist pre-resume "+m[2])
		}
	}
	lines = slices.DeleteFunc(lines, func(l string) bool { return slices.Contains(s.runs, l) })
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if len(lines) == 0 {
		return
	}
	s.runs = append(s.runs, lines...)
	kept := s.t.TempDir()
	s.must(exec.Command("cp", "-a", s.home+"/.", kept).Run())
	types := s.types
	for _, line := range lines {
		s.types = ""
		if out, code := s.run(line); (code == ExitUsage || code == ExitIO) && !leadsOn(line, out) {
			s.t.Errorf("%s is printed, and ends with exit code %d:\n%s", line, code, out)
		}
		s.restore(kept)
	}
	s.types = types
}

// leadsOn says whether a command that fails where it is printed is one of those few that may: what it prints names the step to
// take first, or it is told of what will be.
func leadsOn(line, out string) bool {
	switch line {
	case "hist undo": // said of the repair that is asked for
		return strings.Contains(out, "nothing to undo")
	case "hist list", "hist doctor": // where there are no sessions
		return strings.Contains(out, "looks there then")
	}
	return strings.Contains(out, "set XDG_STATE_HOME to use another")
}

func quotedWords(words []string) string {
	var out []string
	for _, w := range words {
		if strings.ContainsAny(w, " '\"$&;|<>*?()\\`") || w == "" {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// restore makes the home as it was when it was copied. What somebody has open stays the same file.
func (s *situation) restore(kept string) {
	s.must(filepath.WalkDir(s.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(s.home, path)
		if err != nil {
			return err
		}
		if _, err := os.Lstat(filepath.Join(kept, rel)); err == nil {
			return nil
		}
		if err := os.RemoveAll(path); err != nil || !d.IsDir() {
			return err
		}
		return filepath.SkipDir
	}))
	s.must(exec.Command("cp", "-a", kept+"/.", s.home).Run())
}
