package cmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/timeline"
)

// grouping is how findings are shown session by session, on a terminal.
type grouping struct {
	ctx    context.Context
	width  int // in columns; 0: lines are not folded
	titles *titles
	began  bool
}

// head prints whose findings follow: the session's id and title, then its directory and age; for a session in no home, its
// file.
func (g *grouping) head(p *textPrinter, r *linted) {
	if g.began {
		fmt.Fprintln(p.w)
	}
	g.began = true
	s, err := timeline.Look(g.ctx, r.target.path, timeline.LookOptions{Content: true})
	if r.beside || r.target.path == "-" || err != nil {
		fmt.Fprintln(p.w, p.st.path.Sprint(oneLine(apartFromCommands(r.target.path))))
		return
	}
	id := shortOf(s.Thread, s.Path)
	title := g.titles.of(g.ctx, s, r.target.home)
	if g.width > 0 {
		title = clip(title, g.width-len(id)-2)
	}
	fmt.Fprintln(p.w, strings.TrimRight(p.st.path.Sprint(id)+"  "+title, " "))
	where := []string{tilde(s.CWD), ago(time.Since(s.Modified))}
	if r.target.home == "" || p.verbose {
		where = append(where, oneLine(r.target.path))
	}
	fmt.Fprintln(p.w, "  "+p.st.dim.Sprint(strings.TrimLeft(strings.Join(where, ", "), ", ")))
}

// ago is a time ago in words.
func ago(d time.Duration) string {
	for _, u := range []struct {
		unit      time.Duration
		one, many string
	}{{24 * time.Hour, "day", "days"}, {time.Hour, "hour", "hours"}, {time.Minute, "minute", "minutes"}} {
		if d >= u.unit {
			return count(int64(d/u.unit), u.one, u.many) + " ago"
		}
	}
	return "just now"
}

// repairOfSame is the repair command for the same sessions, judged in the same way, as a lint.
func repairOfSame(c *cli.Context) []string {
	var words []string
	if c.Bool("last") {
		words = append(words, "--last")
	}
	flags := []string{"agent", "provider"}
	for _, name := range all.Names() {
		flags = append(flags, "for-"+name)
	}
	for _, flag := range flags {
		if c.IsSet(flag) {
			words = append(words, "--"+flag, c.String(flag))
		}
	}
	for _, o := range c.Args().Slice() {
		words = append(words, operandOf(o))
	}
	return words
}

// operandOf is a path or an id to paste as an operand: a path that begins like a flag can't be taken for one.
func operandOf(s string) string {
	if strings.HasPrefix(s, "-") && s != "-" {
		return "./" + s
	}
	return s
}
