package repair

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
)

// Bundle is sessions of one agent with what lies beside them, in one file for another machine: a tar archive, compressed with gzip, that
// begins with its contents as JSON.
type Bundle struct {
	Schema   string    `json:"schema"`
	Agent    string    `json:"agent"`
	Sessions []Bundled `json:"sessions"`
	Files    []string  `json:"files"` // what else of the home is in it, by paths as in Bundled
	Lists    []string  `json:"lists"` // files of which only those lines are in it that are about the sessions
}

// Bundled is one session of a bundle.
type Bundled struct {
	Thread string `json:"thread"`
	Path   string `json:"path"` // of its file, below the agent's home, with slashes
	CWD    string `json:"cwd,omitempty"`
	// Base: it is there only because another one goes on from it.
	Base bool `json:"base,omitempty"`
}

// bundleSchema names the form of a bundle, and bundleContents its first entry.
const (
	bundleSchema   = "hist.bundle/1"
	bundleContents = "hist-bundle.json"
)

// ErrNoBundle says that a file is none.
var ErrNoBundle = errors.New("it is no bundle of sessions")

// WriteBundle writes a bundle of files of a home; lists are those of the bundle, by their paths.
func WriteBundle(ctx context.Context, to io.Writer, home string, b Bundle, lists map[string][]byte) error {
	b.Schema = bundleSchema
	contents, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	packed := gzip.NewWriter(to)
	out := tar.NewWriter(packed)
	text := func(name string, data []byte) error {
		if err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data))}); err != nil {
			return err
		}
		_, err := out.Write(data)
		return err
	}
	err = text(bundleContents, contents)
	for _, rel := range b.paths() {
		if err == nil {
			err = packFile(ctx, out, home, rel)
		}
	}
	for _, rel := range b.Lists {
		if err == nil {
			err = text(rel, lists[rel])
		}
	}
	return errors.Join(err, out.Close(), packed.Close())
}

// paths are the files that are in it whole.
func (b *Bundle) paths() (list []string) {
	for _, s := range b.Sessions {
		list = append(list, s.Path)
	}
	return append(list, b.Files...)
}

// packFile adds a file. One that changes meanwhile is an error: the archive says first how long it is.
func packFile(ctx context.Context, out *tar.Writer, home, rel string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(home, filepath.FromSlash(rel)))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := out.WriteHeader(&tar.Header{Name: rel, Mode: 0o600, Size: info.Size(), ModTime: info.ModTime()}); err != nil {
		return err
	}
	if _, err := io.CopyN(out, f, info.Size()); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	now, err := f.Stat()
	if err == nil && (now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime())) {
		err = fmt.Errorf("%s: %w", f.Name(), ErrChanged)
	}
	return err
}

// IsBundle says whether a file is a bundle, judging by its beginning.
func IsBundle(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		return false
	}
	h, err := tar.NewReader(packed).Next()
	return err == nil && h.Name == bundleContents
}

// ReadBundle unpacks a bundle into a directory. The error is ErrNoBundle if the file is none.
func ReadBundle(ctx context.Context, file, dir string) (*Bundle, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		return nil, ErrNoBundle
	}
	in := tar.NewReader(packed)
	h, err := in.Next()
	if err != nil || h.Name != bundleContents {
		return nil, ErrNoBundle
	}
	b := &Bundle{}
	if err := json.NewDecoder(in).Decode(b); err != nil || b.Schema != bundleSchema {
		return nil, fmt.Errorf("%s: %w that this version knows", file, ErrNoBundle)
	}
	want := map[string]bool{}
	for _, rel := range append(b.paths(), b.Lists...) {
		if !filepath.IsLocal(filepath.FromSlash(rel)) || path.Clean(rel) != rel || strings.ContainsRune(rel, 0) {
			return nil, fmt.Errorf("%s: it holds %q, which lies in no home", file, rel)
		}
		want[rel] = true
	}
	for {
		switch h, err = in.Next(); {
		case errors.Is(err, io.EOF):
			for rel := range want {
				return nil, fmt.Errorf("%s: %s is missing from it", file, rel)
			}
			return b, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		case !want[h.Name] || h.Typeflag != tar.TypeReg:
			return nil, fmt.Errorf("%s: it holds %q, of which its contents say nothing", file, h.Name)
		}
		delete(want, h.Name)
		if err := unpackFile(ctx, in, filepath.Join(dir, filepath.FromSlash(h.Name)), h); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
}

func unpackFile(ctx context.Context, in io.Reader, to string, h *tar.Header) error {
	if err := errors.Join(ctx.Err(), os.MkdirAll(filepath.Dir(to), 0o700)); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	return errors.Join(err, f.Close(), os.Chtimes(to, h.ModTime, h.ModTime))
}

// Bring copies a file to a place where there is none, and records that; false if there is one already, which stays as it is.
func Bring(ctx context.Context, run *runs.Run, from, to, home string) (bool, error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return false, err
	}
	_, err := copyFile(ctx, run, from, to, home, "")
	if errors.Is(err, publish.ErrExists) {
		return false, nil
	}
	return err == nil, err
}

// MoveFolder moves a folder of a home to a place where there is none: first everything is copied, then what was copied goes into the
// run's record. It is false if there is no such folder, or one there already.
func MoveFolder(ctx context.Context, run *runs.Run, from, to, home string) (bool, error) {
	if hasFiles(to) {
		return false, nil
	}
	files, err := copyFolder(ctx, run, from, to, home, moving+from)
	if err != nil || len(files) == 0 {
		return false, err
	}
	if err := moveAway(ctx, run, files, home, moving+from); err != nil {
		return false, fmt.Errorf("it was copied to %s, but it is still there; hist undo %s takes the copy back: %w", to, run.Manifest.Run, err)
	}
	removeEmpty(from)
	return true, nil
}

// MissingLines are the lines of a list that another one has and it lacks.
func MissingLines(list, other []byte) (lines []byte) {
	has := map[string]bool{}
	for line := range bytes.Lines(list) {
		has[string(bytes.TrimSpace(line))] = true
	}
	for line := range bytes.Lines(other) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !has[string(line)] {
			lines = append(append(lines, line...), '\n')
		}
	}
	return lines
}

// LinesAbout are the lines of a list that hold one of some ids as a value.
func LinesAbout(list []byte, ids []string) (lines []byte) {
	for line := range bytes.Lines(list) {
		if slices.ContainsFunc(ids, func(id string) bool { return bytes.Contains(line, []byte(`"`+id+`"`)) }) {
			lines = append(lines, line...)
		}
	}
	return lines
}
