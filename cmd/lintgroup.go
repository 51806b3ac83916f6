package cmd

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/glance"
)

// grouping is how findings are shown session by session, on a terminal.
type grouping struct {
	ctx    context.Context
	width  int // in columns; 0: as long as they are
	titles *titles
	began  bool
}

// head says whose findings follow: the session's id and title, then where and when it was; a session in no home by its file.
func (g *grouping) head(p *textPrinter, r *linted) {
	if g.began {
		fmt.Fprintln(p.w)
	}
	g.began = true
	s, err := glance.Look(g.ctx, r.target.path, glance.Options{Content: true})
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

// ago tells a time ago in words.
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

var plainOperand = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+~-]+$`)

// quoteOperand is an operand as a shell takes it.
func quoteOperand(s string) string {
	if plainOperand.MatchString(s) && !strings.HasPrefix(s, "~") {
		return s
	}
	return "'" + strings.ReplaceAll(oneLine(s), "'", `'\''`) + "'"
}
