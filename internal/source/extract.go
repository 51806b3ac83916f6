package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Ref is a range of bytes of the uncompressed session.
type Ref struct {
	Offset int64 // of the first byte, from 0
	Length int64 // in bytes
}

// Extract returns the bytes of each ref, in the order of refs; refs may overlap and come in any order. A plain file is
// read only at those places, a compressed one in a single forward pass up to the last of them. All of the bytes are in
// memory at once: the caller must limit their sum. A ref that reaches past the end gives ErrRange.
func (s *Source) Extract(ctx context.Context, refs []Ref) ([][]byte, error) {
	if s.once {
		return nil, fmt.Errorf("%s: %w", s.Path, ErrOnce)
	}
	if err := s.see(); err != nil {
		return nil, err
	}
	for _, r := range refs {
		if r.Offset < 0 || r.Length < 0 || r.Offset+r.Length < r.Offset || (!s.Compressed && r.Offset+r.Length > s.size) {
			return nil, s.outside(r)
		}
	}
	if len(refs) == 0 {
		return nil, nil
	}
	r, err := s.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if at, ok := r.(io.ReaderAt); ok {
		out := make([][]byte, len(refs))
		for i, ref := range refs {
			out[i] = make([]byte, ref.Length)
			if _, err := at.ReadAt(out[i], ref.Offset); err != nil && ref.Length > 0 {
				return nil, fmt.Errorf("reading %d bytes at %d: %w", ref.Length, ref.Offset, err)
			}
		}
		return out, nil
	}
	return s.sweep(r, refs)
}

// sweep collects refs in one pass over r. Memory is allocated for bytes that are really there, not for a ref's length.
func (s *Source) sweep(r io.Reader, refs []Ref) ([][]byte, error) {
	out := make([][]byte, len(refs))
	order := make([]int, len(refs))
	for i := range order {
		order[i], out[i] = i, []byte{}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(refs[a].Offset, refs[b].Offset) })

	buf := make([]byte, 256<<10)
	var pos int64 // offset of buf[0]
	first := 0    // order[:first] are complete
	for {
		for first < len(order) && refs[order[first]].Offset+refs[order[first]].Length <= pos {
			first++
		}
		if first == len(order) {
			return out, nil
		}
		n, err := r.Read(buf)
		end := pos + int64(n)
		for _, i := range order[first:] {
			ref := refs[i]
			if ref.Offset >= end {
				break
			}
			if from, to := max(ref.Offset, pos), min(ref.Offset+ref.Length, end); from < to {
				out[i] = append(out[i], buf[from-pos:to-pos]...)
			}
		}
		pos = end
		if err != nil && n == 0 {
			if errors.Is(err, io.EOF) {
				return nil, s.outside(refs[order[first]])
			}
			return nil, err
		}
	}
}

func (s *Source) outside(r Ref) error {
	return fmt.Errorf("%s: %d bytes at %d: %w", s.Path, r.Length, r.Offset, ErrRange)
}
