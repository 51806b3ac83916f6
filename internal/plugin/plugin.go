// Package plugin is what hist lays into the homes of agents, so that they know of it: a skill, and for clients that have them, a hook
// that runs when a session starts.
//
// In: an agent's home. Out: a folder below its skills, or its removal. Never here: reading a session, or what the hook says.
package plugin

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/publish"
)

// ErrForeign says that a file in the folder is not as hist wrote it.
var ErrForeign = errors.New("it is not as hist wrote it")

// Both clients take a folder below skills that holds a SKILL.md for a skill; the one that has plugins takes it for a plugin, too.
//
//go:embed all:files
var files embed.FS

// record is the file that tells what hist has written: hashes by path, so that what a user has changed is left alone.
const record = ".hist.json"

// Dir is the folder in an agent's home.
func Dir(home string) string { return filepath.Join(home, "skills", "hist") }

// Install writes the folder into an agent's home, over an earlier one. program is how the hook finds hist: a name in PATH, or a path.
// The error is ErrForeign, and nothing is written, if a file there is not as hist wrote it.
func Install(ctx context.Context, home, program string) (err error) {
	dir := Dir(home)
	list, err := contents(program)
	if err != nil {
		return err
	}
	if err := own(dir, list); err != nil {
		return err
	}
	written := map[string]string{}
	for name, data := range list {
		written[name] = sum(data)
	}
	if list[record], err = json.MarshalIndent(written, "", "  "); err != nil {
		return err
	}
	for name, data := range list {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		fill := func(w io.Writer) error { _, err := w.Write(data); return err }
		if err := publish.Write(ctx, publish.Target{Path: path, Replace: true, Mode: 0o644}, fill, publish.Checks{}); err != nil {
			return err
		}
	}
	return nil
}

// Remove takes away what Install wrote, and the folders that are then empty. The error is fs.ErrNotExist if it is not installed, and
// ErrForeign, with nothing removed, if a file is not as hist wrote it.
func Remove(home string) error {
	dir := Dir(home)
	written, err := recorded(dir)
	if err != nil {
		return err
	}
	if err := own(dir, nil); err != nil {
		return err
	}
	for name := range written {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		os.Remove(filepath.Dir(path)) //nolint:errcheck // not empty yet, or a user's
	}
	if err := os.Remove(filepath.Join(dir, record)); err != nil {
		return err
	}
	os.Remove(dir) //nolint:errcheck // a user may have put more into it
	return nil
}

// contents are the files to be written, by path.
func contents(program string) (map[string][]byte, error) {
	list := map[string][]byte{}
	err := fs.WalkDir(files, "files", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := files.ReadFile(path)
		list[strings.TrimPrefix(path, "files/")] = data
		return err
	})
	if err != nil {
		return nil, err
	}
	word := format.Command(filepath.ToSlash(program))
	quoted, err := json.Marshal(fmt.Sprintf("command -v %s >/dev/null && %s plugin hook || true", word, word)) // hist may be gone
	list["hooks/hooks.json"] = []byte(strings.Replace(string(list["hooks/hooks.json"]), `"HOOK"`, string(quoted), 1))
	return list, err
}

// own checks that the files in the folder are as hist wrote them, or as it is about to write them.
func own(dir string, next map[string][]byte) error {
	written, err := recorded(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names := map[string]bool{}
	for name := range written {
		names[name] = true
	}
	for name := range next {
		names[name] = true
	}
	for name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if now := sum(data); now != written[name] && (next[name] == nil || now != sum(next[name])) {
			return fmt.Errorf("%s: %w", path, ErrForeign)
		}
	}
	return nil
}

// recorded is what an earlier Install wrote; the error is fs.ErrNotExist if there was none.
func recorded(dir string) (map[string]string, error) {
	path := filepath.Join(dir, record)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var written map[string]string
	if err := json.Unmarshal(data, &written); err != nil {
		return nil, fmt.Errorf("%s: %w", path, ErrForeign)
	}
	for name := range written {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("%s: %w", path, ErrForeign)
		}
	}
	return written, nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
