package cmd

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/fixtures"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/preresume"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

func explainCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "explain", Usage: "say what a rule means, what the agent does with it and what repair does", ArgsUsage: "[RULE ... | WORD | --error TEXT [SESSION]]",
		Description: "Without RULE, it lists all rules; with a word that is the name of none, those that it stands in. With --error and a session, by its id or file, it also names the record that the error is about.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "error", Usage: "explain the `TEXT` of a client's or the model API's error instead, for a session if one is named"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object"},
			colorFlag(),
		},
		Action: func(c *cli.Context) error {
			st, err := styled(c, e.out)
			if err != nil {
				return err
			}
			if c.IsSet("error") {
				if c.Args().Len() > 1 {
					return usage("--error takes one session beside the text: its id or its file")
				}
				if lint.FindRule(c.Args().First()) != nil {
					return usage("--error and %s exclude each other: one is the text of an error, the other a rule", c.Args().First())
				}
				return e.explainError(c, st, c.String("error"), c.Args().First())
			}
			if text := strings.Join(c.Args().Slice(), " "); saysError(c.Args().Slice(), text) {
				return e.explainError(c, st, text, "")
			}
			if c.Bool("json") {
				return e.explainJSON(c.Args().Slice())
			}
			var text bytes.Buffer
			if err := e.explain(c, bufio.NewWriter(&text), st); err != nil {
				return err
			}
			return writing("the explanation", e.paged(text.Bytes()))
		},
	}
}

// saysError says whether words are the text of an error, in quotes or without them: it is known as one, or is too long to be a name.
func saysError(words []string, text string) bool {
	if slices.ContainsFunc(words, func(w string) bool { return lint.FindRule(w) != nil || termExplained(w) != nil }) || len(rulesWith(text)) > 0 {
		return false
	}
	return preresume.Explain(text) != nil || strings.Count(text, " ") > 1
}

// ruleNamed finds a rule, or says which may be meant.
func ruleNamed(name string) (*lint.Rule, error) {
	r, with := lint.FindRule(name), rulesWith(name)
	switch {
	case r != nil:
		return r, nil
	case len(with) == 1:
		return with[0], nil
	}
	return nil, usage("there is no rule %q%s", name, meantOr(name, ruleNames(), "; hist explain lists them"))
}

// explained is the documented form of a rule. In a list of all, Text is left out.
type explained struct {
	Rule   string   `json:"rule"`
	Title  string   `json:"title"`
	Family string   `json:"family"`
	Impact string   `json:"impact"`
	Fix    string   `json:"fix"`
	Agents []string `json:"agents"`
	Text   string   `json:"text,omitempty"`
}

// explainedWord is the documented form of an impact or a kind of fix.
type explainedWord struct {
	Word    string `json:"word"`
	Kind    string `json:"kind"`
	Meaning string `json:"meaning"`
}

// explainedError is the documented form of an explained error.
type explainedError struct {
	Schema string               `json:"schema"`
	Error  *preresume.ErrorHint `json:"error"`
	Answer *preresume.Answer    `json:"session,omitempty"` // what hist pre-resume says of the session, if one is known
	Next   []string             `json:"next,omitempty"`
}

// explainJSON explains what is named, or lists all rules.
func (e *env) explainJSON(names []string) error {
	out := struct {
		Schema string          `json:"schema"`
		Rules  []explained     `json:"rules"`
		Words  []explainedWord `json:"words,omitempty"`
	}{Schema: "hist.explain/1", Rules: []explained{}}
	add := func(r *lint.Rule, text string) {
		out.Rules = append(out.Rules, explained{
			Rule: r.Name, Title: r.Title, Family: r.Family, Impact: r.Impact.String(), Fix: r.Fix.String(), Agents: lint.Agents(r), Text: text,
		})
	}
	list := severalRules(names)
	for _, r := range list {
		add(r, "")
	}
	if list != nil {
		return format.Write(e.out, out)
	}
	for _, name := range names {
		if word := termExplained(name); word != nil {
			out.Words = append(out.Words, *word)
			continue
		}
		r, err := ruleNamed(name)
		if err != nil {
			return err
		}
		add(r, lint.Described(r))
	}
	return format.Write(e.out, out)
}

