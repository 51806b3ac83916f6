package lint

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
)

// Source lints an open session, together with what opts.Kept reads from its agent's home: if the home still has records
// that the file has lost, the file is read a second time with them. Errors are those of Session, with the file's path, and
// whatever kept the file from being read.
func Source(ctx context.Context, src *source.Source, opts Options) (*Result, error) {
	if src.Real != "" {
		opts.Path = src.Real
	}
	ctx = source.With(ctx, src)
	home := &beside{}
	if !opts.Live && opts.Kept != nil {
		home.home = opts.Home
	}
	res, err := readSource(ctx, src, opts, home)
	if err != nil || home.kept == nil || res.Summary.Partial != nil {
		return res, err
	}
	if home.lost = home.kept.Missing(ctx, res.Summary.Header); len(home.lost) == 0 {
		return res, nil
	}
	return readSource(ctx, src, opts, home)
}

// readSource reads an open session once, from its start.
func readSource(ctx context.Context, src *source.Source, opts Options, home *beside) (*Result, error) {
	in, err := src.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if at, ok := in.(io.ReaderAt); ok {
		opts.Text = at
	}
	res, err := read(ctx, in, opts, home, func() (io.Reader, error) { return src.Reader(ctx) })
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%s: %w", src.Path, err)
	}
	return res, err
}

// File lints the session in a file, plain or compressed. If opts names no file, the path's own name is used.
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

// NameOf reads what the name of a session's file says. inHome says whether the file is where its agent looks for sessions.
func NameOf(path string, inHome bool) Name {
	n := Name{Base: filepath.Base(path)}
	if a := all.ByName(n.Base); a != nil {
		n = a.ReadName(n.Base)
	} else {
		for _, a := range all.Agents { // no agent claims the name, but one may find an id in it
			if named := a.ReadName(n.Base); named.ThreadID != "" || named.Right != "" {
				n = named
			}
		}
	}
	n.InHome = inHome
	return n
}

// Parents finds the texts of the sessions of a home that one inherits from, by the id that it names, each as far as it is inherited; nil if
// its agent has no home, or it lies in none. about is what the session says of itself.
func Parents(ctx context.Context, a *agent.Agent, home string, about session.Info) func(id string) []byte {
	if a.Home == nil || home == "" {
		return nil
	}
	return func(id string) []byte {
		paths, err := a.Find(ctx, home, id)
		if err != nil || len(paths) != 1 {
			return nil
		}
		text, err := source.Head(ctx, paths[0], maxReread+1)
		if err != nil || len(text) > maxReread {
			return nil
		}
		if id == about.BaseThread && about.BaseOffset > 0 && about.BaseOffset <= int64(len(text)) {
			text = text[:about.BaseOffset]
		}
		about = a.About(text).Info
		return text
	}
}
