package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/source"
)

// What callers of Undo must tell apart; test with errors.Is.
var (
	// ErrMovedOn says that a file is not what the run left there; nothing was changed.
	ErrMovedOn = errors.New("the file has moved on since the repair")
	// ErrUndone says that the run has been undone before.
	ErrUndone = errors.New("the run is undone already")
	// ErrNothing says that the run published no file.
	ErrNothing = errors.New("the run changed nothing")
	// ErrUnrecorded says that the run keeps an original, but no record of what it did, if it did anything.
	ErrUnrecorded = errors.New("there is nothing to undo by, because no record says what it did; save what you need of what it keeps, then remove it")
	// ErrBackup says that the kept original is missing or damaged; nothing was changed.
	ErrBackup = errors.New("the kept original is not what it was")
)

// What Undo did to a file.
const (
	Restored = "restored" // the original is back
	Removed  = "removed"  // the copy that the run made is gone
	RowsBack = "rows"     // the file was left as it is; what the client's database held about it is back
	Already  = "already"  // there was nothing left to do
	Kept     = "kept"     // it is its client's, which has changed it since: it was left as it is
)

// Undone is one file that Undo dealt with.
type Undone struct {
	Path   string
	Action string // Restored, Removed, RowsBack, Already or Kept
	Note   string // what could not be restored, "" if everything was
}

// Claims keeps other processes away from the files of a run while it is undone, and restores what the client keeps beside
// them.
type Claims interface {
	// Check returns an error if a file must stay as it is. It is called before anything is changed.
	Check(ctx context.Context, f *File) error
	// Claim takes the locks that keep other writers out, and prepares the restoring of what the run keeps in a file's Rows.
	// It changes nothing yet.
	Claim(ctx context.Context, r *Run, f *File) (Claim, error)
}

// Claim is a file that is being undone.
type Claim interface {
	// Settle is called immediately before the file is changed. From then on until Release nobody else uses the file, and
	// what the run keeps in its Rows has been restored. A second call only checks that no other process waits for the file.
	Settle(ctx context.Context) error
	// GiveBack reverts what Settle restored, because the file was not changed after all.
	GiveBack(ctx context.Context) error
	// Done does what is left to do after the file was changed; note is for Undone.
	Done(ctx context.Context) (note string)
	Release()
}

// unclaimed is the claim if the caller knows that nobody uses the file.
type unclaimed struct{}

func (unclaimed) Settle(context.Context) error   { return nil }
func (unclaimed) GiveBack(context.Context) error { return nil }
func (unclaimed) Done(context.Context) string    { return "" }
func (unclaimed) Release()                       {}

// Undo undoes the run: the original of an in-place repair is restored byte for byte with its mode and modification time,
// and a copy that the run made is removed. First every file is checked, and if one is not exactly what the run left
// (ErrMovedOn), its backup is not intact (ErrBackup) or claims says that it must stay, nothing is changed at all. An
// error during the changes comes with what was done so far; a second call goes on from there. claims may be nil if the
// caller knows that nobody uses the files. With only, files of which none of it is true count for nothing, and stay as they are.
func (r *Run) Undo(ctx context.Context, claims Claims, only ...func(*File) bool) ([]Undone, error) {
	steps, err := r.steps(ctx, claims, only)
	if err != nil {
		return nil, err
	}
	var done []Undone
	for _, u := range steps {
		note, err := u.claimed(ctx, r, claims)
		if err != nil {
			return done, fmt.Errorf("undoing run %s: %w", r.Manifest.Run, r.withOriginal(u.file, err))
		}
		done = append(done, Undone{u.path(), u.action, note})
		u.file.Undone = true
		if err := r.record(u.index, true); err != nil {
			return done, err
		}
	}
	if slices.ContainsFunc(r.Manifest.Files, func(f File) bool { return f.pending() }) {
		return done, nil
	}
	r.Manifest.UndoneAt = time.Now().UTC()
	return done, r.note(entry{UndoneAt: r.Manifest.UndoneAt}, true)
}

// Preview returns what Undo would do, or the error with which it would refuse, and changes nothing.
func (r *Run) Preview(ctx context.Context, claims Claims, only ...func(*File) bool) ([]Undone, error) {
	steps, err := r.steps(ctx, claims, only)
	var would []Undone
	for _, u := range steps {
		would = append(would, Undone{Path: u.path(), Action: u.action})
	}
	return would, err
}

