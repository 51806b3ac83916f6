package socket

import (
	"bufio"
	"bytes"
	"io"

	"github.com/gobwas/ws"

	"github.com/hist-cli/hist/internal/shim/relay"
)

// frames relays one direction of a websocket connection: first the HTTP upgrade, then frame by frame. A library reads the
// frames' headers. It does not write them: the bytes are handed on as they came, masks included.
type frames struct {
	in  *bufio.Reader
	out io.Writer
	// message is called with the text of each message that came in one frame: before the frame is handed on if hold is
	// true, else after.
	message func(text []byte)
	hold    bool

	raw bytes.Buffer // the bytes of the current frame
}

// maxMessage is the longest message that is read, in bytes.
const maxMessage = relay.MaxMessage

// maxHead is the longest HTTP head that is accepted, in bytes.
const maxHead = 64 << 10

func newFrames(in io.Reader, out io.Writer, hold bool, message func([]byte)) *frames {
	return &frames{in: bufio.NewReaderSize(in, 64<<10), out: out, hold: hold, message: message}
}

// run returns when either side has gone.
func (f *frames) run() error {
	upgraded, err := f.head()
	if err != nil || !upgraded {
		return f.rest(err)
	}
	for {
		if err := f.frame(); err != nil {
			return err
		}
	}
}

// rest hands on the remainder of the stream unread, because it is not a websocket's.
func (f *frames) rest(err error) error {
	if err == nil {
		_, err = io.Copy(f.out, f.in)
	}
	return err
}

// head hands on an HTTP head, and says whether frames follow it.
func (f *frames) head() (upgraded bool, err error) {
	size := 0
	for {
		line, err := f.in.ReadSlice('\n')
		if _, werr := f.out.Write(line); werr != nil {
			return false, werr
		}
		if err != nil && err != bufio.ErrBufferFull { //nolint:errorlint // as ReadSlice returns it
			return false, err
		}
		text := bytes.ToLower(bytes.TrimRight(line, "\r\n"))
		upgraded = upgraded || bytes.HasPrefix(text, []byte("upgrade:")) && bytes.Contains(text, []byte("websocket"))
		if size += len(line); len(text) == 0 || size > maxHead {
			return upgraded && len(text) == 0, nil
		}
	}
}

// frame hands on one frame.
func (f *frames) frame() error {
	f.raw.Reset()
	h, err := ws.ReadHeader(io.TeeReader(f.in, &f.raw))
	if err != nil {
		if f.raw.Len() > 0 {
			f.out.Write(f.raw.Bytes()) //nolint:errcheck // the error of the read is returned
			io.Copy(f.out, f.in)       //nolint:errcheck // the same
		}
		return err
	}
	if h.Length > maxMessage || !h.Fin || h.OpCode != ws.OpText || h.Rsv != 0 {
		if _, err := f.out.Write(f.raw.Bytes()); err != nil {
			return err
		}
		_, err := io.CopyN(f.out, f.in, h.Length)
		return err
	}
	if _, err := io.CopyN(&f.raw, f.in, h.Length); err != nil {
		f.out.Write(f.raw.Bytes()) //nolint:errcheck // the error of the read is returned
		return err
	}
	if f.hold {
		f.show(h)
	}
	if _, err := f.out.Write(f.raw.Bytes()); err != nil {
		return err
	}
	if !f.hold {
		f.show(h)
	}
	if f.raw.Cap() > maxMessage/4 {
		f.raw = bytes.Buffer{} // long messages are rare, so the memory is released
	}
	return nil
}

func (f *frames) show(h ws.Header) {
	text := f.raw.Bytes()[f.raw.Len()-int(h.Length):]
	if h.Masked {
		text = bytes.Clone(text)
		ws.Cipher(text, h.Mask, 0)
	}
	f.message(text)
}
