package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/disk"
)

// ErrBusy says that somebody uses the session right now.
var ErrBusy = disk.ErrBusy

// Busy says who or what is using a session.
type Busy = disk.Busy

// InUse looks whether somebody uses the rollout file at path, and returns nil if nobody does. It asks for Codex's
// migration journal and staged files, whether the agent of threadID has run this process, for the writer's lock of
// threadID below home, and (Linux) for any descriptor of the file that is open to write to it, this process's own included.
// No client notices the question. With home or threadID empty only the file itself is looked at. An error says that it
// could not be found out: it is not known that nobody uses the file.
//
// Clients before 0.145 take no lock, and only Linux tells who has a file open: elsewhere nil means "not that we know".
func InUse(path, home, threadID string) (*Busy, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("looking whether %s is in use: %w", path, disk.Cause(err))
	}
	return RealInUse(real, home, threadID)
}

// RealInUse is InUse for a path in which no symbolic link is left.
func RealInUse(real, home, threadID string) (*Busy, error) {
	return inUse(real, home, threadID, marks{})
}

// marks are what is known not to be there of what tells that a session is in use: then it is not looked for.
type marks struct {
	unstaged  bool // what a migration has prepared beside it
	unstarted bool // the migration's journal
	unlocked  bool // the writer's lock
}

// inUse is RealInUse.
func inUse(real, home, threadID string, none marks) (*Busy, error) {
	if threadID != "" && !IsID(threadID) {
		return nil, fmt.Errorf("%q: %w", threadID, agent.ErrBadID)
	}
	b, unknown := migrating(real, home, threadID, none)
	if b != nil {
		return b, nil
	}
	if Asking(threadID) {
		return &Busy{Reason: "hist was run by the agent whose session it is ($" + threadVar + "; unset it if that agent is gone)"}, nil
	}
	if home != "" && threadID != "" && !none.unlocked {
		b, err := probeThread(home, threadID)
		if b != nil {
			return b, nil
		}
		unknown = errors.Join(unknown, err)
	}
	// Where the locks tell nothing, the open file may still.
	if b, err := disk.Written(real); b != nil || err != nil {
		return b, err
	}
	return nil, unknown
}

// threadVar names the thread to the commands that an agent runs (measured with 0.114.0, 0.145.0 and 0.169.0; 0.79.0 does
// not set it). The sandbox of 0.169.0 hides from a command what else would tell: the lock's owner and the open file.
const threadVar = "CODEX_THREAD_ID"

// Asking says whether the agent that works in a thread has run this process.
func Asking(threadID string) bool {
	return threadID != "" && strings.EqualFold(threadID, os.Getenv(threadVar))
}

// stagedSuffixes end the names of the files that a migration to numbered records prepares beside a rollout.
var stagedSuffixes = []string{".paginated.tmp", ".paginated.zst.tmp", ".decompressed.tmp", ".head.tmp"}

// journal is what Codex writes while it migrates a thread.
func journal(home, threadID string) string {
	return filepath.Join(home, journalDir, strings.ToLower(threadID)+journalSuffix)
}

const (
	journalDir    = "rollout-migrations"
	journalSuffix = ".pending"
)

// migrating looks for a migration that Codex has begun and not finished. It must finish it itself.
func migrating(real, home, threadID string, none marks) (*Busy, error) {
	var marks []string
	if home != "" && threadID != "" && !none.unstarted {
		marks = append(marks, journal(home, threadID))
	}
	dir, base := filepath.Split(real)
	suffixes := stagedSuffixes
	if none.unstaged {
		suffixes = nil
	}
	for _, suffix := range suffixes {
		marks = append(marks, filepath.Join(dir, "."+base+suffix))
		if plain, zst := strings.CutSuffix(base, zstSuffix); zst {
			marks = append(marks, filepath.Join(dir, "."+plain+suffix))
		}
	}
	for _, mark := range marks {
		_, err := os.Lstat(mark)
		if err == nil {
			return &Busy{Reason: fmt.Sprintf("Codex has begun to migrate it (%s); start Codex once and let it finish", mark)}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !tooLong(err) {
			return nil, fmt.Errorf("looking for a migration of %s: %w", real, err)
		}
	}
	return nil, nil
}
