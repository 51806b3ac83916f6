package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hist-cli/hist/internal/source"
)

// undoing is what is to be done about one file, after the check.
type undoing struct {
	file    *File
	action  string
	restore bool           // write the backup to file.Source
	target  *source.Source // as checked; nil: not there
	remove  bool           // remove file.Target
	backup  *source.Source
}

func (u *undoing) path() string {
	if u.file.Mode == InPlace {
		return u.file.Source
	}
	return u.file.Target
}

// examine checks one file against the disk and decides. A file that was never published passes if its place shows so:
// nothing there, or the original. Anything else there was published, in a crash, and has moved on.
func (r *Run) examine(ctx context.Context, f *File) (*undoing, error) {
	u := &undoing{file: f, action: Already}
	target, sha, err := look(ctx, f.Target)
	if err != nil {
		return nil, err
	}
	if f.Mode != InPlace {
		switch {
		case target == nil: // removed by hand
		case sha != f.SHA256After:
			return nil, fmt.Errorf("%s: %w (it was probably resumed): remove it by hand if what was added may go", f.Target, ErrMovedOn)
		default:
			u.target, u.remove, u.action = target, true, Removed
		}
		return u, nil
	}
	if f.Source == f.Target {
		switch {
		case target == nil && !f.Published:
			return u, nil // not our doing
		case target != nil && sha == f.SHA256Before:
			return u, nil // an undo was interrupted after this
		case target == nil:
			return nil, fmt.Errorf("%s: %w: it is gone; its original is %s", f.Target, ErrMovedOn, filepath.Join(r.dir, f.Backup))
		case sha != f.SHA256After:
			return nil, fmt.Errorf("%s: %w (it was probably resumed), and putting the original back would lose what was added; the original is %s",
				f.Target, ErrMovedOn, filepath.Join(r.dir, f.Backup))
		}
		u.target, u.restore, u.action = target, true, Restored
		return u, r.intact(ctx, u)
	}
	// The repaired file has another name, as X.jsonl for X.jsonl.zst.
	original, osha, err := look(ctx, f.Source)
	if err != nil {
		return nil, err
	}
	switch {
	case target != nil && sha != f.SHA256After:
		return nil, fmt.Errorf("%s: %w (it was probably resumed); the original is %s", f.Target, ErrMovedOn, filepath.Join(r.dir, f.Backup))
	case original != nil && osha != f.SHA256Before:
		return nil, fmt.Errorf("%s: %w; the original is %s", f.Source, ErrMovedOn, filepath.Join(r.dir, f.Backup))
	case target == nil && original == nil && f.Published:
		return nil, fmt.Errorf("%s: %w: it is gone; the original is %s", f.Target, ErrMovedOn, filepath.Join(r.dir, f.Backup))
	}
	if !f.Published {
		return u, nil
	}
	u.target, u.remove, u.restore = target, target != nil, original == nil
	if u.restore || u.remove {
		u.action = Restored
	}
	if !u.restore {
		return u, nil
	}
	return u, r.intact(ctx, u)
}

// look hashes the regular file at path; nil if there is none. A link in its place is not the file that we wrote.
func look(ctx context.Context, path string) (*source.Source, string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("undoing: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, "", fmt.Errorf("%s: %w: it is no longer a regular file", path, ErrMovedOn)
	}
	s, err := source.Open(path)
	if err != nil {
		return nil, "", err
	}
	sha, _, err := hashOf(ctx, s)
	return s, sha, err
}

// intact checks the backup that u will restore.
func (r *Run) intact(ctx context.Context, u *undoing) error {
	path := filepath.Join(r.dir, u.file.Backup)
	s, sha, err := look(ctx, path)
	switch {
	case err != nil:
		return err
	case s == nil || u.file.Backup == "":
		return fmt.Errorf("%s: %w: it is gone", path, ErrBackup)
	case sha != u.file.SHA256Before:
		return fmt.Errorf("%s: %w: its hash is %s, expected %s", path, ErrBackup, sha, u.file.SHA256Before)
	}
	u.backup = s
	return nil
}