// Undoable is how many files of the run Undo would change, as they are now, and how many of it are not undone. It writes nothing.
func (m *Manifest) Undoable(ctx context.Context) (can, pending int) {
	root, err := Dir()
	if err != nil {
		return 0, 0
	}
	r := &Run{Manifest: *m, dir: filepath.Join(root, m.Run)}
	for i := range m.Files {
		if !m.Files[i].pending() {
			continue
		}
		pending++
		if u, err := r.examine(ctx, i); err == nil && u.changes() {
			can++
		}
	}
	return can, pending
}

// steps checks the files of the run and decides what to do with each.
func (r *Run) steps(ctx context.Context, claims Claims, only []func(*File) bool) ([]*undoing, error) {
	if !r.Manifest.UndoneAt.IsZero() {
		return nil, fmt.Errorf("run %s: %w, on %s", r.Manifest.Run, ErrUndone, r.Manifest.UndoneAt.Format(time.RFC3339))
	}
	if r.Manifest.Unrecorded() {
		return nil, fmt.Errorf("%s: %w", r.dir, ErrUnrecorded)
	}
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	var steps []*undoing
	var bad []error
	published := false
	for i := range r.Manifest.Files {
		f := &r.Manifest.Files[i]
		published = published || f.Published || f.pending()
		if f.Undone || len(only) > 0 && !slices.ContainsFunc(only, func(is func(*File) bool) bool { return is(f) }) {
			continue
		}
		u, err := r.examine(ctx, i)
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
		if f.pending() {
			steps = append(steps, u)
		}
	}
	if err := errors.Join(bad...); err != nil {
		return nil, fmt.Errorf("undoing run %s: %w", r.Manifest.Run, err)
	}
	if !published {
		return nil, fmt.Errorf("run %s: %w", r.Manifest.Run, ErrNothing)
	}
	// What was moved away is back before its copy goes.
	slices.SortStableFunc(steps, func(a, b *undoing) int { return cmp.Compare(a.order(), b.order()) })
	return steps, nil
}

func (u *undoing) order() int {
	if u.database != nil {
		return 0
	}
	return 1
}

// pending says whether there is something to undo. Even if the file itself was never replaced, rows of the client's database
// may have been removed.
func (f *File) pending() bool { return !f.Undone && (f.Published || f.Rows != "" || f.Mode == Moved) }

// withOriginal adds the place where the original is kept to an error, if it is kept.
func (r *Run) withOriginal(f *File, err error) error {
	if f.Backup == "" {
		return err
	}
	return fmt.Errorf("%w; the original is %s", err, filepath.Join(r.dir, f.Backup))
}

// changes says whether there is a file that will be replaced, removed or brought back, or whose rows will be restored.
func (u *undoing) changes() bool {
	return u.database != nil || u.target != nil && (u.restore || u.remove || u.rows)
}

// claimed does the undoing under a claim, while nobody else uses the file. On an error nothing has changed, unless the error
// is publish.ErrPublished.
func (u *undoing) claimed(ctx context.Context, r *Run, claims Claims) (note string, err error) {
	var claim Claim = unclaimed{}
	if u.changes() && claims != nil {
		if claim, err = claims.Claim(ctx, r, u.file); err != nil {
			return "", err
		}
		defer claim.Release()
	}
	err = u.do(ctx, claim)
	if err != nil && !errors.Is(err, publish.ErrPublished) {
		return "", errors.Join(err, claim.GiveBack(context.WithoutCancel(ctx)))
	}
	return claim.Done(context.WithoutCancel(ctx)), err
}

func (u *undoing) do(ctx context.Context, claim Claim) error {
	if u.database != nil {
		return u.bringBack(ctx, claim)
	}
	if u.restore {
		if err := u.putBack(ctx, claim); err != nil {
			return err
		}
	}
	if u.rows {
		return u.settle(ctx, claim)
	}
	if !u.remove {
		return nil
	}
	if err := u.settle(ctx, claim); err != nil {
		return err
	}
	if err := os.Remove(u.file.Target); err != nil {
		return fmt.Errorf("removing the copy: %w", err)
	}
	return publish.SyncDir(filepath.Dir(u.file.Target))
}

// settle makes sure, immediately before the change, that the file is as it was checked, and settles the claim.
func (u *undoing) settle(ctx context.Context, claim Claim) error {
	if u.target == nil {
		return nil
	}
	if err := u.unmoved(); err != nil {
		return err
	}
	if err := claim.Settle(ctx); err != nil {
		return err
	}
	return u.unmoved() // the claim may take a while, and another file may take the name meanwhile
}

