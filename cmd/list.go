package cmd

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/internal/walk"
)

func listCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "list sessions, newest first, and how their last turns ended", ArgsUsage: "[PATH|ID ...]",
		Description: "Reads the head and the tail of each session, and lints it for its health. Without PATH or ID: all sessions in the\nagents' homes. States of a turn: completed, interrupted, failed, open (it never ended), unanswered, none.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "cwd", Usage: "only sessions that work in this `DIRECTORY`"},
			&cli.StringFlag{Name: "since", Usage: "only sessions changed since a `TIME`: 90m, 24h, 7d, or a date such as 2026-11-01"},
			&cli.StringFlag{Name: "state", Usage: "only sessions whose last turn is in this `STATE`; separate several by commas"},
			&cli.StringFlag{Name: "agent", Usage: "only sessions of this `AGENT`: " + strings.Join(all.Names(), " or ")},
			&cli.IntFlag{Name: "limit", Usage: "at most this `NUMBER`, the newest (20 on a terminal, otherwise all)", DefaultText: "20 on a terminal"},
			&cli.BoolFlag{Name: "health", Usage: "lint each listed session of up to 24 MiB and show the result (with --json only if this is given; --health=false leaves it out)"},
			noTitlesFlag(),
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "also show size, branch and model"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object; it has no titles"},
			colorFlag(),
			&cli.BoolFlag{Name: "decisions", Usage: "list instead what pre-resume was asked and what it answered"},
		},
		Action: e.list,
	}
}

type wanted struct {
	agent  string
	cwd    string
	since  time.Time
	states []string
}

func (e *env) list(c *cli.Context) error {
	c.Context = walk.Remember(c.Context)
	want, err := wantedOf(c, time.Now())
	if err != nil {
		return err
	}
	if c.Bool("decisions") {
		if err := onlyDecisions(c); err != nil {
			return err
		}
		return e.listDecisions(c, want)
	}
	paths, homes, unread, err := e.listed(c)
	if err != nil {
		return err
	}
	conf, err := loadConfig(c)
	if err != nil {
		return err
	}
	table := newListTable(c, e, conf, homes)
	if table.st, err = styled(c, e.out); err != nil {
		return err
	}
	var found []*timeline.Glance
	looked := 0 // how many sessions were looked at
	for _, r := range timeline.LookMany(c.Context, paths, timeline.LookOptions{Content: !c.Bool("json") && !table.titles.off}) {
		if r.Err != nil {
			unread = true
			e.report(r.Err)
			continue
		}
		looked++
		table.goesOn(r.Session)
		if want.session(r.Session) {
			found = append(found, r.Session)
		}
	}
	if err := c.Context.Err(); err != nil {
		return err
	}
	slices.SortStableFunc(found, func(a, b *timeline.Glance) int { return b.Modified.Compare(a.Modified) })
	if !c.Bool("json") {
		found = table.threads(found)
	}
	more := 0
	if table.limit > 0 && len(found) > table.limit {
		more, found = len(found)-table.limit, found[:table.limit]
	}
	w := bufio.NewWriter(e.out)
	switch {
	case c.Bool("json"):
		err = listJSON(w, found, table)
	case looked > 0 || !unread: // otherwise the errors have said everything
		err = table.write(w, found, more, time.Now())
	}
	if err := writing("the list", err, w.Flush()); err != nil {
		return err
	}
	if unread {
		return exit(ExitIO)
	}
	return nil
}

// listed are the files of the sessions to be listed, without parts of other sessions, and the homes that they are in. unread
// says that some could not be looked at, and that this was reported.
func (e *env) listed(c *cli.Context) (paths []string, homes map[string]string, unread bool, err error) {
	list, err := e.targets(c.Context, c.Args().Slice(), c.String("agent"))
	if err != nil {
		return nil, nil, false, err
	}
	homes = map[string]string{}
	for _, t := range list {
		switch {
		case all.Part(t.path):
		case t.err != nil:
			unread = true
			e.report(t.err)
		case t.path == "-":
			return nil, nil, false, usage("list takes files, directories and ids, not standard input")
		default:
			paths = append(paths, t.path)
			homes[t.path] = t.home
		}
	}
	return paths, homes, unread, nil
}

