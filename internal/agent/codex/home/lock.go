package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/disk"
)

const (
	lockDir         = "thread-writer-locks"
	lockSuffix      = ".lock"
	coordination    = ".coordination.lock"
	maintenanceLock = ".tmp/rollout-maintenance.lock"

	// lockPatience is how long to wait for the coordination lock, which Codex holds for moments only.
	lockPatience = 2 * time.Second
	lockPause    = 10 * time.Millisecond
)

var errLocked = errors.New("locked by somebody else")

// Lock makes this process the writer of the thread in the way that Codex does (0.145 and later): under the
// coordination lock it takes thread-writer-locks/ID.lock, and Codex's maintenance lock as well if that file exists. If
// another process is the writer it returns an error that is ErrBusy, at once; *Busy tells which. A home without a
// thread-writer-locks directory has no clients that lock, and nothing is made there: a lock in hist's own directory keeps
// other runs of hist off in every home, and on Linux a name in the kernel those with another such directory.
//
// release gives all of it back and removes the thread's lock file. It may be called more than once. Until then InUse
// with this thread's id reports our own lock: ask it before, and after with Hold.
func Lock(home, threadID string) (release func(), err error) {
	if !IsID(threadID) {
		return nil, fmt.Errorf("%q: %w", threadID, agent.ErrBadID)
	}
	maintenance, err := lockMaintenance(home)
	if err != nil {
		return nil, err
	}
	own, err := lockOwn(home, threadID)
	if err != nil {
		closeLock(maintenance)
		return nil, err
	}
	rivals, err := lockRivals(home, threadID)
	if err != nil {
		unlockOwn(own)
		closeLock(maintenance)
		return nil, err
	}
	thread, err := lockThread(home, threadID)
	if err != nil {
		rivals()
		unlockOwn(own)
		closeLock(maintenance)
		return nil, err
	}
	var once sync.Once
	return func() {
		once.Do(func() {
			unlockThread(home, thread)
			rivals()
			unlockOwn(own)
			closeLock(maintenance)
		})
	}, nil
}

// lockThread returns the locked file of the thread; nil if the home has no lock directory.
func lockThread(home, threadID string) (*os.File, error) {
	dir := filepath.Join(home, lockDir)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("looking for Codex's writer locks: %w", err)
	}
	c, err := lockCoordination(dir)
	if err != nil {
		return nil, err
	}
	defer closeLock(c)
	name := threadLock(home, threadID)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("taking the writer's lock: %w", err)
	}
	if err := tryLock(f, true); err != nil {
		defer f.Close()
		if errors.Is(err, errLocked) {
			return nil, writerBusy(home, name)
		}
		return nil, fmt.Errorf("taking the writer's lock %s: %w", name, err)
	}
	return f, nil
}

// unlockThread removes the lock file while it holds the coordination lock, so that nobody locks a file without a name.
// If it cannot get that lock the file stays, as after a crash of Codex: only the kernel's lock means anything.
func unlockThread(home string, f *os.File) {
	if f == nil {
		return
	}
	defer closeLock(f)
	c, err := lockCoordination(filepath.Join(home, lockDir))
	if err != nil {
		return
	}
	defer closeLock(c)
	if stillNamed(f) {
		removeLock(f)
	}
}

// probeThread says whether another process is the thread's writer. It asks under the coordination lock, without which
// no client takes or tries the thread's: so none can be turned away by the question.
func probeThread(home, threadID string) (*Busy, error) {
	name := threadLock(home, threadID)
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking at the writer's lock: %w", err)
	}
	defer f.Close()
	c, err := lockCoordination(filepath.Dir(name))
	if err != nil {
		if b := (*Busy)(nil); errors.As(err, &b) {
			return b, nil
		}
		return nil, err
	}
	defer closeLock(c)
	switch err := tryLock(f, true); {
	case errors.Is(err, errLocked):
		return writerBusy(home, name), nil
	case err != nil:
		return nil, fmt.Errorf("trying the writer's lock %s: %w", name, err)
	}
	unlock(f)
	return nil, nil
}

// lockCoordination waits for the lock under which clients take and remove thread locks.
func lockCoordination(dir string) (*os.File, error) {
	name := filepath.Join(dir, coordination)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("taking Codex's coordination lock: %w", err)
	}
	for deadline := time.Now().Add(lockPatience); ; time.Sleep(lockPause) {
		err := tryLock(f, true)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, errLocked) {
			f.Close()
			return nil, fmt.Errorf("taking Codex's coordination lock %s: %w", name, err)
		}
		if time.Now().After(deadline) {
			f.Close()
			b := &Busy{PID: disk.Holder(name), Lock: name, Reason: "a client has held " + name + " for a while; try again when it is done"}
			return nil, b
		}
	}
}

// lockMaintenance keeps Codex's compression and migration away; nil if its lock file does not exist.
func lockMaintenance(home string) (*os.File, error) {
	name := filepath.Join(home, filepath.FromSlash(maintenanceLock))
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("taking Codex's maintenance lock: %w", err)
	}
	if err := tryLock(f, false); err != nil {
		f.Close()
		if errors.Is(err, errLocked) {
			return nil, &Busy{PID: disk.Holder(name), Lock: name, Reason: "Codex is compressing or migrating sessions (" + name + "); try again later"}
		}
		return nil, fmt.Errorf("taking Codex's maintenance lock %s: %w", name, err)
	}
	return f, nil
}

func threadLock(home, threadID string) string {
	return filepath.Join(home, lockDir, strings.ToLower(threadID)+lockSuffix)
}

func writerBusy(home, name string) *Busy {
	b := &Busy{PID: disk.Holder(name), Lock: name}
	who := "a client"
	if b.PID == os.Getpid() { // we have the file open, and cannot see who has it locked
		b.PID = 0
	}
	if b.PID != 0 {
		who = fmt.Sprintf("process %d", b.PID)
	}
	if daemon(home, b.PID) {
		who, b.Free = "Codex's own daemon, "+who+",", []string{"codex", "app-server", "daemon", "stop"}
	}
	b.Reason = who + " has this thread open (" + name + " is locked)"
	return b
}

// daemon says whether a process is the server that the terminal client of 0.171.0 starts from a copy of itself in the home. It
// keeps a thread for 45 to 60 s after its last client has left, or until the turn ends. `codex resume` joins it; `codex exec
// resume` and another app-server are refused (measured).
func daemon(home string, pid int) bool {
	if pid == 0 {
		return false
	}
	args := disk.ProcessArgs(pid)
	real, err := filepath.EvalSymlinks(home)
	if err != nil || len(args) == 0 {
		return false
	}
	copied := filepath.Join(real, "packages", "app-server-daemon") + string(filepath.Separator)
	return strings.HasPrefix(args[0], copied) && slices.Contains(args, "app-server") && slices.Contains(args, "--managed-daemon")
}

// closeLock gives a lock back; the kernel drops it with the descriptor.
func closeLock(f *os.File) {
	if f != nil {
		f.Close()
	}
}