// severalRules are the rules that are listed and not explained: all if nothing is named, or those in which a single word stands that
// is the name of none; nil if what is named is to be explained.
func severalRules(names []string) []*lint.Rule {
	switch {
	case len(names) == 0:
		return lint.Rules
	case len(names) > 1 || lint.FindRule(names[0]) != nil:
		return nil
	}
	if with := rulesWith(names[0]); len(with) > 1 {
		return with
	}
	return nil
}

// explain writes what the rules that were asked for mean.
func (e *env) explain(c *cli.Context, w *bufio.Writer, st *styles) error {
	width, names := widthOf(e.out), c.Args().Slice()
	if list := severalRules(names); list != nil {
		listRules(w, st, list, width)
		return w.Flush()
	}
	for i, name := range names {
		if word := termExplained(name); word != nil {
			fmt.Fprintln(w, folded(fmt.Sprintf("%s, %s: %s", word.Word, word.Kind, word.Meaning), width, 2))
			continue
		}
		r, err := ruleNamed(name)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		facts := fmt.Sprintf("impact: %s   fix: %s   family: %s   agent: %s", r.Impact, r.Fix, r.Family, strings.Join(lint.Agents(r), ", "))
		fmt.Fprintf(w, "%s: %s\n%s\n\n%s\n", st.bold.Sprint(r.Name), r.Title, folded(facts, width, 0), wrap(lint.Described(r), proseIn(width)))
		if err := example(c.Context, w, r, st, width); err != nil {
			return err
		}
	}
	return w.Flush()
}

// termExplained says what an impact or a kind of fix means, as lint prints it; nil for another word.
func termExplained(word string) *explainedWord {
	if i, err := lint.ParseImpact(word); err == nil {
		return &explainedWord{word, "an impact", i.Meaning()}
	}
	if f, err := lint.ParseFix(word); err == nil {
		return &explainedWord{word, "a kind of fix", f.Meaning()}
	}
	return nil
}

// rulesWith are the rules in whose name or title a word stands.
func rulesWith(word string) (list []*lint.Rule) {
	if len(word) < 3 {
		return nil
	}
	for _, r := range lint.Rules {
		if word = strings.ToLower(word); strings.Contains(r.Name, word) || strings.Contains(strings.ToLower(r.Title), word) {
			list = append(list, r)
		}
	}
	return list
}

// explainError explains the error of a failed resume, for a session if one is named. An unknown error is not a success.
func (e *env) explainError(c *cli.Context, st *styles, text, session string) error {
	hint := preresume.Explain(text)
	if hint == nil {
		return &exitError{ExitIO, errors.New("this error is not known: it matches neither what the clients say nor any text with which an API is known to refuse, alone or wrapped in JSON; " +
			"hist lint SESSION says whether the session is damaged, hist pre-resume SESSION whether its client reads it")}
	}
	operand := cmp.Or(session, preresume.SessionIn(text))
	if c.Bool("json") {
		return e.explainErrorJSON(c, hint, text, session, operand)
	}
	w := bufio.NewWriter(e.out)
	name := cmp.Or(hint.Rule, string(hint.Verdict))
	again := map[string]string{
		"now": "can be tried again at once", "later": "can be tried again later", "after_repair": "can be tried again after hist repair --in-place",
		"after_upgrade": "can be tried again with a newer client or another configuration", "no": "is refused again until the next step is made",
	}[hint.Same]
	width := widthOf(e.out)
	fmt.Fprintln(w, folded(fmt.Sprintf("%s: %s", st.bold.Sprint(name), oneLine(hint.Meaning)), width, 2))
	fmt.Fprintf(w, "The same thread %s.\n", again)
	for _, other := range hint.Others {
		fmt.Fprintln(w, folded("The text also says: "+oneLine(other), width, 2))
	}
	if operand == "" { // else the answer about the session says it
		fmt.Fprintln(w, folded("Next: "+hint.Next(""), width, 2))
	}
	if hint.Rule != "" {
		fmt.Fprintf(w, "More: hist explain %s\n", hint.Rule)
	}
	if err := writing("the explanation", w.Flush()); err != nil || operand == "" {
		return err
	}
	return e.explainIn(c, text, operand, hint, session == "")
}

