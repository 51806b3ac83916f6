package home

import (
	"path/filepath"

	"github.com/hist-cli/hist/internal/agent"
)

// History is a home's database of its client's views: each session has the rows of its rollout's id.
func History(home string) agent.Database {
	return database(home, HistoryFile, func(n FileName) string { return n.RolloutID })
}

// State is a home's list of threads: each session has the row of its thread.
func State(home string) agent.Database {
	return database(home, StateFile, func(n FileName) string { return n.ThreadID })
}

func database(home, name string, key func(FileName) string) agent.Database {
	path := filepath.Join(Databases(home), name)
	return agent.Database{
		Home:  home,
		Files: []string{path, path + "-wal", path + "-journal"},
		Key: func(base string) string {
			n, ok := ParseName(base)
			if !ok {
				return ""
			}
			return key(n)
		},
	}
}
