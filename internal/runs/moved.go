package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/source"
)

// What SQLite keeps beside a database: what was written to it newly, and an index of that.
const (
	logSuffix    = "-wal"
	sharedSuffix = "-shm"
)

// MoveAway keeps a database, with what SQLite keeps beside it, in the run and then removes it. free is called when all is kept
// and recorded: its error means that somebody may use the database, and then nothing is removed. The database itself goes last:
// until then another repair, or an undo, finds it and finishes. It returns the name under which the run keeps the database.
func (r *Run) MoveAway(ctx context.Context, path, home, plan string, free func() error) (kept string, err error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("moving %s away: its path must be absolute", path)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("moving a database away: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file: move it away by hand, and what it leads to", path)
	}
	logInfo, err := os.Lstat(path + logSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("moving a database away: %w", err)
	}
	f, err := r.keepDatabase(ctx, path, home, info)
	if err != nil {
		return "", err
	}
	f.Plan = plan
	at := len(r.Manifest.Files)
	r.Manifest.Files = append(r.Manifest.Files, f)
	if err := r.record(at, true); err != nil {
		r.Manifest.Files = r.Manifest.Files[:at]
		return "", err
	}
	if err := errors.Join(free(), unchanged(path, info), unchanged(path+logSuffix, logInfo)); err != nil {
		return "", errors.Join(err, r.drop())
	}
	for _, name := range []string{path + logSuffix, path + sharedSuffix, path} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("moving a database away (it is kept in %s): %w", r.dir, err)
		}
		publish.Step("moved " + filepath.Ext(name))
	}
	if err := publish.SyncDir(filepath.Dir(path)); err != nil {
		return "", err
	}
	r.Manifest.Files[at].Published = true
	return f.Backup, r.record(at, true)
}

// keepDatabase copies a database, and what SQLite keeps beside it, into the run, and returns its entry.
func (r *Run) keepDatabase(ctx context.Context, path, home string, info fs.FileInfo) (f File, err error) {
	f = File{Source: path, Target: path, Mode: Moved, SizeBefore: info.Size(), ModTimeBefore: info.ModTime(), Perm: info.Mode().Perm(), Home: home, SHA256After: source.NewSum().Hex()}
	if f.Log, f.LogSHA256, err = r.backupIfThere(ctx, path+logSuffix); err != nil {
		return f, err
	}
	if f.Shared, f.SharedSHA256, err = r.backupIfThere(ctx, path+sharedSuffix); err != nil {
		return f, err
	}
	if f.Backup, f.SHA256Before, err = r.backupOf(ctx, path); err != nil {
		return f, err
	}
	for _, name := range []string{f.Backup, f.Log, f.Shared} {
		if err := r.keepOwner(name, info); err != nil {
			return f, err
		}
	}
	if err := f.check(); err != nil {
		return f, fmt.Errorf("recording %s: %w", path, err)
	}
	return f, nil
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

// keepOwner gives a file of the run to the owner of what it keeps, where we may: an undo gives what it brings back to that user.
// Nobody else gets into the run's directory.
func (r *Run) keepOwner(name string, of fs.FileInfo) error {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(r.dir, name), os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("keeping a database: %w", err)
	}
	defer f.Close()
	publish.GiveTo(f, of)
	return nil
}

// backupIfThere is Backup; "" if there is no such file.
func (r *Run) backupIfThere(ctx context.Context, path string) (rel, sha string, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return "", "", nil
	}
	return r.backupOf(ctx, path)
}

// backupOf is Backup for a file that nobody has opened yet.
func (r *Run) backupOf(ctx context.Context, path string) (rel, sha string, err error) {
	s, err := source.Open(path)
	if err != nil {
		return "", "", fmt.Errorf("keeping the original: %w", err)
	}
	return r.Backup(ctx, s)
}

// databaseBack is what an undo knows of a database that was moved away.
type databaseBack struct {
	missing []missingFile    // what is to be written, the database itself last
	there   []*source.Source // what is back already
}

// missingFile is a path without a file, and what the run keeps of it.
type missingFile struct {
	path string
	kept *source.Source
	sha  string
}

// examineMoved decides about a database that was moved away. One that is there again was made by its client, and may hold what
// the client has written since: it stays.
func (r *Run) examineMoved(ctx context.Context, u *undoing, target *source.Source, sha string) error {
	f := u.file
	if target != nil && sha != f.SHA256Before {
		return fmt.Errorf("%w; the old one is %s", f.newDatabase(), filepath.Join(r.dir, f.Backup))
	}
	back := &databaseBack{}
	for _, one := range f.parts() {
		there, sha, err := hashAt(ctx, one.path)
		if err != nil {
			return err
		}
		if there != nil && (one.kept == "" || sha != one.sha) {
			return fmt.Errorf("%s: %w; the old database is %s", one.path, ErrMovedOn, filepath.Join(r.dir, f.Backup))
		}
		if one.kept == "" {
			continue
		}
		kept, err := r.kept(ctx, one.kept, one.sha)
		if err != nil {
			return err
		}
		if there != nil {
			back.there = append(back.there, there)
		} else {
			back.missing = append(back.missing, missingFile{one.path, kept, one.sha})
		}
	}
	if len(back.missing) > 0 {
		u.action, u.database = Restored, back
	}
	return nil
}

// newDatabase is the error where a database is that its client has made since the old one was moved away.
func (f *File) newDatabase() error {
	return fmt.Errorf("%s: %w: its client has made a new one, which stays", f.Target, ErrMovedOn)
}

// part is a file of a database, and its copy in the run.
type part struct{ path, kept, sha string }

// parts are the database and what SQLite keeps beside it, the database itself last.
func (f *File) parts() []part {
	return []part{{f.Source + logSuffix, f.Log, f.LogSHA256}, {f.Source + sharedSuffix, f.Shared, f.SharedSHA256}, {f.Source, f.Backup, f.SHA256Before}}
}

// bringBack writes what is missing of a database. It never replaces a file: what has come since belongs to a client.
func (u *undoing) bringBack(ctx context.Context, claim Claim) error {
	f := u.file
	if err := os.MkdirAll(filepath.Dir(f.Source), 0o700); err != nil { // a folder that was emptied goes, too
		return err
	}
	for _, one := range u.database.missing {
		t := publish.Target{Path: one.path, Mode: f.Perm, ModTime: f.ModTimeBefore, Owner: one.kept.Info}
		err := writeKept(ctx, t, one.kept, one.sha, nil, func() error {
			if err := claim.Settle(ctx); err != nil {
				return err
			}
			for _, s := range u.database.there {
				if err := s.Changed(); err != nil {
					return fmt.Errorf("%w: %w", ErrMovedOn, err)
				}
			}
			return nil
		})
		if errors.Is(err, publish.ErrExists) {
			return f.newDatabase()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
