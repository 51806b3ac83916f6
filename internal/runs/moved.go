package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hist-cli/hist/internal/failpoint"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/sum"
)

// What SQLite keeps beside a database: what was written to it newly, and an index of that.
const (
	logSuffix    = "-wal"
	sharedSuffix = "-shm"
)

// MoveAway keeps a database, with what SQLite keeps beside it, in the run and then removes it. free is called when all is kept
// and recorded: its error means that somebody may use the database, and then nothing is removed. The database itself goes last:
// until then another repair, or an undo, finds it and finishes.
func (r *Run) MoveAway(ctx context.Context, path, home string, free func() error) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("moving %s away: its path must be absolute", path)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("moving a database away: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file: move it away by hand, and what it leads to", path)
	}
	logInfo, err := os.Lstat(path + logSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("moving a database away: %w", err)
	}
	f := File{Source: path, Target: path, Mode: Moved, SizeBefore: info.Size(), ModTimeBefore: info.ModTime(), Perm: info.Mode().Perm(), Home: home, SHA256After: sum.New().Hex()}
	if f.Log, f.LogSHA256, err = r.backupIfThere(ctx, path+logSuffix); err != nil {
		return err
	}
	if f.Shared, f.SharedSHA256, err = r.backupIfThere(ctx, path+sharedSuffix); err != nil {
		return err
	}
	if f.Backup, f.SHA256Before, err = r.Backup(ctx, path); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return fmt.Errorf("recording %s: %w", path, err)
	}
	at := len(r.Manifest.Files)
	r.Manifest.Files = append(r.Manifest.Files, f)
	if err := r.record(at, true); err != nil {
		r.Manifest.Files = r.Manifest.Files[:at]
		return err
	}
	if err := errors.Join(free(), unchanged(path, info), unchanged(path+logSuffix, logInfo)); err != nil {
		return errors.Join(err, r.drop())
	}
	for _, name := range []string{path + logSuffix, path + sharedSuffix, path} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("moving a database away (it is kept in %s): %w", r.dir, err)
		}
		failpoint.At("moved " + filepath.Ext(name))
	}
	if err := publish.SyncDir(filepath.Dir(path)); err != nil {
		return err
	}
	r.Manifest.Files[at].Published = true
	return r.record(at, true)
}

// unchanged says whether a file is still the one that was looked at before it was kept, nil for none. It is compared by size and
// time, because nobody may open it any more.
func unchanged(path string, before fs.FileInfo) error {
	now, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && before == nil:
		return nil
	case err != nil || before == nil || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()):
		return fmt.Errorf("%s: %w", path, source.ErrChanged)
	}
	return nil
}

// backupIfThere is Backup; "" if there is no such file.
func (r *Run) backupIfThere(ctx context.Context, path string) (rel, sha string, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return "", "", nil
	}
	return r.Backup(ctx, path)
}

// examineMoved decides about a database that was moved away. One that is there again was made by its client, and may hold what
// the client has written since: it stays.
func (r *Run) examineMoved(ctx context.Context, u *undoing, target *source.Source, sha string) error {
	f := u.file
	if target != nil && sha != f.SHA256Before {
		return fmt.Errorf("%s: %w: its client has made a new one, which stays; the old one is %s", f.Target, ErrMovedOn, filepath.Join(r.dir, f.Backup))
	}
	if _, err := r.kept(ctx, f.Backup, f.SHA256Before); err != nil {
		return err
	}
	u.database = target == nil
	for _, side := range f.sides() {
		there, sha, err := hashAt(ctx, side.path)
		if err != nil {
			return err
		}
		switch {
		case there != nil && (side.kept == "" || sha != side.sha):
			return fmt.Errorf("%s: %w; the old database is %s", side.path, ErrMovedOn, filepath.Join(r.dir, f.Backup))
		case side.kept == "":
			continue
		}
		if _, err := r.kept(ctx, side.kept, side.sha); err != nil {
			return err
		}
		u.database = u.database || there == nil
	}
	if u.database {
		u.action, u.run = Restored, r
	}
	return nil
}

// side is a file beside a database, and its copy in the run.
type side struct{ path, kept, sha string }

func (f *File) sides() []side {
	return []side{{f.Source + logSuffix, f.Log, f.LogSHA256}, {f.Source + sharedSuffix, f.Shared, f.SharedSHA256}}
}

// databaseBack writes what is missing of a database, itself last. It never replaces a file.
func (u *undoing) databaseBack(ctx context.Context) error {
	f := u.file
	for _, one := range append(f.sides(), side{f.Source, f.Backup, f.SHA256Before}) {
		if _, err := os.Lstat(one.path); one.kept == "" || err == nil {
			continue
		}
		from, err := u.run.kept(ctx, one.kept, one.sha)
		if err != nil {
			return err
		}
		t := publish.Target{Path: one.path, Mode: f.Perm, ModTime: f.ModTimeBefore}
		err = publish.Write(ctx, t, func(w io.Writer) error {
			in, err := from.Raw(ctx)
			if err != nil {
				return err
			}
			defer in.Close()
			_, err = copyTo(w, in)
			return err
		}, publish.Checks{})
		if err != nil {
			return err
		}
	}
	return nil
}
