package inspect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/agent/codex/beside"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// Held is what one of several files of a session holds of the conversation.
type Held struct {
	Items int  // how many items a resume of it sends
	Alone int  // how many of them a resume of no other file sends
	Lines bool // it has a line that another file has too: they are of one form, and hist join puts them together
}

// maxHeld is up to how many bytes of a file are compared with others.
const maxHeld = 64 << 20

// Hold compares files of one session by what their client sends of each. It returns nil if one of them can't be read.
func Hold(ctx context.Context, paths []string) []Held {
	held, seed := make([]Held, len(paths)), maphash.MakeSeed()
	sent := make([]map[[16]byte]bool, len(paths)) // what is said twice counts once: a copy may have it once
	lines := map[uint64]int{}                     // the file in which a line was first seen, from 1
	for i, path := range paths {
		text, err := textOf(ctx, path)
		if err != nil {
			return nil
		}
		a, err := all.Of(path, text)
		if err != nil || a.ReadSent == nil {
			return nil
		}
		read, err := a.ReadSent(text, agent.ReadAt{Base: filepath.Base(path)}, "")
		if err != nil {
			return nil
		}
		held[i].Items, sent[i] = read.Own(), map[[16]byte]bool{}
		for k := range read.Items {
			if read.Items[k].Made == "" {
				sent[i][read.Items[k].Sum] = true
			}
		}
		for line := range bytes.Lines(text) {
			sum := maphash.Bytes(seed, line)
			if first := lines[sum]; first == 0 {
				lines[sum] = i + 1
			} else if first != i+1 {
				held[i].Lines, held[first-1].Lines = true, true
			}
		}
	}
	for i := range sent {
		for sum := range sent[i] {
			alone := true
			for k := range sent {
				alone = alone && (k == i || !sent[k][sum])
			}
			if alone {
				held[i].Alone++
			}
		}
	}
	return held
}

// Listing is the one of several files of a session that a home's client reads, because its list of threads names it; "" if it names none.
func Listing(ctx context.Context, dir string, paths []string) string {
	index, err := beside.ReadIndex(ctx, dir)
	if err != nil {
		return "" // then nothing says which it reads
	}
	if i := slices.Index(paths, index[lint.NameOf(paths[0], true).ThreadID].Path); i >= 0 {
		return paths[i]
	}
	return ""
}

// Left says of a session that has no file any more where a home's client had it, by its list of threads, and how what its databases still
// have of it comes back; "" if the list does not have it, or names a file that is there.
func Left(ctx context.Context, dir, id string) string {
	index, err := beside.ReadIndex(ctx, dir)
	listed := index[strings.ToLower(id)].Path
	if _, there := os.Lstat(listed); err != nil || listed == "" || !errors.Is(there, fs.ErrNotExist) {
		return "" // then nothing says that one is gone
	}
	folder := filepath.Dir(listed)
	if rel, err := filepath.Rel(dir, folder); err != nil || !filepath.IsLocal(rel) { // the list is another home's
		folder = all.Named(codex.Name).Archive.NewDir(dir, time.Now())
	}
	path := filepath.Join(folder, filepath.Base(listed))
	return fmt.Sprintf("the client's list has it in %s, which is gone; what the client's databases still have of it comes back with: %s && %s && %s",
		listed, format.Command("mkdir", "-p", folder), format.Command("touch", path), format.Command("hist", "repair", "--in-place", path))
}

// textOf is a session's text, which must not be too long to be compared.
func textOf(ctx context.Context, path string) ([]byte, error) {
	text, err := source.Head(ctx, path, maxHeld)
	if len(text) == maxHeld {
		err = errors.New("too long to be compared")
	}
	return text, err
}