// unmoved says whether the target is still the file that was checked.
func (u *undoing) unmoved() error {
	if err := u.target.Changed(); err != nil {
		return fmt.Errorf("%w: %w", ErrMovedOn, err)
	}
	return nil
}

// putBack writes the backup to the original's path: over the target or, if that has another name, beside it.
func (u *undoing) putBack(ctx context.Context, claim Claim) error {
	f := u.file
	t := publish.Target{Path: f.Source, Replace: f.Source == f.Target, Mode: f.Perm, ModTime: f.ModTimeBefore}
	if u.added > 0 {
		t.ModTime = time.Time{}
	}
	if u.target != nil {
		t.Owner, t.Like = u.target.Info, f.Target
		if t.Mode == 0 {
			t.Mode = u.target.Info.Mode()
		}
	}
	return writeKept(ctx, t, u.backup, f.SHA256Before, u.copyAdded, func() error { return u.settle(ctx, claim) })
}

// copyAdded writes what the client has added to the target since.
func (u *undoing) copyAdded(ctx context.Context, w io.Writer) error {
	if u.added == 0 {
		return nil
	}
	in, err := u.target.Raw(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(w, io.NewSectionReader(in.(io.ReaderAt), u.target.Size()-u.added, u.added))
	return err
}

// writeKept writes a file that the run keeps, if its bytes have the hash, and behind it what more writes, if anything. last is called
// immediately before it takes its name.
func writeKept(ctx context.Context, t publish.Target, from *source.Source, sha string, more func(context.Context, io.Writer) error, last func() error) error {
	var back *source.Tee
	return publish.Write(ctx, t, func(w io.Writer) error {
		in, err := from.Raw(ctx)
		if err != nil {
			return err
		}
		defer in.Close()
		back = source.NewTee(w)
		if _, err = copyTo(back, in, from.Size()); err != nil || more == nil {
			return err
		}
		return more(ctx, w)
	}, publish.Checks{Content: func(string) error {
		if back.Sum.Hex() != sha {
			return fmt.Errorf("%s: %w", from.Path, ErrBackup)
		}
		return nil
	}, Last: last})
}

// settle finds out which files were published before a crash, and records it.
func (r *Run) settle(ctx context.Context) error {
	for i := range r.Manifest.Files {
		written, err := r.Manifest.Files[i].written(ctx)
		if err != nil {
			return fmt.Errorf("finding out whether run %s was completed: %w", r.Manifest.Run, err)
		}
		if !written {
			continue
		}
		r.Manifest.Files[i].Published = true
		if err := r.record(i, true); err != nil {
			return err
		}
	}
	return nil
}

// written says whether a file that is not recorded as published was in fact published before a crash: then the target is
// what the run was about to write.
func (f *File) written(ctx context.Context) (bool, error) {
	if f.Published || f.Undone {
		return false, nil
	}
	if f.Mode == Moved {
		_, err := os.Lstat(f.Target)
		return errors.Is(err, fs.ErrNotExist), nil
	}
	if f.Source == f.Target && f.SHA256After == f.SHA256Before {
		return false, nil // the bytes are the same before and after, so they show nothing
	}
	info, err := os.Lstat(f.Target)
	if err != nil || !info.Mode().IsRegular() || info.Size() != f.SizeAfter {
		return false, nil
	}
	sha, _, err := Hash(ctx, f.Target)
	return sha == f.SHA256After, err
}

// Stands says whether what the run wrote is still there as it left it.
func (f *File) Stands(ctx context.Context) bool {
	sha, _, err := Hash(ctx, f.Target)
	return err == nil && sha == f.SHA256After
}

// IsAway says whether the original of a copy was then moved into the run, as far as its files tell.
func (f *File) IsAway(files []File) bool {
	return slices.ContainsFunc(files, func(m File) bool { return m.Mode == Moved && m.Source == f.Source && m.Published })
}

// seeCutOff sets CutOff, after the entries were settled: the run was cut off if there is a backup of a file that was never
// published, unless that file is seen to be still the original.
func (r *Run) seeCutOff(ctx context.Context) {
	for i := range r.Manifest.Files {
		f := &r.Manifest.Files[i]
		if f.Published || f.Undone || f.Backup == "" {
			continue
		}
		sha, _, err := Hash(ctx, f.Source)
		r.Manifest.CutOff = r.Manifest.CutOff || err != nil || sha != f.SHA256Before
	}
}
