package cmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/fixtures"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/preresume"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

func explainCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "explain", Usage: "say what a rule means, what the agent does with it and what repair does", ArgsUsage: "[RULE ...]",
		Description:  "Without RULE, it lists all rules.",
		OnUsageError: onUsageError,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "error", Usage: "explain the `TEXT` of a client's or the model API's error instead"},
			colorFlag(),
		},
		Action: func(c *cli.Context) error {
			st, err := styled(c, e.out)
			if err != nil {
				return err
			}
			w := bufio.NewWriter(e.out)
			if c.IsSet("error") {
				if c.Args().Present() {
					return usage("--error and %s exclude each other: one is the text of an error, the other a rule", c.Args().First())
				}
				return explainError(w, st, c.String("error"))
			}
			if !c.Args().Present() {
				listRules(w, st)
			}
			for i, name := range c.Args().Slice() {
				r := lint.FindRule(name)
				if r == nil {
					if strings.Contains(name, " ") { // no rule's name has one
						return usage("there is no rule %q; for the text of an error, use hist explain --error", name)
					}
					return usage("there is no rule %q%s", name, meantOr(name, ruleNames(), "; hist explain lists them"))
				}
				if i > 0 {
					fmt.Fprintln(w)
				}
				width := widthOf(e.out)
				facts := fmt.Sprintf("impact: %s   fix: %s   family: %s   agent: %s", r.Impact, r.Fix, r.Family, strings.Join(lint.Agents(r), ", "))
				fmt.Fprintf(w, "%s: %s\n%s\n\n%s\n", st.bold.Sprint(r.Name), r.Title, folded(facts, width, 0), wrap(lint.Described(r), proseIn(width)))
				if err := example(c.Context, w, r, st, width); err != nil {
					return err
				}
			}
			if err := w.Flush(); err != nil {
				return fmt.Errorf("writing the explanation: %w", err)
			}
			return nil
		},
	}
}

// explainError explains the error of a failed resume. An unknown error is not a success.
func explainError(w *bufio.Writer, st *styles, text string) error {
	hint := preresume.Explain(text)
	if hint == nil {
		return &exitError{ExitIO, errors.New("this error is not known; hist lint ID says whether the session is damaged")}
	}
	name := hint.Rule
	if name == "" {
		name = string(hint.Verdict)
	}
	again := map[string]string{
		"now": "can be tried again at once", "later": "can be tried again later", "after_repair": "can be tried again after hist repair --in-place",
		"after_upgrade": "can be tried again with a newer client", "no": "needs another step first",
	}[hint.Same]
	fmt.Fprintf(w, "%s: %s\nThe same thread %s.\n", st.bold.Sprint(name), hint.Meaning, again)
	if hint.Rule != "" {
		fmt.Fprintf(w, "More: hist explain %s\n", hint.Rule)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("writing the explanation: %w", err)
	}
	return nil
}

// example repairs the rule's damaged session and shows what was found and changed, in lines of at most width columns; 0: of any
// length. Some rules have no example small enough.
func example(ctx context.Context, w *bufio.Writer, r *lint.Rule, st *styles, width int) error {
	text, name, err := exampleOf(r.Name)
	if err != nil {
		return nil //nolint:nilerr // a rule without an example is fine
	}
	src, err := source.Stdin(bytes.NewReader(text), "")
	if err != nil {
		return fmt.Errorf("making room for the example: %w", err)
	}
	defer src.Close()
	src.Path = "example.jsonl"
	rep, err := repair.Do(ctx, repair.Job{
		Source: src, Lint: lint.Options{Name: name}, Mode: repair.DryRun, Instead: repair.ToFile, Output: name.Base, Choice: repair.Choice{Rules: []string{r.Name}},
	})
	if err != nil {
		return fmt.Errorf("the example of %s: %w", r.Name, err)
	}
	fmt.Fprintf(w, "\n%s\n", st.bold.Sprint("Example"))
	p := &reportPrinter{w: w, st: st, content: true, width: width}
	for _, l := range rep.Left {
		if l.Rule == r.Name {
			fmt.Fprintln(p.w, folded(fmt.Sprintf("  line %d: %s", l.Line, oneLine(l.Reason)), width, 4))
		}
	}
	for i := range rep.Edits {
		p.edit(&rep.Edits[i])
	}
	return nil
}

// exampleOf reads a rule's example and the name that its file is taken to have.
func exampleOf(rule string) ([]byte, lint.Name, error) {
	dir := fixtures.RuleDir(rule)
	text, err := fixtures.Rules.ReadFile(dir + "/bad.jsonl")
	if err != nil {
		return nil, lint.Name{}, err
	}
	base, err := fixtures.Rules.ReadFile(dir + "/bad.name")
	if err != nil {
		return text, lint.Name{}, nil
	}
	return text, lint.NameOf(strings.Fields(string(base))[0], true), nil
}

func listRules(w *bufio.Writer, st *styles) {
	row := func(name, impact, fix, agents, title string) {
		fmt.Fprintf(w, "  %-20s  %-7s  %-9s  %-11s  %s\n", name, impact, fix, agents, title)
	}
	row("RULE", "IMPACT", "FIX", "AGENT", "WHAT IT FINDS")
	var families []string
	rules := map[string][]*lint.Rule{}
	for _, r := range lint.Rules { // agents share some families
		if rules[r.Family] == nil {
			families = append(families, r.Family)
		}
		rules[r.Family] = append(rules[r.Family], r)
	}
	for _, family := range families {
		fmt.Fprintf(w, "%s\n", st.bold.Sprint(family))
		for _, r := range rules[family] {
			agents := "all"
			if of := lint.Agents(r); len(of) < len(all.Agents) {
				agents = strings.Join(of, ", ")
			}
			row(r.Name, r.Impact.String(), r.Fix.String(), agents, r.Title)
		}
	}
}

// wrap breaks each paragraph of a text into lines of at most so many characters.
func wrap(text string, width int) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = wrapParagraph(p, width)
	}
	return strings.Join(paragraphs, "\n\n")
}

// wrapParagraph breaks a text into lines of at most so many characters.
func wrapParagraph(text string, width int) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(text) {
		if i > 0 && n+1+len(word) > width {
			b.WriteByte('\n')
			n = 0
		} else if i > 0 {
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += len(word)
	}
	return b.String()
}
