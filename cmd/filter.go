package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// filter decides which findings count: those of the rules that were asked for, except what the config ignores and what the
// baseline knows.
type filter struct {
	rules  []string // empty: all
	config *config
	known  format.Baseline
	save   format.Baseline // nil if no baseline is to be written
}

func newFilter(c *cli.Context) (*filter, error) {
	f := &filter{rules: c.StringSlice("rule")}
	if err := knownRules(f.rules); err != nil {
		return nil, err
	}
	if c.IsSet("baseline") && c.IsSet("write-baseline") {
		return nil, usage("--baseline and --write-baseline exclude each other")
	}
	var err error
	if f.config, err = loadConfig(c); err != nil {
		return nil, err
	}
	switch {
	case c.String("write-baseline") == "-":
		return nil, usage("--write-baseline names no file")
	case c.IsSet("write-baseline") && len(f.rules) > 0:
		return nil, usage("--rule and --write-baseline exclude each other: a baseline knows all findings")
	case c.IsSet("write-baseline"):
		f.save = format.Baseline{}
	case c.IsSet("baseline"):
		f.known, err = readBaseline(c.String("baseline"))
	}
	return f, err
}

// maxBaseline is how large a baseline may be, in bytes: some 300 000 findings.
const maxBaseline = 32 << 20

func readBaseline(path string) (format.Baseline, error) {
	text, err := source.Small(path, maxBaseline)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the baseline %s: there is no such file; --write-baseline makes it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the baseline %s: %w", path, disk.Cause(err))
	}
	return format.DecodeBaseline(text, path)
}

// knows says whether the baseline has a finding with an impact that is at least as bad.
func (f *filter) knows(print string, found *lint.Finding) bool {
	known, ok := f.known[print]
	if !ok {
		return false
	}
	impact, err := lint.ParseImpact(known.Impact)
	return err == nil && impact.AtLeast(found.Impact) && found.Count <= known.Count
}

// narrow removes the findings that do not count, sets the impact that the config wants, and adds each finding's fingerprint.
func (f *filter) narrow(r *linted) {
	thread := threadOf(r)
	kept := r.result.Findings[:0]
	var prints format.Prints
	for _, found := range r.result.Findings {
		switch {
		case len(f.rules) > 0 && !slices.Contains(f.rules, found.Rule.Name):
			continue
		case f.config.ignores(r.target.path, thread, found.Rule.Name), len(f.rules) == 0 && f.config.off(found.Rule.Name):
			r.ignored++
			continue
		}
		print := prints.Of(keyOf(thread, &found))
		if f.save != nil {
			f.save[print] = format.Known{Rule: found.Rule.Name, Impact: found.Impact.String(), Count: found.Count}
		}
		if f.knows(print, &found) {
			r.known++
			continue
		}
		if s := f.config.Lint.Rules[found.Rule.Name]; s != nil && !s.off {
			if found.Impact.AtLeast(s.impact) && found.Impact != s.impact {
				r.lowered++
			}
			found.Impact = s.impact
		}
		kept = append(kept, found)
		r.prints = append(r.prints, print)
	}
	r.result.Findings = kept
}

func keyOf(thread string, f *lint.Finding) format.Key {
	k := format.Key{Thread: thread, Rule: f.Rule.Name, Record: f.Record, IDs: f.IDs}
	if f.Record == "" {
		k.Size = f.On.Size
	}
	return k
}

// threadOf identifies what a file is about: the thread's id, or the file's name if the id is not known.
func threadOf(r *linted) string {
	if id := r.result.Summary.Header.ID; id != "" {
		return strings.ToLower(id)
	}
	base := filepath.Base(r.target.path)
	if name := lint.NameOf(base, false); name.Canonical {
		return name.ThreadID
	}
	return base
}

// ignores says whether the config leaves a rule's findings out for this file.
func (c *config) ignores(path, thread, rule string) bool {
	return slices.ContainsFunc(c.Lint.Ignore, func(i ignored) bool {
		return (i.Rule == nil || i.Rule.name == rule) && (i.Thread == nil || strings.HasPrefix(thread, i.Thread.id)) &&
			(i.Path == nil || i.Path.fits(path, c.dir))
	})
}

// fits says whether a path matches the pattern: relative to the config file's directory or, if the pattern begins with "**/" or
// is absolute, as a whole.
func (g pathGlob) fits(path, dir string) bool {
	abs, err := filepath.Abs(path)
	if err != nil || path == "-" {
		return false
	}
	pattern := g.pattern
	if !strings.HasPrefix(pattern, "**/") && !filepath.IsAbs(filepath.FromSlash(pattern)) {
		if abs, err = filepath.Rel(dir, abs); err != nil {
			return false
		}
	}
	return doublestar.MatchUnvalidated(pattern, filepath.ToSlash(abs))
}
