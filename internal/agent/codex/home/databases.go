package home

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/hist-cli/hist/internal/source"
)

// maxConfig is how large a client's config.toml may be, in bytes.
const maxConfig = 4 << 20

// Databases returns the directory of a home's databases: $CODEX_SQLITE_HOME, sqlite_home in config.toml, or the home.
func Databases(home string) string {
	if dir := os.Getenv("CODEX_SQLITE_HOME"); dir != "" {
		return dir
	}
	var config struct {
		Home string `toml:"sqlite_home"`
	}
	// A config that can't be read is the client's business; then the databases lie where they lie by default.
	text, err := source.Small(Config(home), maxConfig)
	if err == nil && toml.Unmarshal(text, &config) == nil && config.Home != "" {
		if filepath.IsAbs(config.Home) {
			return config.Home
		}
		return filepath.Join(home, config.Home)
	}
	return home
}

// HistoryFile is the database in which a client keeps its view of each session (0.145 to 0.169).
const HistoryFile = "thread_history_1.sqlite"

// StateFile is the database in which clients list a home's threads (0.107 to 0.169).
const StateFile = "state_5.sqlite"

// Logs are the databases in which clients write what they do, the newest first: of 0.120 to 0.169, of 0.114 to 0.118, and
// of 0.110.
func Logs() []string { return []string{"logs_2.sqlite", "logs_1.sqlite", StateFile} }

// databases begin the names of those of a client's databases without which it resumes nothing.
var databases = []string{"state_", "thread_history_", "logs_", "goals_", "memories_", "queue_"}

// DatabaseNames are the names of those of a home's databases without which its client resumes nothing.
func DatabaseNames(home string) (names []string) {
	entries, _ := os.ReadDir(Databases(home)) // what can't be read is told when it is needed
	for _, e := range entries {
		begins := func(with string) bool { return strings.HasPrefix(e.Name(), with) }
		if strings.HasSuffix(e.Name(), ".sqlite") && slices.ContainsFunc(databases, begins) {
			names = append(names, e.Name())
		}
	}
	return names
}
