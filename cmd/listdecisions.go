package cmd

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/decisions"
	"github.com/hist-cli/hist/internal/format"
)

// onlyDecisions returns an error for flags that don't apply to decisions.
func onlyDecisions(c *cli.Context) error {
	if c.Args().Present() {
		return usage("--decisions takes no sessions; --cwd and --since narrow it")
	}
	if c.IsSet("state") {
		return usage("--state and --decisions exclude each other")
	}
	for _, only := range []string{"limit", "health", "verbose"} {
		if c.IsSet(only) {
			return usage("--%s is for sessions, and excludes --decisions", only)
		}
	}
	return nil
}

func (e *env) listDecisions(c *cli.Context, want wanted) error {
	logged, err := decisions.Read()
	if err != nil {
		return err
	}
	chosen := []decisions.Decision{}
	for _, d := range slices.Backward(logged) {
		if (want.cwd == "" || d.CWD == want.cwd) && !d.Time.Before(want.since) {
			chosen = append(chosen, d)
		}
	}
	w := bufio.NewWriter(e.out)
	if c.Bool("json") {
		err = format.Write(w, struct {
			Schema    string               `json:"schema"`
			Decisions []decisions.Decision `json:"decisions"`
		}{"hist.decisions/1", chosen})
	} else {
		err = decisionTable(w, chosen, widthOf(e.out))
		if len(chosen) == 0 {
			fmt.Fprintln(w, "no answer of hist pre-resume is on record")
		}
	}
	return writing("the list", err, w.Flush())
}

// decisionTable prints one decision per line; on a terminal that is too narrow, what came of it goes below.
func decisionTable(w io.Writer, list []decisions.Decision, width int) error {
	narrow := width > 0 && width < minForDecisions
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	row := func(common, wide []string) {
		if !narrow {
			common = append(common, wide...)
		}
		fmt.Fprintln(t, strings.Join(common, "\t"))
	}
	if len(list) > 0 {
		row([]string{"TIME", "VERDICT", "AVAILABLE → USED"}, []string{"DIRECTORY", "ASKED", "CALLER", "OUTCOME"})
	}
	for _, d := range list {
		id, asked := oneLine, strings.TrimSpace(d.Via+" "+strings.Join(d.Asked, " "))
		if narrow {
			id = short
		}
		row(
			[]string{d.Time.Local().Format(time.DateTime), cmp.Or(d.Verdict, "-"), threads(d, id)},
			[]string{clipFront(oneLine(d.CWD), maxCell), cmp.Or(oneLine(asked), "-"), cmp.Or(oneLine(d.Caller), "-"), became(d)},
		)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		if line != "" {
			fmt.Fprintln(w, line)
		}
		if i > 0 && narrow {
			fmt.Fprintln(w, folded("  "+tilde(list[i-1].CWD)+": "+became(list[i-1]), width, 4))
		}
	}
	return nil
}

// minForDecisions is how wide a terminal must be for all columns.
const minForDecisions = 160

// threads says which thread could be resumed, and which was used.
func threads(d decisions.Decision, form func(string) string) string {
	available, used := "-", cmp.Or(d.Used, "?")
	if d.Available != nil {
		available = *d.Available
	}
	return oneLine(form(available) + " → " + form(used))
}

func became(d decisions.Decision) string {
	text := ""
	if d.Repaired {
		text = "repaired; "
	}
	switch {
	case len(d.Ran) == 0 && d.Used != "":
		return text + oneLine(cmp.Or(d.Why, "handed on"))
	case len(d.Ran) == 0:
		return text + "nothing was run"
	case d.Exit == nil:
		return text + "ran " + oneLine(strings.Join(d.Ran, " "))
	}
	return fmt.Sprintf("%sran %s: exit %d", text, oneLine(strings.Join(d.Ran, " ")), *d.Exit)
}
