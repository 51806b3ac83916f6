package clienttest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
)

// DirVar names the environment variable with the directory of the clients.
const DirVar = "HIST_CODEX_DIR"

// Newest is the newest client that was measured.
const Newest = "0.171.0"

// Binary is one installed client.
type Binary struct {
	Version string
	Path    string   // the native program, or npm's shim where none is found
	Extra   []string // directories that belong in its PATH
}

// NotFoundError says what is missing and how to get it.
type NotFoundError struct {
	Version string // may be empty: any
	Dir     string // where it was looked for
}

func (e *NotFoundError) Error() string {
	which, version := "no Codex client "+e.Version, e.Version
	if version == "" {
		which, version = "no Codex client", "VERSION"
	}
	return fmt.Sprintf("%s in %s: npm install --prefix %s @openai/codex@%s (or set %s)",
		which, e.Dir, filepath.Join(".codex-bin", version), version, DirVar)
}

// Dir is where clients are looked for.
func Dir() string {
	if d := os.Getenv(DirVar); d != "" {
		return d
	}
	dir, err := os.Getwd()
	if err != nil {
		return ".codex-bin"
	}
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.work")); err == nil {
			return filepath.Join(d, ".codex-bin")
		}
		if d == filepath.Dir(d) {
			return filepath.Join(dir, ".codex-bin")
		}
	}
}

// Versions lists the versions for which there is a client, oldest first.
func Versions() []string {
	entries, err := os.ReadDir(Dir())
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		if _, err := Find(e.Name()); err == nil {
			found = append(found, e.Name())
		}
	}
	sort.Slice(found, func(i, j int) bool { return versionLess(found[i], found[j]) })
	return found
}

// Find returns the client of one version.
func Find(version string) (Binary, error) {
	dir := Dir()
	bin := Binary{Version: version}
	if version == "" || strings.ContainsAny(version, `/\`) || strings.HasPrefix(version, ".") {
		return bin, &NotFoundError{Version: version, Dir: dir}
	}
	modules := filepath.Join(dir, version, "node_modules")
	exe := "codex"
	if runtime.GOOS == "windows" {
		exe = "codex.exe"
	}
	// The layout inside vendor/ changed over time: TRIPLE/codex/codex with
	// TRIPLE/path beside it, then TRIPLE/bin/codex with TRIPLE/codex-path.
	for _, sub := range []string{"bin", "codex"} {
		pattern := filepath.Join(modules, "@openai", "codex*", "vendor", triple(), sub, exe)
		hits, err := filepath.Glob(pattern)
		if err != nil || len(hits) == 0 {
			continue
		}
		bin.Path = hits[0]
		root := filepath.Dir(filepath.Dir(bin.Path))
		for _, extra := range []string{"codex-path", "path"} {
			if d := filepath.Join(root, extra); isDir(d) {
				bin.Extra = append(bin.Extra, d)
			}
		}
		return abs(bin)
	}
	bin.Path = filepath.Join(modules, ".bin", "codex")
	if _, err := os.Stat(bin.Path); err != nil {
		return Binary{Version: version}, &NotFoundError{Version: version, Dir: dir}
	}
	return abs(bin)
}

func abs(bin Binary) (Binary, error) {
	var errs []error
	resolve := func(p string) string {
		full, err := filepath.Abs(p)
		errs = append(errs, err)
		return full
	}
	bin.Path = resolve(bin.Path)
	for i := range bin.Extra {
		bin.Extra[i] = resolve(bin.Extra[i])
	}
	return bin, errors.Join(errs...)
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// triple is the name of this platform in the packages, as a glob pattern.
func triple() string {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	system := map[string]string{"linux": "unknown-linux-*", "darwin": "apple-darwin", "windows": "pc-windows-*"}[runtime.GOOS]
	if arch == "" || system == "" {
		return "none"
	}
	return arch + "-" + system
}

func versionLess(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := 0; i < len(x) && i < len(y); i++ {
		m, errM := strconv.Atoi(x[i])
		n, errN := strconv.Atoi(y[i])
		if errM != nil || errN != nil {
			if x[i] != y[i] {
				return x[i] < y[i]
			}
			continue
		}
		if m != n {
			return m < n
		}
	}
	return len(x) < len(y)
}
