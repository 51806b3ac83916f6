package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
)

// Relocate moves a session's file, with the folder that may lie beside it under its name, to another directory of its home, changed as
// the operation says. First everything is copied and recorded, then what was copied goes into the run's record: a crash leaves both, or
// what undo brings back. An error together with a report means that the copy is there, and so is the original.
func Relocate(ctx context.Context, j Job, dir string) (*Report, error) {
	from := j.Source.Real
	j.Output = filepath.Join(dir, filepath.Base(from))
	if _, err := os.Lstat(j.Output); err == nil {
		return nil, fmt.Errorf("%s: %w", j.Output, publish.ErrExists)
	}
	if j.Mode == DryRun {
		j.Instead = ToFile
		return Do(ctx, j)
	}
	beside := trimExtension(from)
	removeEmpty(filepath.Join(dir, filepath.Base(beside))) // an undo leaves folders
	if _, err := os.Lstat(filepath.Join(dir, filepath.Base(beside))); err == nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, filepath.Base(beside)), publish.ErrExists)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var run *runs.Run
	begin := j.Begin
	j.Mode, j.Begin = ToFile, func() (r *runs.Run, err error) {
		r, err = begin()
		run = r
		return r, err
	}
	rep, err := Do(ctx, j)
	if err != nil || run == nil {
		return rep, err
	}
	os.Chtimes(j.Output, j.Source.Info.ModTime(), j.Source.Info.ModTime()) //nolint:errcheck // its client then takes it for a newer one, no more
	parts, err := copyFolder(ctx, run, beside, filepath.Join(dir, filepath.Base(beside)), j.Home)
	if err != nil {
		return rep, fmt.Errorf("the session was copied, but not what lies beside it, so the original stays: %w", err)
	}
	for _, path := range append(parts, from) {
		if _, err := run.MoveAway(ctx, path, j.Home, j.Source.Changed); err != nil {
			return rep, fmt.Errorf("the session was copied, but the original is still there: %w", err)
		}
	}
	removeEmpty(beside)
	return rep, nil
}

func trimExtension(path string) string { return path[:len(path)-len(filepath.Ext(path))] }

// copyFolder copies the files of a folder, and returns their paths; none if there is no such folder.
func copyFolder(ctx context.Context, run *runs.Run, from, to, home string) (files []string, err error) {
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == from {
			return fs.SkipAll
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is not a regular file", path)
		}
		files = append(files, path)
		return copyFile(ctx, run, path, target, home)
	})
	return files, err
}

// copyFile copies a file, and records that.
func copyFile(ctx context.Context, run *runs.Run, from, to, home string) error {
	sha, size, err := runs.Hash(ctx, from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	f := &runs.File{Source: from, Target: to, Mode: runs.Output, SizeBefore: size, SHA256Before: sha, ModTimeBefore: info.ModTime(), Home: home}
	err = run.Publish(ctx, f, publish.Target{Path: to, Mode: info.Mode().Perm(), ModTime: info.ModTime()}, func(w io.Writer) error {
		in, err := os.Open(from)
		if err != nil {
			return err
		}
		defer in.Close()
		_, err = io.Copy(w, in)
		return err
	}, publish.Checks{})
	if errors.Is(err, publish.ErrPublished) {
		return nil
	}
	return err
}

// removeEmpty removes a folder in which only folders are left. One that is not empty stays.
func removeEmpty(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() {
			removeEmpty(filepath.Join(dir, e.Name()))
		}
	}
	os.Remove(dir) //nolint:errcheck // it stays if something is left in it
}
