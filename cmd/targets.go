package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
)

// target is one session to look at.
type target struct {
	path string // "-" for standard input
	name string // the name by which the thread was asked for, if users gave it one
	home string // the agent's home it lies in, "" if in none
	all  bool   // the whole home was asked for

	newer string // the file with which a revert has replaced it, where both were asked for; else ""
	err   error  // why it can't be looked at
}

// targets finds the sessions that the operands name: files, directories, thread ids, "-". Without operands it finds all in the
// agents' homes, or in that of the agent that only names. An operand that leads to nothing is a target with an error. A session
// that is named twice, as by a file and its directory, is one target: standard input can be read only once, and sessions must
// not be counted twice.
func targets(ctx context.Context, operands []string, only string) ([]target, error) {
	homes, err := defaultHomes(only)
	if _, wrong := errors.AsType[*exitError](err); err != nil && (wrong || len(operands) == 0) {
		return nil, err
	}
	if slices.Contains(operands, "") {
		return nil, usage("an argument is empty; it takes a file, a directory or a session's id")
	}
	list := make([]target, 0, len(operands))
	if len(operands) == 0 {
		for _, h := range homes {
			for _, dir := range h.agent.Sessions(h.dir) {
				list = append(list, below(ctx, dir)...)
			}
			if err := h.isFile(); err != nil {
				list = append(list, target{path: h.dir, err: err})
			}
			if live := h.agent.LiveAt(h.dir); shut(live) {
				list = append(list, target{path: live, err: fmt.Errorf("%s: %w", live, walk.Denied(live, fs.ErrPermission))})
			}
		}
		if len(list) == 0 {
			list = append(list, noSessions(homes))
		}
	}
	for _, op := range operands {
		list = append(list, find(ctx, homes, op)...)
	}
	return once(list), ctx.Err()
}

// named are the sessions that the command line names.
func (e *env) named(c *cli.Context) ([]target, error) {
	operands, err := operandsOf(c)
	if err != nil {
		return nil, err
	}
	return e.targets(c.Context, operands, c.String("agent"))
}

func absolute(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}

// unused is the error if somebody has the session with an id open, or if that can't be told.
func unused(t target, id string) error {
	if busy, err := all.InUse(absolute(t.path), t.home, id); err != nil || busy != nil {
		return fmt.Errorf("%s: %w", t.path, cmp.Or[error](err, busy))
	}
	return nil
}

// once removes targets whose path an earlier target has.
func once(list []target) []target {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(t target) bool {
		path := t.path
		if abs, err := filepath.Abs(path); err == nil && path != "-" {
			path = abs
		}
		again := seen[path]
		seen[path] = true
		return again
	})
}

// shut says whether the user is not even allowed to see whether a directory exists: then it may hold sessions.
func shut(dir string) bool {
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrPermission)
}

// noSessions is the only target if all sessions are asked for and there are none.
func noSessions(homes []agentHome) target {
	variables, absent := make([]string, len(homes)), ""
	for i, h := range homes {
		if variables[i] = h.agent.Variable; os.Getenv(h.agent.Variable) != "" && !disk.IsDir(h.dir) {
			absent += fmt.Sprintf(" (%s names a directory that does not exist)", h.agent.Variable)
		}
	}
	return target{path: homes[0].dir, err: fmt.Errorf("%s: no sessions here%s; name a file or a directory, or set %s to where they are: hist doctor looks there then",
		dirsOf(homes), absent, strings.Join(variables, " or "))}
}

// dirsOf are the homes' directories, to be read.
func dirsOf(homes []agentHome) string {
	return strings.Join(mapped(homes, func(h agentHome) string { return h.dir }), ", ")
}

// agentHome is where one agent keeps its sessions.
type agentHome struct {
	agent *agent.Agent
	dir   string
}

