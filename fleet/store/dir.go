package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hist-cli/hist/internal/disk"
)

// dir is a directory; its files are the objects.
type dir struct{ root string }

func openDir(path string) (Store, error) {
	root, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &dir{root}, nil
}

func (d *dir) URL() string { return d.root }

// path returns the path of an object. Keys come from listings and plans; none may lead out of the directory.
func (d *dir) path(key string) (string, error) {
	local, err := filepath.Localize(key)
	if err != nil {
		return "", fmt.Errorf("%q is not a valid key: %w", key, err)
	}
	return filepath.Join(d.root, local), nil
}

func (d *dir) List(ctx context.Context, prefix string, each func(Object) error) error {
	if info, err := os.Stat(d.root); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", d.root, ErrNoStore)
	} else if err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a directory: hist itself lints single files", d.root)
	}
	var unreadable error                       // of directories that can't be read: all others are listed first
	root, err := filepath.EvalSymlinks(d.root) // the walk does not follow a link, not even the first one
	if err != nil {
		return explainFile(err)
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) && path != root {
			unreadable = errors.Join(unreadable, explainFile(err))
			return fs.SkipDir
		}
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		key := filepath.ToSlash(rel)
		if !strings.HasPrefix(key, prefix) {
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone since the directory was read
		}
		if err != nil {
			return err
		}
		return each(object(key, info))
	})
	if err != nil {
		return explainFile(err)
	}
	return unreadable
}

// object describes a file. Its ETag changes with every write that the file system notices.
func object(key string, info fs.FileInfo) Object {
	return Object{Key: key, ETag: fmt.Sprintf("%x-%x", info.ModTime().UnixNano(), info.Size()), Size: info.Size(), Modified: info.ModTime()}
}

func (d *dir) Head(_ context.Context, key string) (Object, map[string]string, error) {
	path, err := d.path(key)
	if err != nil {
		return Object{}, nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return Object{}, nil, explainFile(err)
	}
	o := object(key, info)
	return o, d.metaOf(o), nil
}

func (d *dir) Get(ctx context.Context, key, etag string) (io.ReadCloser, error) {
	path, err := d.path(key)
	if err != nil {
		return nil, err
	}
	f, err := disk.Open(path) // of a named pipe, the opening would not end
	if err != nil {
		return nil, explainFile(err)
	}
	info, err := f.Stat()
	if err == nil && etag != "" && object(key, info).ETag != etag {
		err = ErrChanged
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Put writes a temporary file and renames it when it is on the disk. The condition Absent is guaranteed by the file system.
// Match is checked just before the rename, which protects against other hist-fleets but not against a client that writes in
// between: a session in a directory is repaired in place by hist itself, which knows the agents' locks.
func (d *dir) Put(ctx context.Context, key string, body io.ReadSeeker, _ int64, cond Condition, meta map[string]string) error {
	path, err := d.path(key)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return explainFile(err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".hist-fleet-*.tmp")
	if err != nil {
		return explainFile(err)
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // it is gone already after the rename
	_, err = io.Copy(temp, body)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if cond.Match != "" {
		if now, _, err := d.Head(ctx, key); err != nil || now.ETag != cond.Match {
			return ErrChanged
		}
	}
	publish := os.Rename
	if cond.Absent {
		publish = os.Link
	}
	if err := publish(temp.Name(), path); errors.Is(err, fs.ErrExist) {
		return ErrChanged
	} else if err != nil {
		return err
	}
	return d.keepMeta(key, path, meta)
}

// about is what is stored about an object beside its file: metadata, and the ETag of the file that the metadata belong to.
type about struct {
	ETag string            `json:"etag"`
	Meta map[string]string `json:"meta"`
}

// aboutPath returns the path of that, in hist-fleet's own folder.
func (d *dir) aboutPath(key string) (string, error) { return d.path(".hist/meta/" + key + ".json") }

func (d *dir) keepMeta(key, path string, meta map[string]string) error {
	if len(meta) == 0 {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	text, err := json.Marshal(about{object(key, info).ETag, meta})
	if err != nil {
		return err
	}
	to, err := d.aboutPath(key)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return explainFile(err)
	}
	return os.WriteFile(to, text, 0o600)
}

// metaOf returns the metadata of an object; nil if it was written without any, or somebody else has written it since.
func (d *dir) metaOf(o Object) map[string]string {
	from, err := d.aboutPath(o.Key)
	if err != nil {
		return nil
	}
	text, err := os.ReadFile(from)
	var a about
	if err != nil || json.Unmarshal(text, &a) != nil || a.ETag != o.ETag {
		return nil
	}
	return a.Meta
}

func explainFile(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", ErrGone, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %w", ErrDenied, err)
	}
	return err
}
