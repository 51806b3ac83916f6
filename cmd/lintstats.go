package cmd

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// statsPrinter counts findings instead of naming them: by rule, by the version of the client, and by month.
type statsPrinter struct {
	ctx      context.Context
	w        *bufio.Writer
	notes    bool
	rules    map[string]int64
	versions map[string]*tally
	months   map[string]*tally
}

// tally is how many sessions there are, and how many of them are damaged.
type tally struct{ sessions, damaged int64 }

func (p *statsPrinter) session(r linted) error {
	if r.result == nil {
		return nil // the reason has been printed
	}
	damaged := false
	for i := range r.result.Findings {
		f := &r.result.Findings[i]
		if f.Impact != lint.Notes || p.notes {
			p.rules[f.Rule.Name] += max(1, f.Count)
		}
		damaged = damaged || f.Impact != lint.Notes
	}
	if r.beside {
		return nil
	}
	count := func(in map[string]*tally, key string) {
		if in[key] == nil {
			in[key] = &tally{}
		}
		in[key].sessions++
		if damaged {
			in[key].damaged++
		}
	}
	count(p.versions, cmp.Or(oneLine(r.result.Summary.Header.Version), "unknown"))
	count(p.months, p.month(r.target.path))
	return nil
}

// month is the month in which a session was begun, by its name or else its first record.
func (p *statsPrinter) month(path string) string {
	const form = "2006-01"
	if name := lint.NameOf(path, false); len(name.Time) >= len(form) {
		return name.Time[:len(form)]
	}
	if path != "-" {
		if s, err := timeline.Look(p.ctx, path, timeline.LookOptions{}); err == nil && !s.Created.IsZero() {
			return s.Created.UTC().Format(form)
		}
	}
	return "unknown"
}

func (p *statsPrinter) end() error {
	t := tabwriter.NewWriter(p.w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "RULE\tIMPACT\tFINDINGS")
	byCount := func(a, b string) int { return cmp.Or(cmp.Compare(p.rules[b], p.rules[a]), cmp.Compare(a, b)) }
	for _, name := range slices.SortedFunc(maps.Keys(p.rules), byCount) {
		fmt.Fprintf(t, "%s\t%s\t%d\n", name, lint.FindRule(name).Impact, p.rules[name])
	}
	for _, table := range []struct {
		head string
		rows map[string]*tally
	}{{"CLIENT", p.versions}, {"MONTH", p.months}} {
		fmt.Fprintf(t, "\n%s\tSESSIONS\tDAMAGED\n", table.head)
		for _, key := range slices.Sorted(maps.Keys(table.rows)) {
			fmt.Fprintf(t, "%s\t%d\t%d\n", key, table.rows[key].sessions, table.rows[key].damaged)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return p.w.Flush()
}
