package timeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
)

// How much is read from the end of a file, in bytes: at first, if all that is asked is whether the last turn went well, and at most.
const (
	firstTail = 64 << 10
	endOfTurn = 4 << 10
	maxTail   = 16 << 20
)

// readTail reads backwards until the beginning of the last turn is found, or its good end if no more is wanted.
func (s *Glance) readTail(ctx context.Context, text io.ReaderAt, size int64, opts LookOptions) error {
	n := int64(firstTail)
	if opts.Lost {
		n = endOfTurn
	}
	for ; ; n *= 4 {
		n = min(n, maxTail, size)
		from := size - n
		block, err := read(text, from, n)
		if err != nil {
			return fmt.Errorf("reading %s: %w", s.Path, err)
		}
		if from > 0 { // the block begins within a line
			i := bytes.IndexByte(block, '\n') + 1
			block, from = block[i:], from+int64(i)
		}
		last := from == 0 || n == maxTail
		t, err := s.turn(ctx, block, from > 0 && (last || opts.Lost), opts)
		if err != nil {
			return err
		}
		if t.whole && n >= firstTail && !(t.compacted && s.Agent.Branched) || last || opts.Lost && t.endedWell() { // what stands in front tells whose an end is, where two clients wrote
			s.setTurn(t, from)
			if from == 0 && t.turn.State == NoTurn && !opts.Lost {
				s.nothingIn(block)
			}
			return nil
		}
	}
}

// nothingIn notes why the client does not resume a session in which nothing is asked, of which this is all.
func (s *Glance) nothingIn(text []byte) {
	if h := s.Header; s.Fault != "" || s.Agent.ReadSent == nil || h.BaseThread != "" || h.ForkedFrom != "" {
		return
	}
	if sent, err := s.Agent.ReadSent(text, agent.ReadAt{Base: filepath.Base(s.Path)}, ""); err == nil {
		s.Fault = sent.Refused
	}
}

// turn finds the last turn in a block of whole lines. midTurn says that the block begins in the middle of a turn: then a
// record that begins one is read before it.
func (s *Glance) turn(ctx context.Context, block []byte, midTurn bool, opts LookOptions) (*turnReader, error) {
	t := &turnReader{words: s.Agent.Words, era: s.Agent.Words.Era(s.Header.Version), turn: LastTurn{State: NoTurn, Prompt: LastPrompt{Offset: -1}}}
	if midTurn {
		mark := append(t.words.TurnMark(), '\n')
		t.shift = int64(len(mark))
		block = slices.Concat(mark, block)
	}
	err := Read(ctx, bytes.NewReader(block), Options{Agent: s.Agent, Content: opts.Content, Live: opts.Live, asked: opts.Lost}, t.entry)
	if err != nil && !errors.Is(err, source.ErrCorrupt) {
		return nil, err
	}
	if midTurn && !t.seen {
		t.turn.State = NoTurn // nothing in the block belongs to a turn
	}
	t.whole = t.begun && !(t.implicit && !t.era.Turns)
	return t, nil
}

// setTurn fills in the last turn; from is the offset of its block in the file.
func (s *Glance) setTurn(t *turnReader, from int64) {
	s.Turn, s.Complete = t.turn, t.whole || from == 0
	if t.turn.Prompt.Present {
		s.Turn.Prompt.Offset += from - t.shift
	}
	if t.cwd != "" {
		s.CWD = t.cwd
	}
	s.Model = t.model
}

// turnReader gathers the newest turn from the entries of a timeline.
type turnReader struct {
	words    agent.Words
	era      agent.Era
	turn     LastTurn
	start    *Entry
	begun    bool // its beginning was read
	implicit bool // no event marks its beginning: it begins with its prompt, as with Codex before 0.100
	seen     bool // anything but the beginning of a turn was read
	whole    bool // it was read from its beginning
	// compacted: nothing was said since the last compaction. What stands in front of its mark may be old records that were appended
	// again, which only what stands in front of those shows.
	compacted bool
	shift     int64 // how many bytes were read before the block that are not in the file

	cwd, model string
}

func (t *turnReader) entry(e *Entry) error {
	t.last(e.Time)
	t.seen = t.seen || e.Kind != TurnStart && e.Kind != TurnEnd || e.Kind == TurnEnd && e.State != Open
	switch e.Kind {
	case Compaction:
		t.compacted = true
	case Prompt, Answer, Call:
		t.compacted = false
	}
	switch e.Kind {
	case TurnStart:
		t.turn = LastTurn{State: Open, Began: e.Time, Last: e.Time, Prompt: LastPrompt{Offset: -1}}
		t.start, t.begun, t.implicit = e, e.Offset >= t.shift, false
	case TurnEnd:
		t.end(e)
	case Prompt:
		t.implicit = t.implicit || t.start != nil && t.start.Pos == e.Pos
		t.turn.Prompt = LastPrompt{Present: true, Offset: e.Offset, Chars: e.Chars, Text: e.Text}
		if e.Turn == 0 {
			t.turn.State = Unanswered
		}
	case Answer:
		t.turn.Prompt.Answered = true
	case Call:
		t.turn.Prompt.Answered = false
		if !e.Answered || e.Outcome.State == session.StoodIn {
			t.turn.Unknown = append(t.turn.Unknown, OpenCall{e.CallID, e.Tool})
		}
	case Settings:
		t.cwd, t.model = e.CWD, e.Model
	}
	return nil
}

// endedWell says that the last turn ended with an answer, wherever it began.
func (t *turnReader) endedWell() bool {
	return t.turn.State == Completed && t.turn.Prompt.Answered
}

func (t *turnReader) last(at time.Time) {
	if !at.IsZero() {
		t.turn.Last = at
	}
}

// end records how a turn ended. With Codex from 0.100 to 0.144 the only sign of a failed request is that no answer came (measured).
func (t *turnReader) end(e *Entry) {
	t.turn.State = e.State
	switch {
	case e.State == Failed:
		t.turn.Class, t.turn.Code, t.turn.Error = t.words.Class(e.Detail, e.Error), e.Detail, e.Error
	case e.State == Completed && !t.implicit && t.turn.Prompt.Present && !t.turn.Prompt.Answered && t.era.Errors:
		t.turn.State, t.turn.Class = Failed, session.Unknown
	}
}
