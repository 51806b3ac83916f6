package timeline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
)

// Glance is what the head and the tail of a session's file say.
type Glance struct {
	Path     string
	Thread   string // its id: from the header, else from the file's name; from the name first if the client finds it by that
	Named    bool   // the file's name is one that a client finds
	Archived bool
	Size     int64 // bytes of the file as it is stored
	Modified time.Time

	Agent   *agent.Agent // the agent that wrote it
	Header  session.Info
	Created time.Time // from the header; zero if it does not say
	// Fault is why the beginning does not tell which session this is, "" if it does, and FaultRule the rule that it breaks.
	Fault     string
	FaultRule *finding.Rule

	// First is the first prompt, "" if the head holds none; only if content was asked for.
	First      string
	CWD, Model string // of the newest settings in the tail, else of the header
	Turn       LastTurn
	// Complete says that the last turn was seen from its beginning.
	Complete bool
}

// Resume is the command, word by word, with which the client resumes the session; nil if there is none.
func (s *Glance) Resume() []string { return s.Agent.Resume(cmp.Or(s.Header.ResumedBy, s.Thread)) }

// LastTurn is the last turn of a session.
type LastTurn struct {
	State       TurnState
	Began, Last time.Time     // the times of its first and its last record; zero if they do not say
	Class       session.Class // Failed: what kind of error
	Code        string        // Failed: the client's own name for the error, as in codex_error_info
	Error       string        // Failed: the client's message
	Prompt      LastPrompt
	Unknown     []OpenCall // calls without an output, or with a stand-in: what they did is not known
}

// LastPrompt is the last thing that was asked.
type LastPrompt struct {
	Present  bool
	Answered bool  // the last thing that the model did was to answer in words
	Offset   int64 // bytes, in the uncompressed file; -1 if not known
	Chars    int
	Text     string // only if it was asked for
}

// OpenCall is a tool call.
type OpenCall struct{ ID, Tool string }

// LookOptions say what to read.
type LookOptions struct {
	Content bool // read the first and the last prompt's text
	Live    bool // the session is being written now
	// Lost says that only what the function Lost compares is wanted: First is then empty, Turn.Unknown not reliable, and of a last
	// turn that went well only that, and Last, are, unless old records were appended again behind it.
	Lost bool
}

// Look reads the head and tail of the session at a path. The error is ctx's or the file system's; damage is described in the Glance.
func Look(ctx context.Context, path string, opts LookOptions) (*Glance, error) {
	src, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	return LookAt(ctx, src, opts)
}

// LookAt is Look for a session that is open.
func LookAt(ctx context.Context, src *source.Source, opts LookOptions) (*Glance, error) {
	s := &Glance{Path: src.Path, Size: src.Size(), Modified: src.Info.ModTime()}
	s.Archived = all.Archived(src.Real)
	text, size, done, err := open(ctx, src)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := s.readHead(text, size, src); err != nil {
		return nil, err
	}
	if opts.Content && !opts.Lost {
		if err := s.readFirstPrompt(ctx, text, size); err != nil {
			return nil, err
		}
	}
	err = s.readTail(ctx, text, size, opts)
	s.settle()
	return s, err
}

// open opens a session's text, of which it returns the size.
func open(ctx context.Context, src *source.Source) (text io.ReaderAt, size int64, done func() error, err error) {
	r, err := src.Reader(ctx)
	if err != nil {
		return nil, 0, nil, err
	}
	text, ok := r.(io.ReaderAt)
	if size = src.Size(); !ok {
		if text, size, err = unpack(r); err != nil {
			r.Close()
			return nil, 0, nil, err
		}
	}
	return text, size, r.Close, nil
}

// maxUnpacked is how much of a compressed session is decompressed, in bytes.
const maxUnpacked = 64 << 20

// unpack decompresses a session into memory, since there is no other way to its tail. Of a damaged or very large one it
// returns the beginning.
func unpack(r io.Reader) (io.ReaderAt, int64, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxUnpacked))
	if err != nil && !errors.Is(err, source.ErrCorrupt) {
		return nil, 0, err
	}
	return bytes.NewReader(text), int64(len(text)), nil
}

// How much is read of the first line, in bytes: at first, and at most.
const (
	firstHead = 32 << 10
	maxHead   = 4 << 20
)

// readHead reads the header, which is the first line of every session that a client resumes.
func (s *Glance) readHead(text io.ReaderAt, size int64, src *source.Source) error {
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

// about fills in what the file's name and its first bytes say.
func (s *Glance) about(base string, head []byte) {
	if n := s.Agent.ReadName(base); n.Canonical {
		s.Thread, s.Named = n.ThreadID, true
	} else {
		s.Named = n.GoesOn() // found by the id in it
	}
	a := s.Agent.About(head)
	s.Header, s.Created, s.CWD = a.Info, a.Created, a.Info.CWD
	s.Fault, s.FaultRule = a.Fault, a.Rule
	// A client whose sessions do not hold their own thread's id finds them by their names alone.
	if a.Info.ID != "" && (s.Agent.Reidentify != nil || s.Thread == "") {
		s.Thread = a.Info.ID
	}
}

// How much of the head is read to find the first prompt, in bytes: at first, and at most. Before the prompt are the header,
// which holds the client's instructions, and the context.
const (
	firstPromptHead = 32 << 10
	maxPromptHead   = 256 << 10
)

// errFound stops Read once the prompt has been found.
var errFound = errors.New("found")

// readFirstPrompt reads the first prompt into s.First, as the user typed it.
func (s *Glance) readFirstPrompt(ctx context.Context, text io.ReaderAt, size int64) error {
	typed := s.Agent.Typed
	for n := int64(firstPromptHead); ; n = maxPromptHead {
		block, err := read(text, 0, min(n, size))
		if err != nil {
			return fmt.Errorf("reading %s: %w", s.Path, err)
		}
		last := n == maxPromptHead || n >= size
		if !last { // the block ends within a line
			block = block[:bytes.LastIndexByte(block, '\n')+1]
		}
		err = Read(ctx, bytes.NewReader(block), Options{Agent: s.Agent, Content: true, Live: true, asked: true}, func(e *Entry) error {
			if e.Kind != Prompt {
				return nil
			}
			if s.First = e.Text; typed != nil {
				s.First = typed(e.Text)
			}
			if s.First == "" && e.Images == 0 {
				return nil // the client's own
			}
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
