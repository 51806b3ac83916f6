package repair

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
)

// Store is a file that a client keeps beside its sessions, and that is to be replaced by a changed one.
type Store struct {
	Path, Home string
	// Text changes the file's bytes, or Database what is in it; the other one is nil.
	Text     func(data []byte) []byte
	Database func(ctx context.Context, tx *sql.Tx) (int64, error)
	// Common says that its client goes on writing to it whatever session is used: an undo keeps what it has added since.
	Common bool
}

// Replacing is the store with some texts in it replaced by others.
func (s Store) Replacing(by *strings.Replacer) Store {
	if filepath.Ext(s.Path) == ".sqlite" {
		s.Database = func(ctx context.Context, tx *sql.Tx) (int64, error) { return replaceTexts(ctx, tx, by) }
	} else {
		s.Text = func(data []byte) []byte { return []byte(by.Replace(string(data))) }
	}
	return s
}

// Rewrite replaces a store by a changed one in one step, and keeps the original in the run; false if there is nothing to change. The
// error is disk.ErrBusy if somebody has it open, or if a client runs that may.
func (s Store) Rewrite(ctx context.Context, run *runs.Run) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	changed, err := s.rewrite(ctx, run)
	if err != nil {
		return false, fmt.Errorf("%s: it was left as it is: %w", s.Path, err)
	}
	return changed, nil
}

func (s Store) rewrite(ctx context.Context, run *runs.Run) (changed bool, err error) {
	if s.Database != nil {
		if err := homeIsFree(ctx, s.Home); err != nil {
			return false, err
		}
		if err := restDatabase(ctx, s.Path); err != nil {
			return false, err
		}
	}
	src, err := source.Open(s.Path)
	if err != nil {
		return false, err
	}
	defer src.Close()
	if s.Database == nil {
		data, err := os.ReadFile(src.Real)
		if err != nil {
			return false, err
		}
		out := s.Text(data)
		if bytes.Equal(out, data) {
			return false, nil
		}
		return true, s.replace(ctx, run, src, bytes.NewReader(out))
	}
	dir, err := os.MkdirTemp(run.Path(), "store-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	to := filepath.Join(dir, filepath.Base(s.Path))
	n, err := changedDatabase(ctx, src.Real, to, s.Database)
	if err != nil || n == 0 {
		return false, err
	}
	from, err := os.Open(to)
	if err != nil {
		return false, err
	}
	defer from.Close()
	return true, s.replace(ctx, run, src, from)
}

// replace puts what it reads in the store's place.
func (s Store) replace(ctx context.Context, run *runs.Run, src *source.Source, from io.Reader) (err error) {
	f := &runs.File{Source: src.Real, Target: src.Real, Mode: runs.InPlace, SizeBefore: src.Info.Size(), ModTimeBefore: src.Info.ModTime(), Home: s.Home, Common: s.Common}
	if f.Backup, f.SHA256Before, err = run.Backup(ctx, src); err != nil {
		return err
	}
	t := publish.Target{Path: src.Real, Replace: true, Mode: src.Info.Mode().Perm(), ModTime: src.Info.ModTime(), Owner: src.Info, Like: src.Real}
	var guard *disk.Guard
	defer func() { guard.Release() }()
	err = run.Publish(ctx, f, t, func(w io.Writer) error {
		_, err := io.Copy(w, from)
		return err
	}, publish.Checks{Last: func() (err error) {
		if s.Database != nil && !atRest(src.Real) {
			return disk.ErrBusy
		}
		var busy *disk.Busy
		if guard, busy, err = disk.Hold(src.Real); err == nil && busy != nil {
			err = busy
		}
		return errors.Join(err, src.Changed())
	}})
	if errors.Is(err, publish.ErrPublished) {
		return nil
	}
	return err
}
