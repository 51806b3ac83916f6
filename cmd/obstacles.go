package cmd

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/preresume"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// around looks at what else stands in the way of the sessions of the homes.
func (d *doctor) around(list []target) {
	seen := map[string]bool{}
	for _, t := range list {
		if t.err == nil && t.home != "" {
			seen[t.home] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(seen)) {
		if free, ok := freeBytes(dir); ok {
			d.say(nearlyFull(dir, free))
		}
		if n := d.due[dir]; n > 0 {
			d.say(obstacle{says: fmt.Sprintf("%s: its client may delete %s, last written too long ago; cleanupPeriodDays in settings.json is for how many days it keeps them", tilde(dir), count(n, "session", "sessions"))})
		}
		d.say(leftIn(dir))
		d.say(strayed(d.ctx, dir))
	}
	d.say(d.wrote.tooNew(d.ctx)...)
	d.say(goneOf(d.ctx, d.worksIn)...)
	d.holders()
}

// obstacle is what stands in the way, and the command that helps, if there is one.
type obstacle struct {
	says string
	next []string
}

func (o obstacle) String() string {
	if o.next == nil {
		return o.says
	}
	return o.says + ": " + format.Command(o.next...)
}

// say adds what stands in the way; nothing if that has no words.
func (d *doctor) say(list ...obstacle) {
	for _, o := range list {
		if o.says != "" {
			d.obstacles = append(d.obstacles, o)
		}
	}
}

// leastFree is how many bytes a disk should have left: a long session and its repaired copy.
const leastFree = 512 << 20

func nearlyFull(dir string, free int64) obstacle {
	if free >= leastFree {
		return obstacle{}
	}
	return obstacle{says: fmt.Sprintf("%s: only %s are free on its disk; a client that can't write loses what is said", tilde(dir), bytesOf(free))}
}

// mostNamed is how many things of one kind are named.
const mostNamed = 3

// leftIn says which files of a home tell of clients that are gone.
func leftIn(dir string) obstacle {
	var list []string
	for _, h := range all.Homed() {
		if h.Left != nil {
			list = append(list, h.Left(dir)...)
		}
	}
	if len(list) == 0 {
		return obstacle{}
	}
	text := fmt.Sprintf("%s: clients that were killed left %s that say they run, and another process may get their number", tilde(dir), count(len(list), "file", "files"))
	if len(list) > mostNamed {
		text += fmt.Sprintf("; the first %d", mostNamed)
	}
	return obstacle{text, append([]string{"rm", "-f"}, list[:min(mostNamed, len(list))]...)}
}

// strayed says that a home's client looks for sessions at a place where the home is not any more.
func strayed(ctx context.Context, dir string) obstacle {
	n, err := inspect.OpenHome(ctx, dir).Strayed(ctx)
	if err != nil || n == 0 { // what is wrong with the list is a finding
		return obstacle{}
	}
	return obstacle{fmt.Sprintf("%s: its client looks for %s where this home was before", tilde(dir), count(n, "session", "sessions")), []string{"hist", "move", "--home", dir}}
}

// goneOf says which directories are gone in which sessions work, where they ended; those of most sessions are named. worksIn are the
// sessions by a directory that they name.
func goneOf(ctx context.Context, worksIn map[string][]string) (list []obstacle) {
	gone := map[string]int64{}
	for dir, paths := range worksIn {
		if !preresume.Gone(dir) {
			continue
		}
		for _, path := range paths {
			if s, err := timeline.Look(ctx, path, timeline.LookOptions{}); err == nil && preresume.Gone(s.CWD) { // else it has followed the directory, or ended in another
				gone[s.CWD]++
			}
		}
	}
	most := slices.SortedFunc(maps.Keys(gone), func(a, b string) int {
		return cmp.Or(cmp.Compare(gone[b], gone[a]), strings.Compare(a, b))
	})
	for _, dir := range most[:min(mostNamed, len(most))] {
		list = append(list, obstacle{fmt.Sprintf("%s is gone, where %s; if it was moved", tilde(dir), count(gone[dir], "session works", "sessions work")), moveAll(dir)})
	}
	if more := len(most) - mostNamed; more > 0 {
		list = append(list, obstacle{says: fmt.Sprintf("%d more directories of sessions are gone; hist list marks them", more)})
	}
	return list
}

// moveAll is the command by which all sessions of a directory follow it to where it is now.
func moveAll(dir string) []string {
	return []string{"hist", "move", "--all", "--from", dir, "--to", "DIRECTORY"}
}

// maybeMoved says, in a directory without sessions, that one of the newest sessions works in a directory that is gone and may be this
// one: it has the same name, or stood beside it.
func maybeMoved(ctx context.Context, dir string) string {
	list, _, err := newest(ctx, nil)
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(list, func(s *timeline.Glance) bool {
		return (filepath.Base(s.CWD) == filepath.Base(dir) || filepath.Dir(s.CWD) == filepath.Dir(dir)) && preresume.Gone(s.CWD)
	})
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("; if this directory was %s before, this makes the sessions from there follow it: %s", list[i].CWD, format.Command("hist", "move", "--all", "--from", list[i].CWD, "--to", dir))
}

// holders says who has one of the newest sessions open, once for each process.
func (d *doctor) holders() {
	list, home, err := newest(d.ctx, nil)
	if err != nil {
		return
	}
	type holds struct {
		n     int64
		first string
		busy  *disk.Busy
	}
	said := map[int]*holds{}
	var order []*holds
	for _, s := range list {
		busy, err := all.InUse(s.Path, home[s.Path], s.Thread)
		if err != nil || busy == nil || busy.PID == 0 {
			continue
		}
		h := said[busy.PID]
		if h == nil {
			h = &holds{first: cmp.Or(s.Thread, s.Path), busy: busy}
			said[busy.PID], order = h, append(order, h)
		}
		h.n++
	}
	for _, h := range order {
		who := fmt.Sprintf("process %d", h.busy.PID)
		has := fmt.Sprintf("has %s open, which can't be repaired in place until it lets go", count(h.n, "session", "sessions"))
		if h.busy.Free != nil {
			d.say(obstacle{fmt.Sprintf("Codex's own daemon, %s, %s; a resume at a terminal joins it; this ends it, with what runs in it", who, has), h.busy.Free})
			continue
		}
		d.say(obstacle{who + " " + has + "; this waits for that", []string{"hist", "resume", "--wait", "2m", operandOf(h.first)}})
	}
}

// written is, by agent, what its sessions ask of a client.
type written map[string]*asked

type asked struct {
	by     map[string]int64 // by the version that wrote them, how many sessions
	strict []strict
}

// strict is a session that not every version of its client reads.
type strict struct {
	header session.Info
	packed bool
}

func (w written) add(s lint.Summary, path string) {
	a := w[s.Agent]
	if a == nil {
		a = &asked{by: map[string]int64{}}
		w[s.Agent] = a
	}
	a.by[s.Header.Version]++
	of, packed := all.Named(s.Agent), strings.HasSuffix(path, ".zst")
	if of != nil && of.TooOld != nil && of.TooOld("0.0.1", s.Header, packed) != "" {
		a.strict = append(a.strict, strict{s.Header, packed})
	}
}

// tooNew says for which agents the client that this user would run is older than one that has written sessions.
func (w written) tooNew(ctx context.Context) (list []obstacle) {
	for _, name := range slices.Sorted(maps.Keys(w)) {
		of := all.Named(name)
		if of == nil || of.Resume == nil {
			continue
		}
		client := of.Resume(anyThread)
		if len(client) == 0 {
			continue
		}
		has := numberForm.FindString(saidVersion(ctx, client[0]))
		if has == "" {
			continue
		}
		newer, n := has, int64(0)
		for version, sessions := range w[name].by {
			if older(has, version) {
				n += sessions
				if older(newer, version) {
					newer = version
				}
			}
		}
		if n > 0 {
			list = append(list, obstacle{says: fmt.Sprintf("the %s that runs here is %s; newer ones, up to %s, wrote %s, of which it may not know everything: upgrade it", client[0], has, newer, count(n, "session", "sessions"))})
		}
		why, refused := "", int64(0)
		for _, s := range w[name].strict {
			if words := of.TooOld(has, s.header, s.packed); words != "" {
				why = words
				refused++
			}
		}
		if refused > 0 {
			list = append(list, obstacle{says: fmt.Sprintf("the %s that runs here is %s, which can't read %s: %s: upgrade it", client[0], has, count(refused, "session", "sessions"), why)})
		}
	}
	return list
}

// anyThread is an id of the form that every client takes.
const anyThread = "00000000-0000-7000-8000-000000000000"

var numberForm = regexp.MustCompile(`\b(\d+)\.(\d+)\.(\d+)\b`)

// older says whether a version comes before another; one that can't be read does not.
func older(version, than string) bool {
	a, b := numberForm.FindStringSubmatch(version), numberForm.FindStringSubmatch(than)
	if a == nil || b == nil {
		return false
	}
	return slices.CompareFunc(a[1:], b[1:], func(x, y string) int { // without zeros in front, the longer number is the greater
		return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
	}) < 0
}
