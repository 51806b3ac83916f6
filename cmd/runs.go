package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/lint"
)

func runsCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "runs", Usage: "list the records of repairs, show one, or remove old ones", ArgsUsage: "[list | show RUN | prune]",
		Description: "Each repair leaves a record, which hist undo needs. prune removes those older than --older-than, with the\n" +
			"originals that they keep: those repairs can't be undone any more.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "older-than", Usage: "prune: records older than this `TIME`: 90m, 24h, 30d, or from before a date such as 2026-11-01"},
			&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "prune: remove nothing, only say what would be removed"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "prune: don't ask"},
			&cli.BoolFlag{Name: "json", Usage: "list and show: print one JSON object"},
		},
		Action: e.runs,
	}
}

func (e *env) runs(c *cli.Context) error {
	what := c.Args().First()
	if what != "prune" && (c.IsSet("older-than") || c.Bool("dry-run") || c.Bool("yes")) {
		return usage("--older-than, --dry-run and --yes are for hist runs prune")
	}
	switch {
	case what == "" || what == "list" && c.NArg() == 1:
		return e.listRuns(c)
	case what == "list":
		return usage("list takes no runs; hist runs show RUN shows one")
	case what == "show" && c.NArg() == 2 && c.Args().Get(1) == "":
		return errNoRun
	case what == "show" && c.NArg() == 2:
		return e.showRun(c, c.Args().Get(1))
	case what == "show":
		return usage("show takes one run; hist runs lists them")
	case what == "prune" && c.NArg() == 1:
		if c.Bool("json") {
			return usage("--json is for list and show")
		}
		return e.pruneRuns(c)
	case what == "prune":
		return usage("prune takes no runs, only how old those are that go: --older-than 30d")
	}
	return usage("runs takes list, show RUN or prune, not %q%s", what, meant(what, []string{"list", "show", "prune"}))
}

// unreadable is the state of a run whose record can't be read. Such a run is listed, and nothing else is done with it.
const unreadable = "can't be read"

// listedRun is the documented form of a run in a list.
type listedRun struct {
	Run     string      `json:"run"`
	Started string      `json:"started"`
	Version string      `json:"hist"`
	State   string      `json:"state"`
	Can     int         `json:"undoable"` // how many of the files hist undo would change now
	Bytes   int64       `json:"bytes"`
	Files   []runs.File `json:"files"`
	Next    []string    `json:"next,omitempty"` // the command that undoes it, if that is still possible
}

func aboutRun(ctx context.Context, m *runs.Manifest) listedRun {
	can, _ := m.Undoable(ctx)
	l := listedRun{Run: m.Run, Started: stamp(m.Started), Version: m.Version, State: string(m.State()), Can: can, Bytes: sizeOfRun(m.Run), Files: m.Files}
	if can > 0 {
		l.Next = []string{"hist", "undo", m.Run}
	}
	return l
}

// stateOf says what can still be done about a run, as its sessions are now.
func stateOf(ctx context.Context, m *runs.Manifest) string {
	state := m.State()
	if state != runs.Open && state != runs.InPart {
		return string(state)
	}
	can, pending := m.Undoable(ctx)
	switch {
	case can == 0:
		return "can't be undone any more: changed or removed since"
	case can < pending:
		return fmt.Sprintf("%d of %d can be undone, each by its id", can, pending)
	case state == runs.InPart:
		return fmt.Sprintf("%s; %d can be undone", state, can)
	}
	return string(state)
}