// defaultHomes are the homes of this user's agents, whether they exist or not; if only is not "", of that agent alone. If none
// is known, as when $HOME is not set, that is an error.
func defaultHomes(only string) ([]agentHome, error) {
	if only != "" && all.Named(only) == nil {
		return nil, usage("--agent is %q; it takes %s", only, strings.Join(all.Names(), " or "))
	}
	var list []agentHome
	var unknown []error
	for _, a := range all.Homed() {
		if only != "" && a.Name != only {
			continue
		}
		dir, err := a.DefaultHome()
		if err != nil {
			unknown = append(unknown, err)
			continue
		}
		list = append(list, agentHome{a, dir})
	}
	if len(list) == 0 {
		return nil, errors.Join(unknown...)
	}
	return list, nil
}

// isFile is the error about a home that is no directory, nil if it is one or is not there.
func (h agentHome) isFile() error {
	if info, err := os.Stat(h.dir); err != nil || info.IsDir() {
		return nil //nolint:nilerr // a client makes the home that is not there
	}
	return fmt.Errorf("%s: this is no directory; set %s to the home of %s, or unset it: hist doctor looks there then", h.dir, h.agent.Variable, h.agent.Title)
}

// find looks up one operand.
func find(ctx context.Context, homes []agentHome, operand string) []target {
	if operand == "-" {
		return []target{{path: "-"}}
	}
	failed := func(err error) []target { return []target{{path: operand, err: err}} }
	info, err := os.Stat(operand)
	switch {
	case err == nil && info.IsDir():
		if list := below(ctx, operand); len(list) > 0 {
			return list
		}
		return failed(fmt.Errorf("%s: no session files (*.jsonl, *.jsonl.zst) in this directory; hist list shows the sessions that there are", operand))
	case err == nil:
		return []target{{path: operand, home: homeOf(operand)}}
	case !errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(operand, `/\`) || strings.Contains(operand, ".jsonl"):
		return failed(&unreachable{operand, walk.Denied(operand, disk.CauseAt(operand, err))})
	case len(homes) == 0:
		return failed(fmt.Errorf("%s: no such file; to look up an id, set CODEX_HOME or CLAUDE_CONFIG_DIR", operand))
	}
	var list, hits []target
	var fit []string     // the files of the sessions that the homes have for it
	var without []string // homes that have no such session
	for _, h := range homes {
		found := h.find(ctx, operand)
		several, ambiguous := errors.AsType[*agent.AmbiguousError](found[0].err)
		switch {
		case found[0].err == nil && (found[0].name != "" || len(operand) == len(uuid.Nil.String())):
			return found
		case found[0].err == nil:
			hits, fit = append(hits, found...), append(fit, found[0].path)
			continue
		case ambiguous:
			hits, fit = append(hits, found...), append(fit, several.Paths...)
			continue
		}
		_, left := errors.AsType[*agent.LeftError](found[0].err)
		if errors.Is(found[0].err, agent.ErrNoSession) && !left {
			without = append(without, h.dir)
		}
		if list == nil || left || !errors.Is(found[0].err, errNotHere) {
			list = found
		}
	}
	switch {
	case len(fit) > 1:
		return failed(candidates(ctx, &agent.AmbiguousError{ID: operand, Paths: fit}))
	case len(fit) == 1:
		return hits
	}
	if len(without) > 1 && len(without) == len(homes) {
		list[0].err = notHere{fmt.Errorf("%s: %w below %s; hist list shows all", operand, agent.ErrNoSession, strings.Join(without, ", "))}
	}
	return list
}

// unreachable says why a path can't be looked at. A list may name a million of them, so the text is made when it is shown.
type unreachable struct {
	path  string
	cause error
}

func (u *unreachable) Error() string { return u.path + ": " + u.cause.Error() }

// Unwrap returns the cause.
func (u *unreachable) Unwrap() error { return u.cause }

// errNotHere says that a home has no session that an operand could name.
var errNotHere = errors.New("no such session")

// notHere is an errNotHere with the text of the search's error.
type notHere struct{ error }

// Is makes errors.Is(err, errNotHere) true.
func (notHere) Is(target error) bool { return target == errNotHere }

// Unwrap returns the search's error.
func (e notHere) Unwrap() error { return e.error }

// find looks up a session's id or a thread's name in one home. It returns at least one target, with an error if nothing is
// found.
func (h agentHome) find(ctx context.Context, operand string) []target {
	if err := h.isFile(); err != nil {
		return []target{{path: operand, err: err}}
	}
	paths, err := h.agent.Find(ctx, h.dir, operand)
	name := ""
	if errors.Is(err, agent.ErrBadID) || errors.Is(err, agent.ErrNoSession) || errors.Is(err, agent.ErrShut) {
		var id string
		if id, err = h.idOfName(ctx, operand, err); err == nil {
			name = operand
			paths, err = h.agent.Find(ctx, h.dir, id)
		}
	}
	if errors.Is(err, agent.ErrNoSession) {
		if left := inspect.Left(ctx, h.dir, operand); left != "" {
			err = &agent.LeftError{ID: operand, Left: left}
		}
	}
	if err != nil {
		return []target{{path: operand, err: err}}
	}
	if len(paths) > 1 && !segments(paths) {
		if read := inspect.Listing(ctx, h.dir, paths); read != "" {
			return []target{{path: read, home: h.dir, name: name}}
		}
		for i, h := range inspect.Hold(ctx, paths) {
			paths[i] += " " + holds(h)
		}
		return []target{{path: operand, err: fmt.Errorf("%s names several files, give one of them:\n  %s", operand, strings.Join(paths, "\n  "))}}
	}
	return mapped(paths, func(p string) target { return target{path: p, home: h.dir, name: name} })
}

// idOfName returns the id of the thread with this name. If there is none, the error is that of the search by id.
func (h agentHome) idOfName(ctx context.Context, name string, byID error) (string, error) {
	var ids []string
	var err error
	if h.agent.Named != nil {
		ids, err = h.agent.Named(h.dir, name)
		if there := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { // the client passes over names of threads that are in no file
			_, err := h.agent.Find(ctx, h.dir, id)
			return errors.Is(err, agent.ErrNoSession)
		}); len(there) > 0 {
			ids = there
		}
	}
	switch {
	case err != nil:
		return "", err
	case len(ids) > 1:
		return "", fmt.Errorf("%s is the name of several threads, give one of their ids:\n  %s", name, strings.Join(ids, "\n  "))
	case len(ids) == 1:
		return ids[0], nil
	case errors.Is(byID, agent.ErrShut):
		return "", byID
	case errors.Is(byID, agent.ErrBadID):
		return "", notHere{fmt.Errorf("%s: no such file, and not a session's id or at least the first 8 digits of one, nor a thread's name; hist list shows all", name)}
	}
	return "", notHere{byID}
}

// maxCandidates is how many sessions are offered for an id that fits several.
const maxCandidates = 10

// candidates is an error that lists the sessions that an id may mean, with what helps a person to tell them apart.
func candidates(ctx context.Context, several *agent.AmbiguousError) error {
	text := fmt.Sprintf("%s begins the ids of %d sessions; give more of it", several.ID, len(several.Paths))
	paths := several.Paths[:min(maxCandidates, len(several.Paths))]
	for _, r := range timeline.LookMany(ctx, paths, timeline.LookOptions{}) {
		if r.Err == nil {
			s := r.Session
			text += fmt.Sprintf("\n  %s  %-4s %s", s.Thread, age(time.Since(s.Modified)), s.CWD)
		}
	}
	if more := len(several.Paths) - len(paths); more > 0 {
		text += fmt.Sprintf("\n  and %d more: hist list", more)
	}
	return errors.New(text)
}

// segments says whether the files are of one thread, split by a revert: then each has a rollout id of its own.
func segments(paths []string) bool {
	seen := map[string]bool{}
	for _, p := range paths {
		id := lint.NameOf(p, true).FileID
		if seen[id] {
			return false
		}
		seen[id] = true
	}
	return true
}

// below finds the sessions below a directory. Whatever can't be looked at is a target with an error. Files that hist itself
// keeps, such as the originals of repaired sessions, are left out unless the user asks for their directory.
func below(ctx context.Context, dir string) []target {
	var list []target
	own, err := disk.StateDir()
	if err != nil || inside(dir, own) {
		own = ""
	}
	var in place
	err = walk.Walk(ctx, dir, func(e walk.Entry) error {
		if d := filepath.Dir(e.Path); d != in.dir {
			in = place{dir: d, own: own != "" && inside(d, own), home: homeAbove(e.Path)}
			in.all, in.lists = isHome(dir, in.home), all.Lists(d)
		}
		switch {
		case in.own || e.Err != nil && own != "" && inside(e.Path, own):
		case e.Err != nil:
			list = append(list, target{path: e.Path, err: fmt.Errorf("%s: %w", e.Path, walk.Denied(e.Path, disk.Cause(e.Err)))})
		case e.Hidden || slices.Contains(in.lists, e.Path) && all.List(e.Path):
		case in.home != "":
			list = append(list, target{path: e.Path, home: in.home, all: in.all})
		default: // a symbolic link may put the file itself into a home
			home := homeOf(e.Path)
			list = append(list, target{path: e.Path, home: home, all: isHome(dir, home)})
		}
		return nil
	})
	if err != nil {
		list = append(list, target{path: dir, err: fmt.Errorf("%s: %w", dir, err)})
	}
	return list
}

// place is what the files of one directory have in common.
type place struct {
	dir  string
	own  bool   // it is hist's own
	home string // the home that its path names, "" if it names none
	all  bool   // all sessions of the home were asked for

	lists []string // files in it that may be a client's lists, not sessions
}

// isHome says whether a directory is an agent's home, or holds all of its live sessions.
func isHome(dir, home string) bool {
	if home == "" {
		return false
	}
	abs, err := filepath.Abs(dir)
	return err == nil && (abs == home || abs == all.LiveSessions(home))
}

// homeOf returns the agent's home that a path is in, "" if it is in none. It looks for the directories that the agent makes
// there: in the path itself, in the path with its symbolic links resolved, or in the user's home if those directories are links
// themselves.
func homeOf(path string) string {
	if dir := homeAbove(path); dir != "" {
		return dir
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	if dir := homeAbove(real); dir != "" {
		return dir
	}
	homes, _ := defaultHomes("") // none if they are not known
	for _, h := range homes {
		for _, dir := range h.agent.Sessions(h.dir) {
			if to, err := filepath.EvalSymlinks(dir); err == nil && inside(real, to) {
				return h.dir
			}
		}
	}
	return ""
}

// inside says whether a path is somewhere below a directory.
func inside(path, dir string) bool {
	abs, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, abs)
	return err == nil && filepath.IsLocal(rel)
}

// homeAbove is homeOf, judged by the names in the path only.
func homeAbove(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	for _, a := range all.Homed() {
		if dir := a.HomeAbove(abs); dir != "" {
			return dir
		}
	}
	return ""
}

// targets is the function targets, for a command that takes all sessions. Files in an agent's home that are not sessions are
// skipped, which is said in one line; if a user names such a file, it is looked at.
func (e *env) targets(ctx context.Context, operands []string, only string) ([]target, error) {
	list, err := targets(ctx, operands, only)
	if err != nil || len(operands) > 0 {
		return list, err
	}
	var first error
	strays := 0
	sessions := slices.DeleteFunc(list, func(t target) bool {
		err := stray(ctx, t)
		if err != nil {
			strays++
		}
		first = cmp.Or(first, err)
		return err != nil
	})
	if strays == 0 {
		return sessions, nil
	}
	text := "skipped what is not a session: " + first.Error()
	if strays > 1 {
		text += fmt.Sprintf("; and %d more", strays-1)
	}
	e.complain(text)
	if len(sessions) == 0 {
		homes, err := defaultHomes(only)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, noSessions(homes))
	}
	return sessions, nil
}

// stray says why a file found in a home is not a session, nil if it may be one. A file that has a session's name is one,
// however damaged; so is one that is a part of a session. A directory that can't be read may hold sessions.
func stray(ctx context.Context, t target) error {
	switch {
	case lint.NameOf(t.path, true).Canonical || all.Part(t.path):
		return nil
	case errors.Is(t.err, walk.ErrLoop) || errors.Is(t.err, fs.ErrNotExist):
		return t.err
	case t.err != nil:
		return nil
	}
	_, err := timeline.Look(ctx, t.path, timeline.LookOptions{})
	if errors.Is(err, lint.ErrUnclaimed) || errors.Is(err, source.ErrNotRegular) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
