package runs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/hist-cli/hist/internal/publish"
)

// leaving begins the name of a record that is being removed: no run is called so.
const leaving = ".removing-"

// Remove removes the record of a run. First it gets a name that is no run's, so that what a crash leaves of it is none. What
// others have left so is removed, too. One that is gone already is no error.
func Remove(run string) error {
	root, err := Dir()
	if err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(root, run), filepath.Join(root, leaving+run)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	publish.Step("leaving")
	return RemoveRest()
}

// RemoveRest removes what is left of records whose removal was cut off.
func RemoveRest() error {
	root, err := Dir()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if run, ok := strings.CutPrefix(e.Name(), leaving); ok && idFormat.MatchString(run) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(root, e.Name())))
		}
	}
	return err
}

// forgetting is the name of a file in the record of a run that is to be removed once the run is done, because what it keeps must not
// stay. It holds the id of the process whose run it is.
const forgetting = "forget"

// Forget marks a run: RemoveForgotten removes its record if a crash has left it.
func (r *Run) Forget() error {
	if r.has(forgetting) {
		return nil
	}
	return r.write(forgetting, []byte(strconv.Itoa(os.Getpid())), false)
}

// RemoveForgotten removes the marked records of processes that have ended.
func RemoveForgotten() error {
	root, err := Dir()
	if err != nil {
		return err
	}
	marks, err := filepath.Glob(filepath.Join(root, "*", forgetting))
	if err != nil {
		return err
	}
	for _, mark := range marks {
		run := filepath.Base(filepath.Dir(mark))
		if strings.HasPrefix(run, leaving) {
			continue
		}
		text, err := os.ReadFile(mark)
		if pid, bad := strconv.Atoi(string(text)); err != nil || bad == nil && running(pid) {
			continue
		}
		if err := Remove(run); err != nil {
			return err
		}
	}
	return RemoveRest()
}

func running(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil || runtime.GOOS == "windows" {
		return err == nil
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, fs.ErrPermission)
}
