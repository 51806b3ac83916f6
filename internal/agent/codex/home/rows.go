package home

import (
	"path/filepath"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/rowprint"
)

// History is a home's database of its client's views: each session has the rows of its rollout's id.
func History(home string) agent.Database {
	return database(home, HistoryFile, func(n FileName) string { return n.RolloutID }, []rowprint.Table{
		{Name: "thread_items", Key: "thread_id"},
		{Name: "thread_turns", Key: "thread_id"},
		{Name: "thread_history_projection_state", Key: "thread_id"},
		{Name: "thread_realtime_items", Key: "thread_id"},
	})
}

// State is a home's list of threads: each session has the row of its thread.
func State(home string) agent.Database {
	return database(home, StateFile, func(n FileName) string { return n.ThreadID }, []rowprint.Table{{Name: "threads", Key: "id"}})
}

func database(home, name string, key func(FileName) string, tables []rowprint.Table) agent.Database {
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
		Prints: func() (map[string][16]byte, error) { return rowprint.Prints(path, tables) },
	}
}
