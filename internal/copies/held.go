package copies

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"path/filepath"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/source"
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
		if err != nil {
			return nil
		}
		if a.ReadSent == nil {
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

// textOf is a session's text, which must not be too long to be compared.
func textOf(ctx context.Context, path string) ([]byte, error) {
	text, err := source.Head(ctx, path, maxHeld)
	if len(text) == maxHeld {
		err = errors.New("too long to be compared")
	}
	return text, err
}
