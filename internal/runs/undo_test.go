package runs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/publish"
)

// TestUndoRefused changes one of two files in every way: nothing may be touched.
func TestUndoRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(r *Run, a, copy string) error
		want  error
	}{
		"original appended to": {func(_ *Run, a, _ string) error { return add(a) }, ErrMovedOn},
		"copy appended to":     {func(_ *Run, _, c string) error { return add(c) }, ErrMovedOn},
		"original removed":     {func(_ *Run, a, _ string) error { return os.Remove(a) }, ErrMovedOn},
		"original a link": {func(_ *Run, a, _ string) error {
			return errors.Join(os.Rename(a, a+".x"), os.Symlink(a+".x", a))
		}, ErrMovedOn},
		"original a directory": {func(_ *Run, a, _ string) error { return errors.Join(os.Remove(a), os.Mkdir(a, 0o700)) }, ErrMovedOn},
		"backup gone": {func(r *Run, _, _ string) error {
			return os.Remove(filepath.Join(r.Path(), r.Manifest.Files[0].Backup))
		}, ErrBackup},
		"backup damaged": {func(r *Run, _, _ string) error { return add(filepath.Join(r.Path(), r.Manifest.Files[0].Backup)) }, ErrBackup},
	} {
		t.Run(name, func(t *testing.T) {
			dir := state(t)
			a := put(t, filepath.Join(dir, "a.jsonl"), before)
			b, c2 := put(t, filepath.Join(dir, "b.jsonl"), before), filepath.Join(dir, "c.jsonl")
			r := begin(t)
			if err := errors.Join(inPlace(t, r, a, nil), inPlace(t, r, b, nil), copied(t, r, a, c2)); err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(r, a, c2); err != nil {
				t.Fatal(err)
			}
			done, err := load(t, r.Manifest.Run).Undo(ctx, nil)
			if !errors.Is(err, c.want) || done != nil || !strings.Contains(err.Error(), dir) && !strings.Contains(err.Error(), r.Path()) {
				t.Errorf("%v, %v", done, err)
			}
			holds(t, b, after) // not even the files that could have been undone
			if _, err := os.Stat(c2); err != nil {
				t.Error(err)
			}
		})
	}
}

func add(path string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("{}\n")
	return errors.Join(err, f.Close())
}

func TestUndoOfWhatIsGone(t *testing.T) {
	dir := state(t)
	a, c := put(t, filepath.Join(dir, "a.jsonl"), before), filepath.Join(dir, "c.jsonl")
	r := begin(t)
	if err := copied(t, r, a, c); err != nil {
		t.Fatal(err)
	}
	os.Remove(c)
	if done, err := r.Undo(ctx, nil); err != nil || len(done) != 1 || done[0].Action != Already {
		t.Error(done, err)
	}
	if _, err := begin(t).Undo(ctx, nil); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
}

// TestUndoOtherName undoes a compressed session that was repaired into a plain one.
func TestUndoOtherName(t *testing.T) {
	for _, keepZst := range []bool{true, false} {
		dir := state(t)
		zst := put(t, filepath.Join(dir, "a.jsonl.zst"), "not really zstd")
		plain := filepath.Join(dir, "a.jsonl")
		r := begin(t)
		rel, sha, err := r.backupOf(ctx, zst)
		if err != nil {
			t.Fatal(err)
		}
		f := File{Source: zst, Target: plain, Mode: InPlace, SHA256Before: sha, Backup: rel, ModTimeBefore: old}
		if err := r.Publish(ctx, &f, publish.Target{Path: plain, Mode: 0o640}, text(after), publish.Checks{}); err != nil {
			t.Fatal(err)
		}
		if !keepZst {
			os.Remove(zst)
		}
		done, err := load(t, "").Undo(ctx, nil)
		if err != nil || len(done) != 1 || done[0] != (Undone{zst, Restored, ""}) {
			t.Error(done, err)
		}
		holds(t, zst, "not really zstd")
		if _, err := os.Stat(plain); !errors.Is(err, fs.ErrNotExist) {
			t.Error("the plain file is still there")
		}
		if info, _ := os.Stat(zst); !info.ModTime().Equal(old) || info.Mode() != 0o640 {
			t.Error(info.ModTime(), info.Mode())
		}
	}
}

// claimed counts the calls, and refuses one file.
type claimed struct {
	refuse                      string
	checks, claims, frees, back int
	broken                      error
}

func (c *claimed) Check(_ context.Context, f *File) error {
	c.checks++
	if filepath.Base(f.Target) == c.refuse {
		return errBusy
	}
	return nil
}

func (c *claimed) Claim(context.Context, *Run, *File) (Claim, error) {
	c.claims++
	return c, nil
}

func (c *claimed) Settle(context.Context) error   { return c.broken }
func (c *claimed) GiveBack(context.Context) error { c.back++; return nil }
func (c *claimed) Done(context.Context) string    { return "" }
func (c *claimed) Release()                       { c.frees++ }

var errBusy = errors.New("in use")

// TestUndoClaims: no file is claimed before all were found free and as the run left them; each claim is released.
func TestUndoClaims(t *testing.T) {
	for name, c := range map[string]struct {
		refuse  string
		broken  error
		moved   bool
		want    error
		claims  int
		content string
	}{
		"free":     {claims: 2, content: before},
		"in use":   {refuse: "b.jsonl", want: errBusy, content: after},
		"opened":   {broken: errBusy, want: errBusy, claims: 1, content: after},
		"moved on": {moved: true, want: ErrMovedOn, content: after},
	} {
		t.Run(name, func(t *testing.T) {
			dir := state(t)
			r := begin(t)
			a, b := put(t, filepath.Join(dir, "a.jsonl"), before), put(t, filepath.Join(dir, "b.jsonl"), before)
			for _, path := range []string{a, b} {
				if err := inPlace(t, r, path, nil); err != nil {
					t.Fatal(err)
				}
			}
			if c.moved {
				put(t, b, after+"more")
			}
			claims := &claimed{refuse: c.refuse, broken: c.broken}
			if _, err := load(t, r.Manifest.Run).Undo(ctx, claims); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if claims.claims != c.claims || claims.frees != c.claims || (claims.back > 0) != (c.broken != nil) {
				t.Errorf("%+v", claims)
			}
			holds(t, a, c.content)
		})
	}
}
