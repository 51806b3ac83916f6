package agent

import (
	"os"
	"sync"
	"time"

	"github.com/hist-cli/hist/internal/disk"
)

// Prompt is one as a user typed it, which may be a command to the client.
type Prompt struct {
	Words  string
	When   time.Time
	Pasted string // what stands for a mark in the words, in the client's form; "" if nothing does
}

// PromptLists keeps what was typed in the sessions of homes, because a walk asks for one session after the other. Its method may be called
// from several goroutines.
type PromptLists struct {
	mu sync.Mutex
	of map[string]promptList // by the list's path
}

type promptList struct {
	was     os.FileInfo
	prompts map[string][]Prompt
}

// Of is the list at a path, by the sessions' ids. read reads it when it is first asked for, and once it has changed. It is nil if there is
// none.
func (l *PromptLists) Of(path string, read func(list *os.File, size int64) map[string][]Prompt) map[string][]Prompt {
	file, err := disk.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	now, err := file.Stat()
	if err != nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if kept, is := l.of[path]; is && os.SameFile(kept.was, now) && kept.was.Size() == now.Size() && kept.was.ModTime().Equal(now.ModTime()) {
		return kept.prompts
	}
	if l.of == nil {
		l.of = map[string]promptList{}
	}
	l.of[path] = promptList{now, read(file, now.Size())}
	return l.of[path].prompts
}
