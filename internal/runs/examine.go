package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hist-cli/hist/internal/source"
)

// undoing is what Undo will do to one file, as examine decided.
type undoing struct {
	file    *File
	index   int // of file
	action  string
	restore bool           // write the backup to file.Source
	target  *source.Source // file.Target when it was checked; nil if there is none
	remove  bool           // remove file.Target
	rows    bool           // leave the file as it is, and restore what the client's database held of it
	added   int64          // restore: how many bytes at the target's end its client has added since, which stay
	backup  *source.Source

	database *databaseBack // a database that is to be brought back, or what of it is missing; else nil
}

func (u *undoing) path() string {
	if u.file.Mode == Moved || u.file.Mode == InPlace || u.file.Mode == View {
		return u.file.Source
	}
	return u.file.Target
}

// examine compares one file with the disk and decides what to do. A file that was never published is fine if its path shows
// that: there is no file, or it is the original. Any other content means that it was published before a crash and has
// changed since.
func (r *Run) examine(ctx context.Context, index int) (*undoing, error) {
	f := &r.Manifest.Files[index]
	u := &undoing{file: f, index: index, action: Already}
	target, sha, err := hashAt(ctx, f.Target)
	if err != nil {
		return nil, err
	}
	switch {
	case f.Mode == Moved:
		err = r.examineMoved(ctx, u, target, sha)
	case f.Mode == View:
		err = r.examineView(ctx, u, target, sha)
	case f.Mode == NewThread || f.Mode == Output:
		err = u.removal(ctx, r, target, sha)
	case f.Mode != InPlace:
		err = fmt.Errorf("%s: %w: there is no mode %q", f.Target, ErrDamaged, f.Mode)
	case f.Source == f.Target:
		err = r.examineReplaced(ctx, u, target, sha)
	default:
		err = r.examineRenamed(ctx, u, target, sha)
	}
	return u, err
}

// examineView decides about a session of which only the client's view was changed: what its database held of it.
func (r *Run) examineView(ctx context.Context, u *undoing, target *source.Source, sha string) error {
	f := u.file
	if target == nil || sha != f.SHA256Before {
		return fmt.Errorf("%s: %w (it was probably resumed), and its client has built its view of it again; the earlier view is %s",
			f.Target, ErrMovedOn, filepath.Join(r.dir, f.Rows))
	}
	u.target, u.rows, u.action = target, true, RowsBack
	return r.intact(ctx, u)
}

// examineReplaced decides about a file that was replaced by its repaired copy.
func (r *Run) examineReplaced(ctx context.Context, u *undoing, target *source.Source, sha string) (err error) {
	f := u.file
	switch {
	case target == nil && !f.Published:
		return nil // the run never wrote it
	case target != nil && sha == f.SHA256Before && !f.Published && f.Rows != "":
		u.target, u.rows, u.action = target, true, RowsBack // killed before the file was replaced
		return r.intact(ctx, u)
	case target != nil && sha == f.SHA256Before:
		return nil // an undo was interrupted after this
	case target == nil && f.Common:
		u.action = Kept
		return nil
	case target == nil:
		return fmt.Errorf("%s: %w: it is gone; its original is %s", f.Target, ErrMovedOn, filepath.Join(r.dir, f.Backup))
	case sha != f.SHA256After && f.Common:
		if u.added, err = f.appended(ctx, target); err != nil {
			return err
		}
		if u.added == 0 {
			u.action = Kept
			return nil
		}
	case sha != f.SHA256After:
		return fmt.Errorf("%s: %w (it was probably resumed), and putting the original back would lose what was added; the original is %s",
			f.Target, ErrMovedOn, filepath.Join(r.dir, f.Backup))
	}
	u.target, u.restore, u.action = target, true, Restored
	return r.intact(ctx, u)
}

