package runs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/source"
)

// What callers of Undo must tell apart; test with errors.Is.
var (
	// ErrMovedOn: a file is not what the run left there; nothing was changed.
	ErrMovedOn = errors.New("the file has moved on since the repair")
	// ErrUndone: the run was taken back before.
	ErrUndone = errors.New("the run is undone already")
	// ErrNothing: the run published no file.
	ErrNothing = errors.New("the run changed nothing")
	// ErrBackup: the kept original is missing or damaged; nothing was changed.
	ErrBackup = errors.New("the kept original is not what it was")
)

// What Undo did to a file.
const (
	Restored = "restored" // the original is back
	Removed  = "removed"  // the copy that the run made is gone
	Already  = "already"  // there was nothing left to do
)

// Undone is one file that Undo dealt with.
type Undone struct {
	Path   string
	Action string // Restored, Removed or Already
}

// Claims keeps others from the files of a run while it is taken back, and sees to what refers to them.
type Claims interface {
	// Check says why a file must stay as it is, before anything is changed.
	Check(ctx context.Context, f *File) error
	// Claim makes sure that nobody else uses the file until release is called.
	Claim(ctx context.Context, f *File) (release func(), err error)
}

// Undo takes the run back: an in-place repair's original returns byte for byte with its mode and modification time,
// a copy that the run made is removed. First every file is checked, and if one is not exactly what the run left
// (ErrMovedOn), its backup is not intact (ErrBackup) or claims says that it must stay, nothing is changed at all. An
// error in the midst of the changes comes with what was done; a second call goes on from there. nil claims nothing: the
// caller knows that nobody uses the files.
func (r *Run) Undo(ctx context.Context, claims Claims) ([]Undone, error) {
	if !r.Manifest.UndoneAt.IsZero() {
		return nil, fmt.Errorf("run %s: %w, on %s", r.Manifest.Run, ErrUndone, r.Manifest.UndoneAt.Format(time.RFC3339))
	}
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	var steps []*undoing
	var bad []error
	published := false
	for i := range r.Manifest.Files {
		f := &r.Manifest.Files[i]
		published = published || f.Published
		if f.Undone {
			continue
		}
		u, err := r.examine(ctx, f)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		if u.changes() && claims != nil {
			if err := claims.Check(ctx, f); err != nil {
				bad = append(bad, r.withOriginal(f, err))
				continue
			}
		}
		if f.Published {
			steps = append(steps, u)
		}
	}
	if err := errors.Join(bad...); err != nil {
		return nil, fmt.Errorf("undoing run %s: %w", r.Manifest.Run, err)
	}
	if !published {
		return nil, fmt.Errorf("run %s: %w", r.Manifest.Run, ErrNothing)
	}
	var done []Undone
	for _, u := range steps {
		if err := u.claimed(ctx, claims); err != nil {
			return done, fmt.Errorf("undoing run %s: %w", r.Manifest.Run, r.withOriginal(u.file, err))
		}
		done = append(done, Undone{Path: u.path(), Action: u.action})
		u.file.Undone = true
		if err := r.Save(); err != nil {
			return done, err
		}
	}
	r.Manifest.UndoneAt = time.Now().UTC()
	return done, r.Save()
}

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

// withOriginal adds to an error where the original is kept, if it is.
func (r *Run) withOriginal(f *File, err error) error {
	if f.Backup == "" {
		return err
	}
	return fmt.Errorf("%w; the original is %s", err, filepath.Join(r.dir, f.Backup))
}

// changes says whether a file is there that will be replaced or removed.
func (u *undoing) changes() bool { return u.target != nil && (u.restore || u.remove) }

// claimed does it while nobody else uses the file.
func (u *undoing) claimed(ctx context.Context, claims Claims) error {
	if u.changes() && claims != nil {
		release, err := claims.Claim(ctx, u.file)
		if err != nil {
			return err
		}
		defer release()
	}
	return u.do(ctx)
}

func (u *undoing) do(ctx context.Context) error {
	if u.restore {
		if err := u.putBack(ctx); err != nil {
			return err
		}
	}
	if !u.remove {
		return nil
	}
	if err := u.target.Changed(); err != nil {
		return fmt.Errorf("%w: %w", ErrMovedOn, err)
	}
	if err := os.Remove(u.file.Target); err != nil {
		return fmt.Errorf("removing the copy: %w", err)
	}
	return publish.SyncDir(filepath.Dir(u.file.Target))
}

// putBack writes the backup over the target or, if that has another name, beside it.
func (u *undoing) putBack(ctx context.Context) error {
	f := u.file
	t := publish.Target{Path: f.Source, Replace: f.Source == f.Target, Mode: f.Perm, ModTime: f.ModTimeBefore}
	if u.target != nil {
		t.Owner = u.target.Info
		if t.Mode == 0 {
			t.Mode = u.target.Info.Mode()
		}
	}
	sum := sha256.New()
	return publish.Write(ctx, t, func(w io.Writer) error {
		in, err := u.backup.Raw(ctx)
		if err != nil {
			return err
		}
		defer in.Close()
		_, err = copyTo(io.MultiWriter(w, sum), in)
		return err
	}, func(string) error {
		if sha := hex.EncodeToString(sum.Sum(nil)); sha != f.SHA256Before {
			return fmt.Errorf("%s: %w", u.backup.Path, ErrBackup)
		}
		if u.target == nil {
			return nil
		}
		if err := u.target.Changed(); err != nil {
			return fmt.Errorf("%w: %w", ErrMovedOn, err)
		}
		return nil
	})
}

// settle finds out about files whose publishing the manifest does not confirm: if the target is what the run meant to
// write, it was published before the crash.
func (r *Run) settle(ctx context.Context) error {
	found := false
	for i := range r.Manifest.Files {
		f := &r.Manifest.Files[i]
		if f.Published || f.Undone || f.SHA256After == "" {
			continue
		}
		if f.Source == f.Target && f.SHA256After == f.SHA256Before {
			continue // the same bytes before and after tell nothing
		}
		info, err := os.Lstat(f.Target)
		if err != nil || !info.Mode().IsRegular() || info.Size() != f.SizeAfter {
			continue
		}
		sha, _, err := Hash(ctx, f.Target)
		if err != nil {
			return fmt.Errorf("finding out whether run %s was completed: %w", r.Manifest.Run, err)
		}
		if sha == f.SHA256After {
			f.Published, found = true, true
		}
	}
	if !found {
		return nil
	}
	return r.Save()
}
