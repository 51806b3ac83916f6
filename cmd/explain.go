package cmd

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/lint"
)

func explainCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "explain", Usage: "say what a rule means, what the agent does with it and what repair does", ArgsUsage: "[RULE ...]",
		Description:  describe("Without RULE it lists all rules."),
		OnUsageError: onUsageError,
		Flags:        []cli.Flag{colorFlag()},
		Action: func(c *cli.Context) error {
			st, err := styled(c, e.out)
			if err != nil {
				return err
			}
			if !c.Args().Present() {
				e.listRules(st)
				return nil
			}
			for i, name := range c.Args().Slice() {
				r := lint.FindRule(name)
				if r == nil {
					return usage("there is no rule %q; hist explain lists them", name)
				}
				if i > 0 {
					fmt.Fprintln(e.out)
				}
				fmt.Fprintf(e.out, "%s: %s\nimpact: %s   fix: %s   family: %s\n\n%s\n", st.bold.Sprint(r.Name), r.Title, r.Impact, r.Fix, r.Family, wrap(r.Text, 100))
			}
			return nil
		},
	}
}

func (e *env) listRules(st *styles) {
	family := ""
	for _, r := range lint.Rules {
		if r.Family != family {
			family = r.Family
			fmt.Fprintf(e.out, "%s\n", st.bold.Sprint(family))
		}
		fmt.Fprintf(e.out, "  %-20s %-8s %-9s %s\n", r.Name, r.Impact, r.Fix, r.Title)
	}
}

// wrap breaks a text into lines of at most so many characters.
func wrap(text string, width int) string {
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
