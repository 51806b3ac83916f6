package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/agent/homes"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// freshFor is how long after its last change an empty file may still be about to get its first record.
const freshFor = 3 * time.Second

// options gathers what is known of a session besides its bytes.
func options(src *source.Source, t target, by clients) lint.Options {
	opts := atRest(src, t, by)
	opts.Live = live(src, t, opts)
	return opts
}

// live says whether somebody is using a session.
func live(src *source.Source, t target, opts lint.Options) bool {
	if src.Real == "" {
		return false
	}
	busy, err := all.InUse(src.Real, t.home, opts.Name.ThreadID)
	return err == nil && busy != nil
}

// atRest is options without checking whether somebody is using the session.
func atRest(src *source.Source, t target, by clients) lint.Options {
	opts := lint.Options{For: by}
	if src.Real == "" {
		return opts
	}
	opts.Name, opts.Home, opts.Kept, opts.Listed = lint.NameOf(src.Real, t.home != ""), t.home, homes.Kept, homes.Listed
	opts.Fresh = src.Info.Size() == 0 && time.Since(src.Info.ModTime()) < freshFor
	opts.SiblingVersion = func() string { return siblingVersion(src.Real) }
	return opts
}

// siblingVersion returns the client version of the newest other session in a file's directory.
func siblingVersion(path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	slices.Reverse(entries) // names begin with the time
	for _, e := range entries {
		if !lint.NameOf(e.Name(), true).Canonical || filepath.Ext(e.Name()) == ".zst" || e.Name() == filepath.Base(path) || !e.Type().IsRegular() {
			continue
		}
		if v := headerVersion(filepath.Join(filepath.Dir(path), e.Name())); v != "" {
			return v
		}
	}
	return ""
}

func headerVersion(path string) string {
	f, err := os.Open(path)
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
