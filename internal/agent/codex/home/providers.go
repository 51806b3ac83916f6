package home

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"

	"github.com/pelletier/go-toml/v2"

	"github.com/hist-cli/hist/internal/source"
)

// Config is the path of a home's config.toml, whether it exists or not.
func Config(home string) string { return filepath.Join(home, "config.toml") }

// builtIn are the model providers that clients know without a config (measured with 0.145.0 and 0.171.0).
var builtIn = []string{"openai", "ollama", "lmstudio", "amazon-bedrock"}

// Providers are the model providers that a home's client knows; nil if that is not certain: without a config.toml, or where one of the
// files that may name some can't be read. (A project's own config and managed_config.toml name none: measured with 0.171.0.)
//
// standard is the one with which a thread begins that asks for none; "" if a profile may say so.
func Providers(home string) (known map[string]bool, standard string) {
	var config struct {
		Providers map[string]any `toml:"model_providers"`
		Provider  string         `toml:"model_provider"`
		Profile   string         `toml:"profile"`
	}
	profiles, _ := filepath.Glob(filepath.Join(home, "*.config.toml")) // the pattern is a good one
	files := append([]string{Config(home)}, profiles...)
	if runtime.GOOS != "windows" {
		files = append(files, "/etc/codex/config.toml")
	}
	known = map[string]bool{}
	for i, path := range files {
		text, err := source.Small(path, maxConfig)
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || toml.Unmarshal(text, &config) != nil {
			return nil, ""
		}
		if i == 0 && config.Profile == "" && len(profiles) == 0 {
			standard = cmp.Or(config.Provider, builtIn[0])
		}
		for name := range config.Providers {
			known[name] = true
		}
	}
	for _, name := range builtIn {
		known[name] = true
	}
	return known, standard
}
