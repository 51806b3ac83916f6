package publish

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/hist-cli/hist/internal/disk"
)

// tempName matches the names of temporary files: .hist-, the Unix time of creation in hexadecimal, random digits, .tmp. No
// agent takes such a file for a session.
var tempName = regexp.MustCompile(`^\.hist-([0-9a-f]{8,16})-[0-9a-f]{16}\.tmp$`)

// abandonedAge is the age from which Sweep considers a temporary file abandoned.
const abandonedAge = time.Hour

// IsTemp says whether a file is one that a killed Write left, judging by its name.
func IsTemp(name string) bool { return tempName.MatchString(name) }

func createTemp(dir string) (*os.File, error) {
	for try := 0; ; try++ {
		var random [8]byte
		rand.Read(random[:]) // never fails
		name := fmt.Sprintf(".hist-%08x-%s.tmp", time.Now().Unix(), hex.EncodeToString(random[:]))
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		}
		return f, err
	}
}

// Sweep removes the temporary files that a killed Write left in dir, and returns their paths. A file goes only if its
// name is exactly ours, it is a regular file, and both its name and its modification time are older than an hour.
func Sweep(dir string) (removed []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for left-over temporary files in %s: %w", dir, disk.Cause(err))
	}
	for _, e := range entries {
		m := tempName.FindStringSubmatch(e.Name())
		if m == nil || !e.Type().IsRegular() {
			continue
		}
		made, err := strconv.ParseInt(m[1], 16, 64)
		if err != nil || time.Since(time.Unix(made, 0)) < abandonedAge {
			continue
		}
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < abandonedAge {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, fmt.Errorf("removing the left-over temporary file %s: %w", path, disk.Cause(err))
		}
		removed = append(removed, path)
	}
	return removed, nil
}
