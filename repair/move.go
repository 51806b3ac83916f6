package repair

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
)

// Relocate moves a session's file, with the folder that may lie beside it under its name, to another directory of its home, changed as
// the operation says. First everything is copied and recorded, then what was copied goes into the run's record: a crash leaves both, or
// what undo brings back. An error together with a report means that the copy is there, and so is the original.
func Relocate(ctx context.Context, j Job, dir string) (*Report, error) {
	from := j.Source.Real
	j.Output = filepath.Join(dir, filepath.Base(from))
	beside := trimExtension(from)
	if _, err := os.Lstat(j.Output); err == nil {
		return nil, fmt.Errorf("%s: %w", j.Output, publish.ErrExists)
	}
	if j.Mode == DryRun {
		j.Instead = ToFile
		return Do(ctx, j)
	}
	if hasFiles(filepath.Join(dir, filepath.Base(beside))) {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, filepath.Base(beside)), publish.ErrExists)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var run *runs.Run
	begin := j.Begin
	op := *j.Operation
	op.Record = moving + from
	j.Operation, j.Mode, j.Begin = &op, ToFile, func() (r *runs.Run, err error) {
		r, err = begin()
		run = r
		return r, err
	}
	rep, err := Do(ctx, j)
	if err != nil || run == nil {
		return rep, err
	}
	os.Chtimes(j.Output, j.Source.Info.ModTime(), j.Source.Info.ModTime()) //nolint:errcheck // its client then takes it for a newer one, no more
	parts, err := copyFolder(ctx, run, beside, filepath.Join(dir, filepath.Base(beside)), j.Home, op.Record)
	if err != nil {
		return rep, fmt.Errorf("the session was copied, but not what lies beside it, so the original stays: %w", err)
	}
	err = moveAway(ctx, run, parts, j.Home, op.Record)
	if err == nil {
		_, err = run.MoveAway(ctx, from, j.Home, op.Record, j.Source.Changed)
	}
	if err != nil {
		return rep, fmt.Errorf("the session was copied, but the original is still there; hist undo %s takes the copy back: %w", run.Manifest.Run, err)
	}
	removeEmpty(beside)
	return rep, nil
}

// TakeBackMoves undoes each move that was cut off between the copy and the original: until the original is gone, it counts, and the move can
// begin anew. It returns what had been moved.
func TakeBackMoves(ctx context.Context) (moved []string, err error) {
	list, _ := runs.ListSettled(ctx) // a record that can't be read tells of no move
	for _, m := range list {
		half := map[string]bool{}
		for i := range m.Files {
			f := &m.Files[i]
			if !strings.HasPrefix(f.Plan, moving) || f.Mode != runs.Output || f.Undone || half[f.Plan] || f.IsAway(m.Files) {
				continue
			}
			sha, _, err := runs.Hash(ctx, f.Source)
			half[f.Plan] = err == nil && sha == f.SHA256Before && f.Stands(ctx)
		}
		if !slices.Contains(slices.Collect(maps.Values(half)), true) {
			continue
		}
		run, err := runs.Load(m.Run)
		if err != nil {
			return moved, err
		}
		if _, err := run.Undo(ctx, Claims{HomeOf: func(string) string { return "" }}, func(f *runs.File) bool { return half[f.Plan] }); err != nil {
			return moved, err
		}
		for plan, is := range half {
			if is {
				moved = append(moved, strings.TrimPrefix(plan, moving))
			}
		}
	}
	slices.Sort(moved)
	return moved, nil
}

// moving begins what the record says of each file of a move, in front of the path of the session or the folder that moves.
const moving = "move "

func trimExtension(path string) string { return path[:len(path)-len(filepath.Ext(path))] }

// copied is a file of which there is a copy now, with that hash.
type copied struct{ path, sha string }

// moveAway keeps files that were copied in the run, and removes them. One that has changed since stays.
func moveAway(ctx context.Context, run *runs.Run, files []copied, home, plan string) error {
	for _, f := range files {
		_, err := run.MoveAway(ctx, f.path, home, plan, func() error {
			sha, _, err := runs.Hash(ctx, f.path)
			if err == nil && sha != f.sha {
				err = fmt.Errorf("%s: %w", f.path, ErrChanged)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// hasFiles says whether a folder holds a file. Empty folders, which an undo leaves, are removed; files that a crash has left are none.
func hasFiles(dir string) (has bool) {
	removeEmpty(dir)
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { //nolint:errcheck // what can't be read is there
		has = has || !errors.Is(err, fs.ErrNotExist) && (err != nil || !d.IsDir() && !publish.IsTemp(d.Name()))
		return nil
	})
	return has
}

// copyFolder copies the files of a folder, and returns them; none if there is no such folder.
func copyFolder(ctx context.Context, run *runs.Run, from, to, home, plan string) (files []copied, err error) {
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
		sha, err := copyFile(ctx, run, path, target, home, plan)
		files = append(files, copied{path, sha})
		return err
	})
	return files, err
}

// copyFile copies a file, and records that as a part of a plan. It returns the file's hash.
func copyFile(ctx context.Context, run *runs.Run, from, to, home, plan string) (sha string, err error) {
	sha, size, err := runs.Hash(ctx, from)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(from)
	if err != nil {
		return "", err
	}
	f := &runs.File{Plan: plan, Source: from, Target: to, Mode: runs.Output, SizeBefore: size, SHA256Before: sha, ModTimeBefore: info.ModTime(), Home: home}
	err = run.Publish(ctx, f, publish.Target{Path: to, Mode: info.Mode().Perm(), ModTime: info.ModTime()}, publish.CopyOf(from), publish.Checks{Last: func() error {
		if f.SHA256After != sha {
			return fmt.Errorf("%s: %w", from, ErrChanged)
		}
		return nil
	}})
	if errors.Is(err, publish.ErrPublished) {
		err = nil
	}
	return sha, err
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