// sizeOfRun is how many bytes a record takes, as far as that can be found out.
func sizeOfRun(id string) (size int64) {
	root, err := runs.Dir()
	if err != nil {
		return 0
	}
	filepath.WalkDir(filepath.Join(root, id), func(_ string, d fs.DirEntry, err error) error { //nolint:errcheck // what can't be read isn't counted
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}

func (e *env) listRuns(c *cli.Context) error {
	list, bad := runs.ListSettled(c.Context)
	w := bufio.NewWriter(e.out)
	var err error
	if c.Bool("json") {
		out := struct {
			Schema string      `json:"schema"`
			Runs   []listedRun `json:"runs"`
		}{"hist.runs/1", []listedRun{}}
		for i := range list {
			out.Runs = append(out.Runs, aboutRun(c.Context, &list[i]))
		}
		for _, u := range withoutRecord(list, bad) {
			out.Runs = append(out.Runs, listedRun{Run: u.Run, Started: stamp(u.Started()), State: unreadable, Bytes: sizeOfRun(u.Run), Files: []runs.File{}})
		}
		err = format.Write(w, out)
	} else if len(list) > 0 || len(bad) > 0 {
		err = runTable(c.Context, w, list, withoutRecord(list, bad), time.Now())
	} else {
		_, err = fmt.Fprintln(w, "no repair is on record")
	}
	if err := writing("the list", err, w.Flush()); err != nil {
		return err
	}
	return notRead(bad)
}

// notRead is the error for runs of which something can't be read; nil if there are none.
func notRead(bad []runs.Unread) error {
	if len(bad) == 0 {
		return nil
	}
	return &exitError{ExitIO, errors.Join(mapped(bad, func(u runs.Unread) error { return u.Err })...)}
}

// withoutRecord returns those of bad that are not in the list.
func withoutRecord(list []runs.Manifest, bad []runs.Unread) []runs.Unread {
	return slices.DeleteFunc(slices.Clone(bad), func(u runs.Unread) bool {
		return u.Run == "" || slices.ContainsFunc(list, func(m runs.Manifest) bool { return m.Run == u.Run })
	})
}

// runTable prints a row for each run; those whose record can't be read come last.
func runTable(ctx context.Context, w io.Writer, list []runs.Manifest, bad []runs.Unread, now time.Time) error {
	if len(list)+len(bad) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "RUN\tAGE\tSESSION\tSIZE\tSTATE")
	for i := range list {
		m := &list[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", m.Run, age(now.Sub(m.Started)), sessionsOf(m), bytesOf(sizeOfRun(m.Run)), stateOf(ctx, m))
	}
	for _, u := range bad {
		fmt.Fprintf(t, "%s\t%s\t?\t%s\t%s\n", u.Run, age(now.Sub(u.Started())), bytesOf(sizeOfRun(u.Run)), unreadable)
	}
	return t.Flush()
}

// sessionsOf names the session that a run is about, or says how many, and how many other files were changed with them.
func sessionsOf(m *runs.Manifest) string {
	var sessions, others []string
	for _, f := range m.Files {
		name, base := lint.NameOf(f.Source, true), oneLine(clip(filepath.Base(f.Source), 2*idDigits))
		switch {
		case f.Mode == runs.Moved && slices.ContainsFunc(m.Files, func(c runs.File) bool { return c.Mode == runs.Output && c.Source == f.Source }):
			// its copy is told
		case f.Mode == runs.Moved, name.ThreadID == "" && f.Home != "":
			others = append(others, base)
		case name.ThreadID != "":
			sessions = append(sessions, short(name.ThreadID))
		default:
			sessions = append(sessions, base)
		}
	}
	if len(sessions) == 0 && len(others) > 0 {
		return oneOrCount(others, "file")
	}
	said := oneOrCount(sessions, "session")
	if len(others) > 0 {
		said += " and " + count(len(others), "file", "files")
	}
	return said
}

// oneOrCount is the one name of a list, or how many there are.
func oneOrCount(names []string, word string) string {
	if len(names) == 1 {
		return names[0]
	}
	return count(len(names), word, word+"s")
}

func (e *env) showRun(c *cli.Context, id string) error {
	run, err := runNamed(id)
	if err != nil {
		return err
	}
	m := &run.Manifest
	w := bufio.NewWriter(e.out)
	if c.Bool("json") {
		err := format.Write(w, struct {
			Schema string `json:"schema"`
			listedRun
		}{"hist.run/1", aboutRun(c.Context, m)})
		return writing("the run", err, w.Flush())
	}
	fmt.Fprintf(w, "%s  %s, by hist %s; %s\n", m.Run, m.Started.Local().Format(time.DateTime), oneLine(m.Version), stateOf(c.Context, m))
	for i := range m.Files {
		f := &m.Files[i]
		fmt.Fprintf(w, "  %s\n    ", oneLine(f.Source))
		switch f.Mode {
		case runs.InPlace:
			fmt.Fprint(w, "replaced in place")
		case runs.Moved:
			fmt.Fprintf(w, "taken from there, and kept as %s", oneLine(filepath.Join(run.Path(), f.Backup)))
		case runs.View:
			fmt.Fprint(w, "left as it was; rows that its client's database held of it were cleared")
		case runs.NewThread:
			fmt.Fprintf(w, "copied as a new thread to %s", oneLine(f.Target))
		default:
			fmt.Fprintf(w, "copied to %s", oneLine(f.Target))
		}
		fmt.Fprintf(w, "; %s before, %s after\n", bytesOf(f.SizeBefore), bytesOf(f.SizeAfter))
	}
	fmt.Fprintf(w, "record: %s\n", oneLine(run.Path()))
	switch can, pending := m.Undoable(c.Context); {
	case can > 0 && can == pending:
		fmt.Fprintf(w, "undo:   hist undo %s\n", m.Run)
	case can > 0:
		fmt.Fprintf(w, "undo:   hist undo %s SESSION, for each that has not changed\n", m.Run)
	}
	return writing("the run", w.Flush())
}

// pruneRuns removes old records. If one is of a repair that could still be undone, it says so and asks first: the record holds
// what undo needs, perhaps the only copy of an original.
func (e *env) pruneRuns(c *cli.Context) error {
	if c.String("older-than") == "" {
		return usage("prune needs to know how old: --older-than 30d")
	}
	now := time.Now()
	before, err := since("--older-than", c.String("older-than"), now)
	if err != nil {
		return err
	}
	if before.After(now) {
		return usage("--older-than is %q, which is in the future: that would be every record", c.String("older-than"))
	}
	list, bad := runs.ListSettled(c.Context)
	old := slices.DeleteFunc(list, func(m runs.Manifest) bool { return !m.Started.Before(before) })
	// Runs that began later are not considered. A record that can't be read is never removed: it may hold the only copy of an
	// original.
	left := notRead(slices.DeleteFunc(bad, func(u runs.Unread) bool { return !u.Started().Before(before) }))
	if !c.Bool("dry-run") {
		left = errors.Join(left, runs.RemoveRest())
	}
	old = slices.DeleteFunc(old, func(m runs.Manifest) bool {
		if m.Unrecorded() { // it may keep the only copy of an original, too
			left = errors.Join(left, fmt.Errorf("run %s was left: %w", m.Run, runs.ErrUnrecorded))
		}
		return m.Unrecorded()
	})
	if len(old) == 0 {
		if left == nil {
			fmt.Fprintln(e.out, "no record is that old")
		}
		return left
	}
	if err := runTable(c.Context, e.out, old, nil, now); err != nil {
		return fmt.Errorf("writing the list: %w", err)
	}
	var size int64
	for i := range old {
		size += sizeOfRun(old[i].Run)
	}
	many := count(len(old), "record", "records")
	if c.Bool("dry-run") {
		fmt.Fprintf(e.out, "%s, %s, would be removed (dry run)\n", many, bytesOf(size))
		return left
	}
	if yes, err := e.agreedToPrune(c, old, many); !yes {
		return err
	}
	for i := range old {
		if err := runs.Remove(old[i].Run); err != nil {
			return fmt.Errorf("removing a record: %w", err)
		}
	}
	fmt.Fprintf(e.out, "removed %s, %s\n", many, bytesOf(size))
	return left
}

// agreedToPrune asks, unless the question was answered on the command line.
func (e *env) agreedToPrune(c *cli.Context, old []runs.Manifest, many string) (bool, error) {
	if c.Bool("yes") {
		return true, nil
	}
	if !e.asks() {
		return false, usage("--yes removes these records, with the originals that they keep")
	}
	live := 0
	for i := range old {
		if old[i].State().Live() {
			live++
		}
	}
	question := "Remove " + many + "?"
	if live > 0 {
		question = fmt.Sprintf("Remove %s? %d of these repairs can't be undone then.", many, live)
	}
	yes, err := e.agreed(question)
	if err == nil && !yes {
		fmt.Fprintln(e.out, "nothing was removed")
	}
	return yes, err
}
