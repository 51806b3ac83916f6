package lint

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
)

// Source lints a session that is open, with what opts.Kept reads of its home: where the file has lost records that are still
// there, it is read a second time. The errors are Session's, with the file's path, and what kept it from being read.
func Source(ctx context.Context, src *source.Source, opts Options) (*Result, error) {
	if src.Real != "" {
		opts.Path = src.Real
	}
	home := &beside{}
	if !opts.Live && opts.Kept != nil {
		home.home = opts.Home
	}
	res, err := unflipped(ctx, src, opts, home)
	if err != nil || home.kept == nil || res.Summary.Partial != nil {
		return res, err
	}
	if home.lost = home.kept.Missing(ctx, res.Summary.Header); len(home.lost) == 0 {
		return res, nil
	}
	return pass(ctx, src, opts, home)
}

// unflipped lints a session. A compressed one that does not decode because one bit of it is flipped is read with that bit
// turned back, as src is from then on.
func unflipped(ctx context.Context, src *source.Source, opts Options, home *beside) (*Result, error) {
	res, err := pass(ctx, src, opts, home)
	if err != nil || !slices.ContainsFunc(res.Findings, func(f Finding) bool { return f.Rule == normalize.CorruptZst }) {
		return res, err
	}
	if ok, err := src.Unflip(ctx); err != nil || !ok {
		return res, err
	}
	home.kept = nil // it has seen what is not so
	return pass(ctx, src, opts, home)
}

func pass(ctx context.Context, src *source.Source, opts Options, home *beside) (*Result, error) {
	in, err := src.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if at, ok := in.(io.ReaderAt); ok && src.Real == "" {
		opts.Text = at
	}
	res, err := read(ctx, in, opts, home)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%s: %w", src.Path, err)
	}
	if at, ok := src.Flipped(); ok && err == nil {
		res.Summary.Seen = 0
		res.Findings = slices.Insert(res.Findings, 0, Finding{
			Rule: normalize.CorruptZst, Impact: Blocks, Fix: Exact, Pos: session.Pos{Line: 1}, Count: 1,
			Message: fmt.Sprintf("one bit of byte %d of the compressed stream is flipped: the client can't read the file at all; with that bit flipped back, the checksum matches", at),
		})
	}
	return res, err
}

// File lints the session in a file, plain or compressed. Without a name in opts the file's own is taken.
func File(ctx context.Context, path string, opts Options) (*Result, error) {
	src, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if opts.Name.Base == "" {
		opts.Name = NameOf(path, false)
	}
	return Source(ctx, src, opts)
}

// NameOf reads the name of a session's file. inHome says that it lies where its agent looks for sessions.
func NameOf(path string, inHome bool) Name {
	n := Name{Base: filepath.Base(path)}
	if a := all.ByName(n.Base); a != nil {
		n = a.ReadName(n.Base)
	} else {
		for _, a := range all.Agents { // a name that means something to one agent only
			if named := a.ReadName(n.Base); named.ThreadID != "" {
				n = named
			}
		}
	}
	n.InHome = inHome
	return n
}
