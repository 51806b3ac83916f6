package inspect

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// freshFor is how long after its last change an empty file may still be about to get its first record.
const freshFor = 3 * time.Second

// Options gathers what is known of a session besides its bytes: its name, its home ("" if it lies in none), who uses it. by are the versions
// of the clients that will resume it, by the agents' names. Of a session that was read from a pipe nothing is known.
func Options(src *source.Source, home string, by map[string]string) lint.Options {
	opts := AtRest(src, home, by)
	opts.Live = Live(src, opts)
	return opts
}

// Live says whether somebody is using the session of these options.
func Live(src *source.Source, opts lint.Options) bool {
	if src.Real == "" {
		return false
	}
	busy, err := all.InUse(src.Real, opts.Home, opts.Name.ThreadID)
	return err == nil && busy != nil
}

// AtRest is Options without looking whether somebody is using the session.
func AtRest(src *source.Source, home string, by map[string]string) lint.Options {
	opts := lint.Options{For: by}
	if src.Real == "" {
		return opts
	}
	opts.Name, opts.Home, opts.Kept, opts.Listed = lint.NameOf(src.Real, home != ""), home, Kept, Listed
	opts.Name.Linked = home != "" && filepath.Base(src.Path) != opts.Name.Base && lint.NameOf(src.Path, true).Canonical
	if right := filepath.Join(filepath.Dir(src.Real), opts.Name.Right); home != "" && opts.Name.Right != "" {
		_, plain := os.Lstat(right)
		_, packed := os.Lstat(right + ".zst")
		opts.Name.Beside = plain == nil || packed == nil
	}
	opts.Fresh = src.Info.Size() == 0 && time.Since(src.Info.ModTime()) < freshFor
	opts.SiblingVersion = func() string { return siblingVersion(src.Real) }
	return opts
}

// sibling is a session's file and the client version that its header names.
type sibling struct{ base, version string }

// newest are the newest two files in directories that name one: either may be the session that asks.
var newest = disk.Recall[[]sibling]{Limit: 1 << 12}

// siblingVersion returns the client version of the newest other session in a file's directory.
func siblingVersion(path string) string {
	dir := filepath.Dir(path)
	for _, s := range newest.Of(dir, func() ([]sibling, int) { return newestIn(dir), 1 }) {
		if s.base != filepath.Base(path) {
			return s.version
		}
	}
	return ""
}

func newestIn(dir string) (list []sibling) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range slices.Backward(entries) { // names begin with the time
		if !lint.NameOf(e.Name(), true).Canonical || filepath.Ext(e.Name()) == ".zst" || !e.Type().IsRegular() {
			continue
		}
		if v := headerVersion(filepath.Join(dir, e.Name())); v != "" {
			list = append(list, sibling{e.Name(), v})
		}
		if len(list) == 2 {
			break
		}
	}
	return list
}

func headerVersion(path string) string {
	f, err := disk.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, err := jsonl.NewReader(f).Next()
	if a := all.ByName(filepath.Base(path)); err == nil && a != nil {
		return a.About(line.Raw).Info.Version
	}
	return ""
}
