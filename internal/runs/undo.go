package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/sum"
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
	RowsBack = "rows"     // the file stands as it was; what the client's database held of it is back
	Already  = "already"  // there was nothing left to do
)

// Undone is one file that Undo dealt with.
type Undone struct {
	Path   string
	Action string // Restored, Removed, RowsBack or Already
	Note   string // what could not be brought back with it, "" if there is no such thing
}

// Claims keeps others from the files of a run while it is taken back, and sees to what refers to them.
type Claims interface {
	// Check says why a file must stay as it is, before anything is changed.
	Check(ctx context.Context, f *File) error
	// Claim takes what keeps other writers out, and makes ready what it takes to bring back what the run keeps of a file's
	// Rows. It changes nothing yet.
	Claim(ctx context.Context, r *Run, f *File) (Claim, error)
}

// Claim is a file that is being taken back.
type Claim interface {
	// Settle is asked when nothing but the change of the file is to come: from then on until Release nobody else uses it,
	// and what the run keeps of its Rows is back. Asked again it says only whether somebody waits for the file.
	Settle(ctx context.Context) error
	// GiveBack takes back what Settle brought back: the file was not changed after all.
	GiveBack(ctx context.Context) error
	// Done sees to what is left to do once the file was changed; note is for Undone.
	Done(ctx context.Context) (note string)
	Release()
}

// unclaimed is the claim of who knows that nobody uses the file.
type unclaimed struct{}

func (unclaimed) Settle(context.Context) error   { return nil }
func (unclaimed) GiveBack(context.Context) error { return nil }
func (unclaimed) Done(context.Context) string    { return "" }
func (unclaimed) Release()                       {}

// Undo takes the run back: an in-place repair's original returns byte for byte with its mode and modification time,
// a copy that the run made is removed. First every file is checked, and if one is not exactly what the run left
// (ErrMovedOn), its backup is not intact (ErrBackup) or claims says that it must stay, nothing is changed at all. An
// error in the midst of the changes comes with what was done; a second call goes on from there. nil claims nothing: the
// caller knows that nobody uses the files.
func (r *Run) Undo(ctx context.Context, claims Claims) ([]Undone, error) {
	steps, err := r.steps(ctx, claims)
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
	r.Manifest.UndoneAt = time.Now().UTC()
	return done, r.note(entry{UndoneAt: r.Manifest.UndoneAt}, true)
}

// Preview says what Undo would do, or why it would not, and changes nothing.
func (r *Run) Preview(ctx context.Context, claims Claims) ([]Undone, error) {
	steps, err := r.steps(ctx, claims)
	var would []Undone
	for _, u := range steps {
		would = append(would, Undone{Path: u.path(), Action: u.action})
	}
	return would, err
}

// steps checks every file of the run and decides what is to be done about it.
func (r *Run) steps(ctx context.Context, claims Claims) ([]*undoing, error) {
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
		published = published || f.Published || f.pending()
		if f.Undone {
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
	return steps, nil
}

// pending says whether something of the file is to be taken back. What the client's database held may be gone from
// there though the file itself was never replaced.
func (f *File) pending() bool { return !f.Undone && (f.Published || f.Rows != "") }

// withOriginal adds to an error where the original is kept, if it is.
func (r *Run) withOriginal(f *File, err error) error {
	if f.Backup == "" {
		return err
	}
	return fmt.Errorf("%w; the original is %s", err, filepath.Join(r.dir, f.Backup))
}

// changes says whether a file is there that will be replaced or removed, or whose rows will be.
func (u *undoing) changes() bool { return u.target != nil && (u.restore || u.remove || u.rows) }

// claimed does it while nobody else uses the file. What fails has changed nothing.
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

// settle is asked when nothing but the change is to come.
func (u *undoing) settle(ctx context.Context, claim Claim) error {
	if u.target == nil {
		return nil
	}
	if err := u.target.Changed(); err != nil {
		return fmt.Errorf("%w: %w", ErrMovedOn, err)
	}
	return claim.Settle(ctx)
}

// putBack writes the backup over the target or, if that has another name, beside it.
func (u *undoing) putBack(ctx context.Context, claim Claim) error {
	f := u.file
	t := publish.Target{Path: f.Source, Replace: f.Source == f.Target, Mode: f.Perm, ModTime: f.ModTimeBefore}
	if u.target != nil {
		t.Owner = u.target.Info
		if t.Mode == 0 {
			t.Mode = u.target.Info.Mode()
		}
	}
	var back *sum.Tee
	return publish.Write(ctx, t, func(w io.Writer) error {
		in, err := u.backup.Raw(ctx)
		if err != nil {
			return err
		}
		defer in.Close()
		back = sum.NewTee(w)
		_, err = copyTo(back, in)
		return err
	}, publish.Checks{Content: func(string) error {
		if back.Sum.Hex() != f.SHA256Before {
			return fmt.Errorf("%s: %w", u.backup.Path, ErrBackup)
		}
		return nil
	}, Last: func() error { return u.settle(ctx, claim) }})
}

// settle finds out about files whose publishing the manifest does not confirm.
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

// written says whether a file whose publishing the manifest does not confirm was published before a crash: then the target
// is what the run meant to write.
func (f *File) written(ctx context.Context) (bool, error) {
	if f.Published || f.Undone {
		return false, nil
	}
	if f.Source == f.Target && f.SHA256After == f.SHA256Before {
		return false, nil // the same bytes before and after tell nothing
	}
	info, err := os.Lstat(f.Target)
	if err != nil || !info.Mode().IsRegular() || info.Size() != f.SizeAfter {
		return false, nil
	}
	sha, _, err := Hash(ctx, f.Target)
	return sha == f.SHA256After, err
}

// seeCutOff sets CutOff, when the entries are settled: a backup that nothing was published over counts, unless its file is
// seen to be the original still.
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