// appended is how many bytes stand in a file behind what the run left there, 0 if that itself has changed.
func (f *File) appended(ctx context.Context, target *source.Source) (int64, error) {
	if target.Size() <= f.SizeAfter {
		return 0, nil
	}
	in, err := target.Raw(ctx)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	begin := source.NewSum()
	if _, err := copyTo(begin, io.LimitReader(in, f.SizeAfter), f.SizeAfter); err != nil || begin.Hex() != f.SHA256After {
		return 0, err
	}
	return target.Size() - f.SizeAfter, nil
}

// examineRenamed decides about a file whose repaired copy has another name: X.jsonl for X.jsonl.zst.
func (r *Run) examineRenamed(ctx context.Context, u *undoing, target *source.Source, sha string) error {
	f := u.file
	original, originalSHA, err := hashAt(ctx, f.Source)
	if err != nil {
		return err
	}
	backup := filepath.Join(r.dir, f.Backup)
	switch {
	case target != nil && sha != f.SHA256After:
		return fmt.Errorf("%s: %w (it was probably resumed); the original is %s", f.Target, ErrMovedOn, backup)
	case original != nil && originalSHA != f.SHA256Before:
		return fmt.Errorf("%s: %w; the original is %s", f.Source, ErrMovedOn, backup)
	case target == nil && original == nil && f.Published:
		return fmt.Errorf("%s: %w: it is gone; the original is %s", f.Target, ErrMovedOn, backup)
	case !f.Published:
		return nil
	}
	u.target, u.remove, u.restore = target, target != nil, original == nil
	if u.restore || u.remove {
		u.action = Restored
	}
	if !u.restore {
		return nil
	}
	return r.intact(ctx, u)
}

// removal decides about a copy that the run made. It is kept if the original is gone.
func (u *undoing) removal(ctx context.Context, r *Run, target *source.Source, sha string) error {
	f := u.file
	switch {
	case target == nil: // removed by hand
		return nil
	case sha != f.SHA256After:
		return fmt.Errorf("%s: %w (it was probably resumed): remove it by hand if what was added is not needed", f.Target, ErrMovedOn)
	}
	if original, _, err := hashAt(ctx, f.Source); (err != nil || original == nil) && !r.bringsBack(f.Source) {
		return errors.Join(fmt.Errorf("%s: %w: %s, of which it is a copy, is gone: remove it by hand if the session is not needed", f.Target, ErrMovedOn, f.Source), err)
	}
	u.target, u.remove, u.action = target, true, Removed
	return nil
}

// hashAt opens and hashes the regular file at path; nil if there is none. A link there is not the file that we wrote.
func hashAt(ctx context.Context, path string) (*source.Source, string, error) {
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
	sha, err := HashOf(ctx, s)
	return s, sha, err
}

// intact checks the files of the run that u will restore from.
func (r *Run) intact(ctx context.Context, u *undoing) (err error) {
	if u.file.Rows != "" {
		if _, err := r.kept(ctx, u.file.Rows, u.file.RowsSHA256); err != nil {
			return err
		}
	}
	if u.restore {
		u.backup, err = r.kept(ctx, u.file.Backup, u.file.SHA256Before)
	}
	return err
}

// kept opens a file of the run and checks its hash.
func (r *Run) kept(ctx context.Context, name, want string) (*source.Source, error) {
	path := filepath.Join(r.dir, name)
	s, sha, err := hashAt(ctx, path)
	switch {
	case err != nil:
		return nil, err
	case s == nil || name == "":
		return nil, fmt.Errorf("%s: %w: it is gone", path, ErrBackup)
	case sha != want:
		return nil, fmt.Errorf("%s: %w: its hash is %s, expected %s", path, ErrBackup, sha, want)
	}
	return s, nil
}

// bringsBack says whether the undo of this run brings a file back that it has moved away. That is done before copies of it are removed.
func (r *Run) bringsBack(path string) bool {
	return slices.ContainsFunc(r.Manifest.Files, func(f File) bool { return f.Mode == Moved && f.Source == path && !f.Undone && f.Backup != "" })
}
