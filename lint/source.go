package lint

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/source"
)

// Source lints a session that is open, with what opts.Kept reads of its home: where the file has lost records that are still
// there, it is read a second time. The errors are Session's, with the file's path, and what kept it from being read.
func Source(ctx context.Context, src *source.Source, opts Options) (*Result, error) {
	opts.Path = src.Real
	home := &beside{}
	if !opts.Live && opts.Kept != nil {
		home.home = opts.Home
	}
	res, err := pass(ctx, src, opts, home)
	if err != nil || home.kept == nil || res.Summary.Partial != nil {
		return res, err
	}
	if home.lost = home.kept.Missing(ctx, res.Summary.Header); len(home.lost) == 0 {
		return res, nil
	}
	return pass(ctx, src, opts, home)
}

func pass(ctx context.Context, src *source.Source, opts Options, home *beside) (*Result, error) {
	in, err := src.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	res, err := read(ctx, in, opts, home)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%s: %w", src.Path, err)
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
