package home

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

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/walk"
)

// projects is the folder of a home that holds a folder of sessions for each working directory; PromptsFile is the home's list
// of typed prompts.
const (
	projects    = "projects"
	PromptsFile = "history.jsonl"
)

// OnDisk is what the client keeps beside a session, and how that is found.
var OnDisk = &agent.Home{
	Variable: "CLAUDE_CONFIG_DIR", DefaultHome: defaultHome, Sessions: sessions, Lists: lists, Live: live, LiveAt: liveAt, Folder: "a folder of projects/",
	HomeAbove: homeAbove, Find: find, Named: withName, Names: names, InUse: inUse, StaleNote: staleNote, Left: left, TakesAny: takesAny, Last: last, FolderFor: FolderFor, Placed: byDirectory, Beside: []string{"memory"},
	Doubles: Doubles, Due: mayGo, Inspect: inspect, Strayed: strayed, Prompts: Typed,
	Bounds: &agent.Bounds{},
}

// defaultHome is $CLAUDE_CONFIG_DIR or ~/.claude.
func defaultHome() (string, error) { return agent.DefaultHome("CLAUDE_CONFIG_DIR", ".claude") }

// sessions is the projects folder.
func sessions(home string) []string {
	if dir := live(home); dir != "" {
		return []string{dir}
	}
	return nil
}

// lists is the list of prompts.
func lists(home string) []string { return []string{filepath.Join(home, PromptsFile)} }

// liveAt is the projects folder.
func liveAt(home string) string { return filepath.Join(home, projects) }

// live is the projects folder.
func live(home string) string {
	if dir := liveAt(home); disk.IsDir(dir) {
		return dir
	}
	return ""
}

// homeAbove is the directory that holds the projects folder in which a path lies, if it is the user's home for the client, has
// the name of one, or the path's folder is named for a working directory.
func homeAbove(path string) string {
	own, _ := defaultHome()
	below := ""
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == projects {
			home := filepath.Dir(dir)
			if home == own || filepath.Base(home) == ".claude" || strings.HasPrefix(below, "-") {
				return home
			}
		}
		below = filepath.Base(dir)
	}
	return ""
}

// minPrefix is how many hexadecimal digits of an id must be given.
const minPrefix = 8

// find returns the files of a session: like the client, it looks into all project folders, and where there is none there, at where a file
// may have got by mistake. A sub-agent's file is not a session.
func find(_ context.Context, home, id string) ([]string, error) {
	want := strings.ToLower(id)
	if len(want) > 36 || len(strings.ReplaceAll(want, "-", "")) < minPrefix || strings.Trim(want, "0123456789abcdef-") != "" {
		return nil, fmt.Errorf("%q: %w: expected a UUID or at least its first %d digits", id, agent.ErrBadID, minPrefix)
	}
	paths := named(home, want, format.Extension, "*")
	if len(paths) == 0 {
		paths = named(home, want, format.Extension, strayAt...)
	}
	threads := map[string]bool{}
	for _, p := range paths {
		threads[idOf(p)] = true
	}
	switch {
	case len(paths) == 0:
		if shut := shutBelow(filepath.Join(home, projects)); shut != nil {
			return nil, fmt.Errorf("%s: %w below %s: %w", id, agent.ErrShut, home, shut)
		}
		for _, dir := range named(home, want, "", "*") {
			if parts, outputs, _ := Remains(dir); parts+outputs > 0 {
				return nil, &agent.LeftError{ID: id, Left: "in " + filepath.Dir(dir) + " " + onlyFolder(dir, parts, outputs)}
			}
		}
		return nil, fmt.Errorf("%s: %w below %s", id, agent.ErrNoSession, home)
	case len(threads) > 1 && !threads[want]:
		return nil, &agent.AmbiguousError{ID: id, Paths: paths}
	}
	// With the same id in several folders, the newest comes first.
	slices.SortStableFunc(paths, func(a, b string) int { return cmp.Compare(walk.Modified(b), walk.Modified(a)) })
	return paths[:1], nil
}

// strayAt are the folders in which the client looks for no session, as patterns below projects: too high, or too deep.
var strayAt = []string{".", "*/*", "*/*/*"}

// named are the paths of a home's sessions, or of their folders if extension is "", whose id begins so, in folders that fit patterns.
func named(home, id, extension string, folders ...string) (paths []string) {
	for _, in := range folders {
		found, _ := filepath.Glob(filepath.Join(walk.Literal(home), projects, in, id+"*"+extension)) // the patterns are sound
		paths = append(paths, found...)
	}
	return slices.DeleteFunc(paths, func(p string) bool { return filepath.Ext(p) != extension || !format.IsID(idOf(p)) })
}

// idOf is the id for which a session's file, or its folder, is named.
func idOf(path string) string { return strings.TrimSuffix(filepath.Base(path), format.Extension) }

// Doubles are the files of the same name in other projects' folders: a project that was moved or copied leaves one.
func Doubles(path, home string) (paths []string) {
	mine, err := os.Stat(path)
	if err != nil || !format.IsID(idOf(path)) || filepath.Base(filepath.Dir(filepath.Dir(path))) != projects { // of one that the client does not read a finding says so
		return nil
	}
	folders, _ := os.ReadDir(filepath.Join(home, projects)) // what can't be listed has none
	for _, folder := range folders {
		double := filepath.Join(home, projects, folder.Name(), filepath.Base(path))
		if info, err := os.Stat(double); err == nil && !os.SameFile(mine, info) {
			paths = append(paths, double)
		}
	}
	return paths
}

// shutBelow says why a directory, or one in it, may not be read; nil if all may.
func shutBelow(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s: %w", dir, walk.Denied(dir, disk.Cause(err)))
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if f, err := os.Open(path); err == nil {
			f.Close()
		} else if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%s: %w", path, walk.Denied(path, disk.Cause(err)))
		}
	}
	return nil
}

// withName returns the ids of the sessions to which users have given a name, or which Claude Desktop shows under an id of its own.
func withName(home, name string) ([]string, error) {
	if id, err := byTile(home, name); id != "" || err != nil {
		return []string{id}, err
	}
	var ids []string
	err := eachName(home, func(id, given string) {
		if given == name {
			ids = append(ids, id)
		}
	})
	return ids, err
}

// names are the names that users gave to sessions, by their ids.
func names(home string) map[string]string {
	names := map[string]string{}
	eachName(home, func(id, given string) { names[strings.ToLower(id)] = given }) //nolint:errcheck // only a bad pattern is an error
	return names
}

// eachName passes the names that users gave to sessions.
func eachName(home string, see func(id, name string)) error {
	paths, err := filepath.Glob(filepath.Join(walk.Literal(home), projects, "*", "*", "custom-title.json"))
	if err != nil {
		return err
	}
	for _, p := range paths {
		raw, err := ReadSmall(p)
		if id := filepath.Base(filepath.Dir(p)); err == nil && jsonl.Valid(raw) && format.IsID(id) {
			see(id, gjson.GetBytes(raw, "customTitle").String())
		}
	}
	return nil
}

// Unnoticed says whether a version registers nowhere that it has a session open.
func Unnoticed(version string) bool { return format.Before(version, "2.1.100") }

// Part says whether a file is a part of a session, not a session itself: a sub-agent's conversation.
func Part(path string) bool {
	return strings.HasPrefix(filepath.Base(path), "agent-") && strings.HasSuffix(path, format.Extension)
}
