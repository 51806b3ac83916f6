// Package shim installs hist in front of the client, removes it again, and reports whether it is installed.
//
// In: a directory of PATH. Out: links to hist in it, named codex and codex-acp. What hist does when it is run under such a
// name is in package front, and what it does between a caller and an app-server in package relay. Never here: reading a
// session, or running a client for more than its version.
package shim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/shim/front"
)

// ErrForeign says that the file where the shim belongs is something else.
var ErrForeign = errors.New("it is not a shim of hist's")

// Install creates the shim of a program in a directory, and the directory if it does not exist: a link to hist, or a copy
// of it where the system has no links. An existing shim is replaced. It returns the shim's path; the error is ErrForeign if
// some other file is there.
func Install(dir string, program *front.Program) (string, error) {
	path := filepath.Join(dir, program.File())
	self, err := os.Executable()
	if err != nil {
		return path, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return path, err
	}
	if err := remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	if err := os.Symlink(self, path); err == nil {
		return path, nil
	}
	return path, copyTo(path, self)
}

// copyTo copies a program to path, completely or not at all.
func copyTo(path, self string) (err error) {
	in, err := os.Open(self)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(path), ".hist-shim-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(out.Name()) //nolint:errcheck // the first error counts
		}
	}()
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Chmod(0o755), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), path)
}

// Remove deletes all shims in a directory and returns their paths. The error is ErrForeign if a file with the name of one is
// not a shim, and fs.ErrNotExist if there are none.
func Remove(dir string) (removed []string, err error) {
	for i := range front.Programs {
		path := filepath.Join(dir, front.Programs[i].File())
		switch err := remove(path); {
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

func remove(path string) error {
	if _, err := os.Lstat(path); err != nil {
		return err
	}
	if !Is(path) {
		return fmt.Errorf("%s: %w", path, ErrForeign)
	}
	return os.Remove(path)
}

// Is says whether the program at path is a shim: this program or a link to hist, or a copy of this program.
func Is(path string) bool {
	if front.IsShim(path) {
		return true
	}
	self, err := os.Executable()
	if err != nil {
		return false
	}
	same, err := sameContent(self, path)
	return err == nil && same
}

func sameContent(a, b string) (bool, error) {
	var files [2]*os.File
	var sizes [2]int64
	for i, path := range []string{a, b} {
		f, err := os.Open(path)
		if err != nil {
			return false, err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return false, err
		}
		files[i], sizes[i] = f, info.Size()
	}
	if sizes[0] != sizes[1] {
		return false, nil
	}
	var blocks [2][64 << 10]byte
	for {
		n, err := io.ReadFull(files[0], blocks[0][:])
		m, _ := io.ReadFull(files[1], blocks[1][:])
		if n != m || string(blocks[0][:n]) != string(blocks[1][:m]) {
			return false, nil
		}
		if err != nil { // the end, at the same place in both
			return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF), nil
		}
	}
}

// Reached returns the program that typing a name runs, the first in PATH; "" if there is none.
func Reached(name string) string {
	path, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return ""
	}
	return path
}

// Status says whether the shim of a program is installed, and what it runs.
type Status struct {
	Program *front.Program
	Reached string // the program that PATH leads to, "" if there is none
	Shim    bool   // Reached is a shim
	Client  string // the client behind the shim, "" if there is none
	Version string // the client's, "" if it does not report one
}

// Look returns the status of a program's shim, by the PATH of this process.
func Look(ctx context.Context, program *front.Program) Status {
	s := Status{Program: program, Reached: Reached(program.Name)}
	s.Shim = s.Reached != "" && Is(s.Reached)
	if s.Client = clientOf(program); s.Client != "" {
		s.Version = versionOf(ctx, s.Client)
	}
	return s
}

// Found returns the programs whose real client is installed on this machine, and Codex in any case.
func Found() []*front.Program {
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
		if !found || !Is(client) {
			return client
		}
		tried = append(tried, client)
	}
}

// versionTimeout is how long a client may take to print its version.
const versionTimeout = 5 * time.Second

// SaidVersion is what a client prints when it is asked for its version, "" if it does not answer in time.
func SaidVersion(ctx context.Context, client string) string {
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
	words := strings.Fields(SaidVersion(ctx, client))
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
