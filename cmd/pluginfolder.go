package cmd

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/publish"
)

// errAltered says that a file in the folder is not as hist wrote it.
var errAltered = errors.New("it is not as hist wrote it")

// pluginFiles is what hist lays into the homes of agents, so that they know of it: a skill, and for clients that have them, a hook that
// runs when a session starts. Both clients take a folder below skills that holds a SKILL.md for a skill; the one that has plugins takes
// it for a plugin, too.
//
//go:embed all:plugin
var pluginFiles embed.FS

// pluginRecord is the file that tells what hist has written: hashes by path, so that what a user has changed is left alone.
const pluginRecord = ".hist.json"

// pluginDir is the folder in an agent's home.
func pluginDir(home string) string { return filepath.Join(home, "skills", "hist") }

// installPlugin writes the folder into an agent's home, over an earlier one. program is how the hook finds hist: a name in PATH, or a
// path. The error is errAltered, and nothing is written, if a file there is not as hist wrote it.
func installPlugin(ctx context.Context, home, program string) (err error) {
	dir := pluginDir(home)
	list, err := pluginContents(program)
	if err != nil {
		return err
	}
	if err := unaltered(dir, list); err != nil {
		return err
	}
	written := map[string]string{}
	for name, data := range list {
		written[name] = hexSHA256(data)
	}
	if list[pluginRecord], err = json.MarshalIndent(written, "", "  "); err != nil {
		return err
	}
	for name, data := range list {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := publish.Write(ctx, publish.Target{Path: path, Replace: true, Mode: 0o644}, publish.Bytes(data), publish.Checks{}); err != nil {
			return err
		}
	}
	return nil
}

// removePlugin takes away what installPlugin wrote, and the folders that are then empty. The error is fs.ErrNotExist if it is not
// installed, and errAltered, with nothing removed, if a file is not as hist wrote it.
func removePlugin(home string) error {
	dir := pluginDir(home)
	written, err := pluginWritten(dir)
	if err != nil {
		return err
	}
	if err := unaltered(dir, nil); err != nil {
		return err
	}
	for name := range written {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		os.Remove(filepath.Dir(path)) //nolint:errcheck // not empty yet, or a user's
	}
	if err := os.Remove(filepath.Join(dir, pluginRecord)); err != nil {
		return err
	}
	os.Remove(dir) //nolint:errcheck // a user may have put more into it
	return nil
}

// pluginContents are the files to be written, by path.
func pluginContents(program string) (map[string][]byte, error) {
	list := map[string][]byte{}
	err := fs.WalkDir(pluginFiles, "plugin", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := pluginFiles.ReadFile(path)
		list[strings.TrimPrefix(path, "plugin/")] = data
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

// unaltered checks that the files in the folder are as hist wrote them, or as it is about to write them.
func unaltered(dir string, next map[string][]byte) error {
	written, err := pluginWritten(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(written)), slices.Collect(maps.Keys(next))) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if now := hexSHA256(data); now != written[name] && (next[name] == nil || now != hexSHA256(next[name])) {
			return fmt.Errorf("%s: %w", path, errAltered)
		}
	}
	return nil
}

// pluginWritten is what an earlier installPlugin wrote; the error is fs.ErrNotExist if there was none.
func pluginWritten(dir string) (map[string]string, error) {
	path := filepath.Join(dir, pluginRecord)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var written map[string]string
	if err := json.Unmarshal(data, &written); err != nil {
		return nil, fmt.Errorf("%s: %w", path, errAltered)
	}
	for name := range written {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("%s: %w", path, errAltered)
		}
	}
	return written, nil
}

func hexSHA256(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
