// Package glance tells who a session is and how its last turn ended, from the head and the tail of its file: enough to
// list ten thousand of them, or to answer about one of a gigabyte at once.
//
// In: a session's file. Out: a Session. What is wrong in the middle of a file it can't know; lint does. It reads
// through the same normalizer and timeline as everything else and never writes.
package glance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/timeline"
)

// Session is what head and tail of a session's file tell.
type Session struct {
	Path     string
	Thread   string // its id: from the header, else from the file's name; the name first where a client goes by that
	Named    bool   // the file has a name that a client finds
	Archived bool
	Size     int64 // bytes of the file as it is stored
	Modified time.Time

	Agent   agent.Agent // that wrote it
	Header  session.Info
	Created time.Time // as the header says; zero if it does not
	// Fault is why the header can't be read, "" if it can.
	Fault string

	// First is the first prompt, "" if the head holds none; only if content was asked for.
	First      string
	CWD, Model string // of the newest settings in the tail, else of the header
	Turn       Turn
	// Complete says that the last turn was seen from its beginning.
	Complete bool
}

// Turn is the last turn of a session.
type Turn struct {
	State       timeline.TurnState
	Began, Last time.Time     // of its first and its last record; zero if they do not say
	Class       session.Class // Failed: what kind of error
	Code        string        // Failed: the client's own name for the error, as in codex_error_info
	Error       string        // Failed: what the client says of it
	Prompt      Prompt
	Unknown     []Call // calls without an output, or with a stand-in: what they did is not known
}

// Prompt is the last thing that was asked.
type Prompt struct {
	Present  bool
	Answered bool  // in words, after it
	Offset   int64 // bytes, in the uncompressed file; -1 if not known
	Chars    int
	Text     string // only if it was asked for
}

// Call is a tool call.
type Call struct{ ID, Tool string }

// Options say what to tell.
type Options struct {
	Content bool // the first and the last prompt's text
	Live    bool // somebody writes the session now
	// Lost: only what Lost compares is asked for. Of the last turn's calls it is not told which are unknown.
	Lost bool
}

// Look glances at one session. The error is ctx's or the file system's; damage is told in the Session.
func Look(ctx context.Context, path string, opts Options) (*Session, error) {
	src, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	s := &Session{Path: path, Size: src.Size(), Modified: src.Info.ModTime()}
	s.Archived = all.Archived(src.Real)
	r, err := src.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, ok := r.(io.ReaderAt)
	size := src.Size()
	if !ok {
		if text, size, err = unpack(r); err != nil {
			return nil, err
		}
	}
	if err := s.head(text, size, src); err != nil {
		return nil, err
	}
	if opts.Content {
		if err := s.first(ctx, text, size); err != nil {
			return nil, err
		}
	}
	return s, s.tail(ctx, text, size, opts)
}

// maxUnpacked is how much of a compressed session is unpacked to glance at it, in bytes.
const maxUnpacked = 64 << 20

// unpack reads a compressed session into memory: its tail can't be had otherwise. Of a damaged or a very large one it
// is what comes first.
func unpack(r io.Reader) (io.ReaderAt, int64, error) {
	var b bytes.Buffer
	_, err := io.Copy(&b, io.LimitReader(r, maxUnpacked))
	if err != nil && !errors.Is(err, source.ErrCorrupt) {
		return nil, 0, err
	}
	return bytes.NewReader(b.Bytes()), int64(b.Len()), nil
}

// How much is read of the first line, in bytes: at first, and at most.
const (
	firstHead = 32 << 10
	maxHead   = 4 << 20
)

// head reads the header, which is the first line of every session that a client resumes.
func (s *Session) head(text io.ReaderAt, size int64, src *source.Source) error {
	for n := int64(firstHead); ; n *= 8 {
		block, err := read(text, 0, min(n, size))
		if err != nil {
			return fmt.Errorf("reading %s: %w", s.Path, err)
		}
		if bytes.IndexByte(block, '\n') < 0 && int64(len(block)) < size && n < maxHead {
			continue
		}
		if s.Agent = all.ByName(src.Name); s.Agent == nil {
			text, _ := normalize.Head(bytes.NewReader(block))
			if s.Agent, err = all.Of(src.Real, text); err != nil {
				return fmt.Errorf("%s: %w", s.Path, err)
			}
		}
		s.about(src.Name, block)
		return nil
	}
}

// about takes over what the file's name and its first bytes tell.
func (s *Session) about(base string, head []byte) {
	if n := s.Agent.ReadName(base); n.Canonical {
		s.Thread, s.Named = n.ThreadID, true
	}
	a := s.Agent.About(head)
	s.Header, s.Created, s.Fault, s.CWD = a.Info, a.Created, a.Fault, a.Info.CWD
	// A client of an agent whose sessions do not say inside which thread they are finds them by their names alone.
	if _, inside := s.Agent.(agent.Reidentifier); a.Info.ID != "" && (inside || s.Thread == "") {
		s.Thread = a.Info.ID
	}
}

// firstPrompt is how much of the head is read for the first prompt, in bytes, at first and at most: the header, which holds
// the client's instructions, and the context that stands before the prompt.
const (
	firstPrompt = 32 << 10
	mostPrompt  = 256 << 10
)

// errFound ends a reading that has come to what it looked for.
var errFound = errors.New("found")

// first reads the first prompt.
func (s *Session) first(ctx context.Context, text io.ReaderAt, size int64) error {
	for n := int64(firstPrompt); ; n = mostPrompt {
		block, err := read(text, 0, min(n, size))
		if err != nil {
			return fmt.Errorf("reading %s: %w", s.Path, err)
		}
		last := n == mostPrompt || n >= size
		if !last { // the last line is cut
			block = block[:bytes.LastIndexByte(block, '\n')+1]
		}
		err = timeline.Read(ctx, bytes.NewReader(block), timeline.Options{Agent: s.Agent, Content: true, Live: true, Asked: true}, func(e *timeline.Entry) error {
			if e.Kind != timeline.Prompt {
				return nil
			}
			s.First = e.Text
			return errFound
		})
		switch {
		case errors.Is(err, errFound):
			return nil
		case err != nil && !errors.Is(err, source.ErrCorrupt):
			return err
		case last:
			return nil
		}
	}
}

func read(text io.ReaderAt, from, n int64) ([]byte, error) {
	block := make([]byte, n)
	got, err := text.ReadAt(block, from)
	if errors.Is(err, io.EOF) && int64(got) == n {
		err = nil
	}
	return block[:got], err
}