func wantedOf(c *cli.Context, now time.Time) (w wanted, err error) {
	if n := c.Int("limit"); n < 0 {
		return w, usage("--limit is %d; it takes a number of sessions", n)
	}
	if w.agent = c.String("agent"); w.agent != "" && all.Named(w.agent) == nil {
		return w, usage("--agent is %q; it takes %s", w.agent, strings.Join(all.Names(), " or "))
	}
	if dir := c.String("cwd"); dir != "" {
		if w.cwd, err = filepath.Abs(dir); err != nil {
			return w, err
		}
	}
	if text := c.String("since"); text != "" {
		if w.since, err = since("--since", text, now); err != nil {
			return w, err
		}
	}
	for _, s := range strings.FieldsFunc(c.String("state"), func(r rune) bool { return r == ',' || r == ' ' }) {
		switch timeline.TurnState(s) {
		case timeline.NoTurn, timeline.Completed, timeline.Interrupted, timeline.Failed, timeline.Open, timeline.Unanswered:
			w.states = append(w.states, s)
		default:
			return w, usage("--state: there is no state %q; there are completed, interrupted, failed, open, unanswered and none", s)
		}
	}
	return w, nil
}

// since parses a time ago or a date.
func since(flag, text string, now time.Time) (time.Time, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if d, err := time.ParseDuration(days + "h"); err == nil && d.Abs() <= math.MaxInt64/24 {
			return now.Add(-24 * d), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil {
		return now.Add(-d), nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(form, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usage("%s is %q; it takes a time ago, such as 90m, 24h or 7d, or a date such as 2026-11-01", flag, text)
}

func (w wanted) session(s *timeline.Glance) bool {
	return (w.agent == "" || w.agent == s.Agent.Name) && (w.cwd == "" || s.CWD == w.cwd || s.Header.CWD == w.cwd) && !s.Modified.Before(w.since) &&
		(len(w.states) == 0 || slices.Contains(w.states, string(s.Turn.State)))
}

// age is a time ago in one unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

func bytesOf(n int64) string {
	const unit = 1024
	f, name := float64(n), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if f < unit {
			break
		}
		f, name = f/unit, next
	}
	if name == "B" || f >= 100 {
		return fmt.Sprintf("%.0f %s", f, name)
	}
	return fmt.Sprintf("%.1f %s", f, name)
}

// listedSession is the documented form of a session in a list.
type listedSession struct {
	Agent     string   `json:"agent"`
	Thread    string   `json:"thread_id"`
	Path      string   `json:"path"`
	CWD       string   `json:"cwd"`
	Branch    string   `json:"branch,omitempty"`
	Model     string   `json:"model,omitempty"`
	Provider  string   `json:"provider,omitempty"`
	Source    string   `json:"source,omitempty"`
	Version   string   `json:"cli_version,omitempty"`
	Mode      string   `json:"history_mode,omitempty"`
	Created   string   `json:"created,omitempty"`
	Modified  string   `json:"modified"`
	Size      int64    `json:"size"`
	Turn      lastTurn `json:"last_turn"`
	Resumable bool     `json:"resumable"`
	Obstacle  string   `json:"obstacle,omitempty"`
	Health    string   `json:"health,omitempty"` // with --health
	Repaired  string   `json:"repaired_as,omitempty"`
	CopyOf    string   `json:"copy_of,omitempty"`
	Continued string   `json:"continued_in,omitempty"` // the file with which a revert replaced it
	Next      []string `json:"next"`                   // the command to run now: the resume, or what says why there is none
}

// lastTurn is the documented form of a session's last turn.
type lastTurn struct {
	State      string `json:"state"`
	Began      string `json:"began,omitempty"`
	Last       string `json:"last_record,omitempty"`
	ErrorClass string `json:"error_class,omitempty"`
	Error      string `json:"error,omitempty"`
	Complete   bool   `json:"complete"`
}

func lastTurnOf(s *timeline.Glance) lastTurn {
	return lastTurn{
		State: string(s.Turn.State), Began: stamp(s.Turn.Began), Last: stamp(s.Turn.Last), ErrorClass: string(s.Turn.Class), Error: s.Turn.Error, Complete: s.Complete,
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func listJSON(w io.Writer, list []*timeline.Glance, table *listTable) error {
	out := struct {
		Schema   string          `json:"schema"`
		Sessions []listedSession `json:"sessions"`
	}{"hist.list/1", []listedSession{}}
	healths := table.healths(list)
	for i, s := range list {
		h := s.Header
		next := s.Resume()
		if s.Obstacle() != "" || len(next) == 0 {
			next = []string{"hist", "pre-resume", nameOf(s.Thread, s.Path)}
		}
		out.Sessions = append(out.Sessions, listedSession{
			Agent: s.Agent.Name, Thread: s.Thread, Path: s.Path, CWD: s.CWD, Branch: h.Branch, Model: s.Model, Provider: h.Provider, Source: h.Source, Version: h.Version,
			Mode: h.Mode, Created: stamp(s.Created), Modified: stamp(s.Modified), Size: s.Size, Turn: lastTurnOf(s), Resumable: s.Obstacle() == "", Obstacle: s.Obstacle(),
			Health: healths[i], Repaired: table.repaired(s), CopyOf: table.copies.Original(s.Path), Continued: table.newer[partOf(s)], Next: next,
		})
	}
	return format.Write(w, out)
}