// explainIn answers what the error means for one session. It asks the way that pre-resume does. found says that nobody named the
// session but the error itself: where it is not found, that is part of the answer and no failure.
func (e *env) explainIn(c *cli.Context, text, operand string, hint *preresume.ErrorHint, found bool) error {
	list, err := targets(c.Context, []string{operand}, "")
	if err != nil {
		return err
	}
	t := list[0]
	if t.err != nil && found && hint.OfAPI() {
		fmt.Fprintln(e.out, folded("Next: "+hint.Next(""), widthOf(e.out), 2))
		return nil
	}
	if t.err != nil {
		next := hint.Next(operand)
		if hint.Verdict == preresume.NotFound { // what would look at the file finds none either
			next = "look for its file in a backup or another home (hist list DIRECTORY lists what is there), and put it back; without one there is nothing to repair"
		}
		fmt.Fprintln(e.out, folded("Next: "+next, widthOf(e.out), 2))
		fmt.Fprintln(e.out, oneLine(t.err.Error()))
		if found {
			return nil
		}
		return exit(ExitIO)
	}
	a := e.answerTo(c, text, t)
	w := bufio.NewWriter(e.out)
	words(w, a, widthOf(e.out))
	return writing("the explanation", w.Flush())
}

// answerTo is what hist pre-resume says of a session after an error.
func (e *env) answerTo(c *cli.Context, text string, t target) *preresume.Answer {
	p := &preRun{env: e, c: c, failure: text}
	a, err := p.answer(t)
	if err != nil {
		a = preresume.Unreadable(t.path, err)
	}
	a.Command = nextOf(a)
	return a
}

// explainErrorJSON explains an error, for a session if one is named or the error names one that is there.
func (e *env) explainErrorJSON(c *cli.Context, hint *preresume.ErrorHint, text, session, operand string) error {
	out := explainedError{Schema: "hist.explain/1", Error: hint}
	if operand != "" {
		list, err := targets(c.Context, []string{operand}, "")
		if err != nil {
			return err
		}
		switch t := list[0]; {
		case t.err == nil:
			out.Answer = e.answerTo(c, text, t)
		case session != "" || !hint.OfAPI():
			out.Answer = preresume.Missing(t.err)
		}
		if out.Answer != nil {
			out.Next = out.Answer.Command
		}
	}
	return format.Write(e.out, out)
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
	p.edits(rep)
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

// listRules lists rules by families; on a terminal, their names, impacts and titles in lines that fit.
func listRules(w *bufio.Writer, st *styles, list []*lint.Rule, width int) {
	row := func(name, impact, fix, agents, title string) {
		if width > 0 {
			fmt.Fprintln(w, clip(fmt.Sprintf("  %-20s  %-7s  %s", name, impact, title), width))
			return
		}
		fmt.Fprintf(w, "  %-20s  %-7s  %-9s  %-11s  %s\n", name, impact, fix, agents, title)
	}
	row("RULE", "IMPACT", "FIX", "AGENT", "WHAT IT FINDS")
	var families []string
	rules := map[string][]*lint.Rule{}
	for _, r := range list { // agents share some families
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
		paragraphs[i] = folded(strings.Join(strings.Fields(p), " "), width, 0)
	}
	return strings.Join(paragraphs, "\n\n")
}
