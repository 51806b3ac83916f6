package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/pelletier/go-toml/v2"
	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// configName is the file that is looked for in the working directory and above it.
const configName = ".hist.toml"

// maxConfig is how large a config file may be, in bytes.
const maxConfig = 1 << 20

// config is what a config file says: a table for each command that has settings.
type config struct {
	Lint    lintConfig    `toml:"lint"`
	Restart restartConfig `toml:"restart"`
	// NoTitles keeps titles, which are words of the conversation, from terminals and lists.
	NoTitles bool `toml:"no_titles"`

	path string // "" if there is none
	dir  string // the file's directory, to which paths in it are relative
}

type lintConfig struct {
	Rules  map[string]*setting `toml:"rules"`
	Ignore []ignored           `toml:"ignore"`
}

// restartConfig is what the restart rules, and the card, look for.
type restartConfig struct {
	WakePrefix string `toml:"wake_prefix"`
	SaveTool   string `toml:"save_tool"`
}

func (c *config) apply(opts *lint.Options) {
	opts.WakePrefix, opts.SaveTool = c.Restart.WakePrefix, c.Restart.SaveTool
}

func (c *config) off(rule string) bool {
	s := c.Lint.Rules[rule]
	return s != nil && s.off
}

// setting is what a config file says about a rule: off, or another impact.
type setting struct {
	given  bool // as a text, not as a table
	off    bool
	impact lint.Impact
}

// UnmarshalText reads "off" or an impact's name.
func (s *setting) UnmarshalText(text []byte) error {
	s.given = true
	if s.off = string(text) == "off"; s.off {
		return nil
	}
	var err error
	if s.impact, err = lint.ParseImpact(string(text)); err != nil {
		return fmt.Errorf("%q is no impact; a rule takes off, blocks, loses, rejects, shows or notes", text)
	}
	return nil
}

// loadConfig reads the config file that --config names, or the nearest one; without any it is empty.
func loadConfig(c *cli.Context) (*config, error) {
	switch {
	case c.Bool("no-config") && c.IsSet("config"):
		return nil, usage("--config and --no-config exclude each other")
	case c.Bool("no-config"):
		return &config{}, nil
	case c.IsSet("config"):
		return readConfig(c.String("config"))
	}
	dir, _ := os.Getwd() // "" if it is gone: then nothing is above it
	for _, path := range configPaths(dir) {
		if _, err := os.Lstat(path); err == nil {
			return readConfig(path)
		}
	}
	return &config{}, nil
}

// configPaths are the places where a config file may lie, nearest first; dir may be "".
func configPaths(dir string) []string {
	var paths []string
	for below := ""; dir != below; below, dir = dir, filepath.Dir(dir) {
		paths = append(paths, filepath.Join(dir, configName))
	}
	if own, err := disk.ConfigDir(); err == nil {
		paths = append(paths, filepath.Join(own, "config.toml"))
	}
	return paths
}

