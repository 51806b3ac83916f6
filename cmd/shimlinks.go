package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/shim/front"
)

// errNoShim says that the file where the shim belongs is something else.
var errNoShim = errors.New("it is not a shim of hist's")

// installShim creates the shim of a program in a directory, and the directory if it does not exist: a link to hist, or a copy
// of it where the system has no links. An existing shim is replaced. It returns the shim's path; the error is errNoShim if
// some other file is there.
func installShim(ctx context.Context, dir string, program *front.Program) (string, error) {
	path := filepath.Join(dir, program.File())
	self, err := os.Executable()
	if err != nil {
		return path, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return path, err
	}
	if err := removeShim(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	if err := os.Symlink(self, path); err == nil {
		return path, nil
	}
	return path, publish.Write(ctx, publish.Target{Path: path, Mode: 0o755}, publish.CopyOf(self), publish.Checks{})
}

// removeShims deletes all shims in a directory and returns their paths. The error is errNoShim if a file with the name of one is
// not a shim, and fs.ErrNotExist if there are none.
func removeShims(dir string) (removed []string, err error) {
	for i := range front.Programs {
		path := filepath.Join(dir, front.Programs[i].File())
		switch err := removeShim(path); {
		case err == nil:
			removed = append(removed, path)
		case !errors.Is(err, fs.ErrNotExist):
			return removed, err
		}
	}
	if len(removed) == 0 {
		return nil, fs.ErrNotExist
	}
	return removed, nil
}

func removeShim(path string) error {
	if _, err := os.Lstat(path); err != nil {
		return err
	}
	if !isShim(path) {
		return fmt.Errorf("%s: %w", path, errNoShim)
	}
	return os.Remove(path)
}

// isShim says whether the program at path is a shim: this program or a link to hist, or a copy of this program.
func isShim(path string) bool {
	if front.IsShim(path) {
		return true
	}
	self, err := os.Executable()
	return err == nil && sameContent(self, path)
}

func sameContent(a, b string) bool {
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	if err != nil || err2 != nil || one.Size() != other.Size() {
		return false
	}
	x, err := os.ReadFile(a)
	y, err2 := os.ReadFile(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// reachedBy returns the program that typing a name runs, the first in PATH; "" if there is none.
func reachedBy(name string) string {
	path, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return ""
	}
	return path
}

// shimState says whether the shim of a program is installed, and what it runs.
type shimState struct {
	program *front.Program
	reached string // the program that PATH leads to, "" if there is none
	shim    bool   // reached is a shim
	client  string // the client behind the shim, "" if there is none
	version string // the client's, "" if it does not report one
}

// shimStateOf returns the state of a program's shim, by the PATH of this process.
func shimStateOf(ctx context.Context, program *front.Program) shimState {
	s := shimState{program: program, reached: reachedBy(program.Name)}
	s.shim = s.reached != "" && isShim(s.reached)
	if s.client = clientOf(program); s.client != "" {
		s.version = versionOf(ctx, s.client)
	}
	return s
}

// foundPrograms returns the programs whose real client is installed on this machine, and Codex in any case.
func foundPrograms() []*front.Program {
	list := []*front.Program{&front.Programs[0]}
	for i := range front.Programs[1:] {
		if p := &front.Programs[1+i]; clientOf(p) != "" {
			list = append(list, p)
		}
	}
	return list
}

// clientOf returns the path of the client behind the shim of a program, "" if there is none.
func clientOf(program *front.Program) string {
	for tried := []string{}; ; {
		client, found := program.Next(tried)
		if !found || !isShim(client) {
			return client
		}
		tried = append(tried, client)
	}
}

// versionTimeout is how long a client may take to print its version.
const versionTimeout = 5 * time.Second

// saidVersion is what a client prints when it is asked for its version, "" if it does not answer in time.
func saidVersion(ctx context.Context, client string) string {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, client, "--version")
	c.WaitDelay = time.Second
	out, err := c.Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// versionOf is the version of a Codex client, which stands behind its name.
func versionOf(ctx context.Context, client string) string {
	words := strings.Fields(saidVersion(ctx, client))
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