func readConfig(path string) (*config, error) {
	text, err := source.Small(path, maxConfig)
	if err != nil {
		return nil, fmt.Errorf("reading the config %s: %w; --no-config reads none", path, disk.Cause(err))
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // as editors on Windows write it
	conf := &config{path: path}
	if conf.dir, err = filepath.Abs(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(conf); err != nil {
		return nil, configError(path, err)
	}
	return conf, conf.check(text)
}

// check finds settings that the decoder accepts but that make no sense.
func (c *config) check(text []byte) error {
	for name, s := range c.Lint.Rules {
		switch {
		case lint.FindRule(name) == nil:
			return usage("%s:%d: there is no rule %q%s", c.path, lineOfKey(text, name), name, meantOr(name, ruleNames(), "; hist explain lists them"))
		case !s.given:
			return usage("%s:%d: %s", c.path, lineOfKey(text, name), wrongSetting(name))
		}
	}
	for i, entry := range c.Lint.Ignore {
		switch {
		case entry == ignored{}:
			return usage("%s: entry %d of lint.ignore names no rule, path or thread", c.path, i+1)
		case entry.Rule != nil && entry.Rule.name == "", entry.Path != nil && entry.Path.pattern == "", entry.Thread != nil && entry.Thread.id == "":
			return usage("%s: entry %d of lint.ignore has a table where a text is wanted", c.path, i+1)
		}
	}
	return nil
}

func wrongSetting(rule string) string {
	return fmt.Sprintf("%s = takes a text: off, blocks, loses, rejects, shows or notes", rule)
}

// wrongConfig is an error in a config file, with how to go on until it is mended, unless it asks what was meant.
func wrongConfig(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if !strings.HasSuffix(text, "?") {
		text += "; until that is right, hist lint --no-config goes without the file"
	}
	return usage("%s", text)
}

// configError names the place of an error in a config file, and what may have been meant.
func configError(path string, err error) error {
	if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		first := &unknown.Errors[0]
		line, _ := first.Position()
		key := first.Key()
		if len(key) > 3 && key[0] == "lint" && key[1] == "rules" {
			return wrongConfig("%s:%d: %s", path, line, wrongSetting(key[2]))
		}
		for n := range key {
			if known := keysBeside(key[:n+1]); !slices.Contains(known, key[n]) {
				return wrongConfig("%s:%d: there is no key %q%s", path, line, strings.Join(key[:n+1], "."), meantOr(key[n], known, "; it takes "+strings.Join(known, ", ")))
			}
		}
	}
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := wrong.Position()
		return wrongConfig("%s:%d: %s", path, line, inWords(wrong.Error()))
	}
	return wrongConfig("%s: %s", path, inWords(err.Error()))
}

var wrongType = regexp.MustCompile(`cannot decode TOML (\w+) into .*`)

// inWords replaces the decoder's own words in an error.
func inWords(message string) string {
	return wrongType.ReplaceAllString(strings.TrimPrefix(message, "toml: "), "a value is of the wrong type, $1")
}

// lineOfKey finds the line of a key, or of a table, that the decoder accepted.
func lineOfKey(text []byte, key string) int {
	at := regexp.MustCompile(`(?m)^[^#\n]*?` + regexp.QuoteMeta(key) + `["']?\s*[=\]]`).FindIndex(text)
	if at == nil {
		return 1
	}
	return 1 + strings.Count(string(text[:at[1]]), "\n")
}

// keysBeside returns the keys that are valid in the table of a key.
func keysBeside(key toml.Key) []string {
	t := reflect.TypeFor[config]()
	for _, name := range key[:len(key)-1] {
		for _, f := range reflect.VisibleFields(t) {
			if f.Tag.Get("toml") == name {
				t = f.Type
			}
		}
		for t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return nil
		}
	}
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("toml"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func ruleNames() []string { return mapped(lint.Rules, func(r *lint.Rule) string { return r.Name }) }

// ignored says which findings are left out: those that match all of its keys.
type ignored struct {
	Rule   *ruleName `toml:"rule"`
	Path   *pathGlob `toml:"path"`
	Thread *threadID `toml:"thread"`
}

// These are structs because the decoder calls UnmarshalText only for types that are not strings.
type (
	ruleName struct{ name string }
	pathGlob struct{ pattern string }
	threadID struct{ id string }
)

// UnmarshalText reads a rule's name.
func (n *ruleName) UnmarshalText(text []byte) error {
	n.name = string(text)
	if lint.FindRule(string(text)) == nil {
		return fmt.Errorf("there is no rule %q%s", text, meantOr(string(text), ruleNames(), "; hist explain lists them"))
	}
	return nil
}

// UnmarshalText reads a pattern for paths.
func (g *pathGlob) UnmarshalText(text []byte) error {
	g.pattern = string(text)
	if len(text) == 0 || !doublestar.ValidatePattern(string(text)) {
		return fmt.Errorf("%q is no pattern for paths; write it as in archive/** or **/old-*.jsonl", text)
	}
	return nil
}

var threadForm = regexp.MustCompile(`^[0-9a-f]{8}[0-9a-f-]{0,28}$`)

// UnmarshalText reads a thread's id or the beginning of one.
func (t *threadID) UnmarshalText(text []byte) error {
	t.id = strings.ToLower(string(text))
	if !threadForm.MatchString(t.id) {
		return fmt.Errorf("%q is no thread's id, nor at least the first 8 digits of one", text)
	}
	return nil
}
