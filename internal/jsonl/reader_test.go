package jsonl

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// pieces is a plain reader that gives at most n bytes a call, and nothing in
// every third call.
type pieces struct {
	text     []byte
	n, calls int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.calls++; p.calls%3 == 0 {
		return 0, nil
	}
	if len(p.text) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(p.n, len(b))], p.text)
	p.text = p.text[n:]
	return n, nil
}

// liar is a reader whose ReadAt shows other bytes than Read, as if the file had
// been written meanwhile.
type liar struct {
	pieces
	seen []byte
}

func (l *liar) ReadAt(b []byte, at int64) (int, error) {
	return bytes.NewReader(l.seen).ReadAt(b, at)
}

// readAll reads text through a reader of some kind and checks every line.
func readAll(t *testing.T, text []byte, buffer, piece, kind int) {
	var src io.Reader
	switch kind % 5 {
	case 0:
		src = &pieces{text: text, n: piece}
	case 1:
		src = bytes.NewReader(text)
	case 2:
		src = &liar{pieces{text: text, n: piece}, text[:len(text)/2]}
	case 3:
		src = &liar{pieces{text: text, n: piece}, append(text[:len(text):len(text)], text...)}
	case 4: // not at its start
		r := bytes.NewReader(append([]byte("head\n"), text...))
		r.Seek(5, io.SeekStart)
		src = r
	}
	r := newReader(src, buffer)
	var joined []byte
	number := int64(0)
	for {
		line, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		number++
		if line.Number != number || line.Offset != int64(len(joined)) {
			t.Fatalf("line %d at %d, want %d at %d", line.Number, line.Offset, number, len(joined))
		}
		if bytes.IndexByte(line.Raw, '\n') >= 0 {
			t.Fatalf("line %d has a newline", number)
		}
		joined = append(joined, line.Raw...)
		if line.Terminated {
			joined = append(joined, '\n')
		} else if len(line.Raw) == 0 || len(joined) != len(text) {
			t.Fatalf("line %d is not terminated", number)
		}
	}
	if !bytes.Equal(joined, text) {
		t.Fatalf("got %q, want %q", joined, text)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Fatalf("behind the end: %v", err)
	}
}

func TestReader(t *testing.T) {
	texts := []string{
		"", "\n", "\n\n", "a", "a\n", "a\nb", "\r\n\r", "a\rb\u2028c\n",
		strings.Repeat("x", 100) + "\n" + strings.Repeat("y", 31) + "\nz\n" + strings.Repeat("w", 64),
	}
	r := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(strings.Repeat("x", r.IntN(40)*r.IntN(6)))
			b.WriteByte('\n')
		}
		texts = append(texts, b.String()+strings.Repeat("y", r.IntN(3)*r.IntN(50)))
	}
	for _, text := range texts {
		for _, buffer := range []int{1, 2, 7, 16, 64, 4096} {
			for kind := range 5 {
				readAll(t, []byte(text), buffer, 1+r.IntN(50), kind)
			}
		}
	}
}

func TestReaderError(t *testing.T) {
	broken := errors.New("broken")
	for _, buffer := range []int{1, 4, 64} {
		for _, text := range []string{"one\ntwo\nthr", "one\ntwo\n", ""} {
			src := io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken))
			r := newReader(src, buffer)
			got := ""
			var err error
			for {
				var l Line
				if l, err = r.Next(); err != nil {
					break
				}
				got += string(l.Raw)
				if l.Terminated {
					got += "\n"
				}
			}
			if got != text || err != broken {
				t.Errorf("buffer %d: %q, %v; want %q, %v", buffer, got, err, text, broken)
			}
			if _, err := r.Next(); err != broken {
				t.Errorf("again: %v", err)
			}
		}
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// TestLineAt: one line is read, however long, and of what follows a short one only a little.
func TestLineAt(t *testing.T) {
	text := "first\n" + strings.Repeat("x", 3*bufferSize) + "\nlast"
	long := int64(len("first\n"))
	for offset, want := range map[int64]string{0: "first", 2: "rst", long: text[long : len(text)-len("\nlast")], int64(len(text) - 4): "last"} {
		counted := &counting{ReaderAt: strings.NewReader(text)}
		l, err := LineAt(counted, offset, MaxLine)
		if err != nil || string(l.Raw) != want || l.Number != 1 {
			t.Error(offset, l, err)
		}
		if most := int64(2*len(want) + bufferSize/8); counted.n > most {
			t.Errorf("%d bytes read for a line of %d", counted.n, len(want))
		}
	}
}

type counting struct {
	io.ReaderAt
	n int64
}

func (c *counting) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, at)
	c.n += int64(n)
	return n, err
}

func TestReaderStuck(t *testing.T) {
	if _, err := NewReader(stuck{}).Next(); err != io.ErrNoProgress {
		t.Error(err)
	}
}

func TestReaderPipe(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 3*bufferSize)
	go func() {
		io.WriteString(out, long+"\nend\n")
		out.Close()
	}()
	r := NewReader(in)
	if l, err := r.Next(); err != nil || string(l.Raw) != long {
		t.Fatal(len(l.Raw), err)
	}
	if l, err := r.Next(); err != nil || string(l.Raw) != "end" || l.Offset != int64(len(long)+1) {
		t.Fatal(l, err)
	}
	in.Close()
}

// A huge line of a file gets the room it needs, rounded up to the next step, once,
// and gives it back when ordinary lines follow.
func TestReaderHugeLine(t *testing.T) {
	const n = 24<<20 + 12345
	huge := bytes.Repeat([]byte("h"), n)
	text := append(append([]byte("first\n"), huge...), "\nlast\n"...)
	path := filepath.Join(t.TempDir(), "huge.jsonl")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := NewReader(f)
	for _, want := range []struct {
		size, room int
	}{{5, 0}, {n, 24<<20 + spillStep}, {4, 0}} {
		l, err := r.Next()
		if err != nil || len(l.Raw) != want.size {
			t.Fatal(len(l.Raw), err)
		}
		if cap(r.spill) != want.room {
			t.Errorf("spill buffer of %d bytes, want %d", cap(r.spill), want.room)
		}
	}
}

// TestTooLong: of a line longer than the longest that is kept the head is delivered, with how much was passed over, and
// the lines behind it are where they are; whether it can be measured ahead or not.
func TestTooLong(t *testing.T) {
	for _, size := range []int{1, 700, 999, 1000, 1001, 1500, 5000, 200000} {
		for _, tail := range []string{"", "\n", "\nnext\n", "\nnext"} {
			text := "first\n" + strings.Repeat("x", size) + tail
			for name, in := range map[string]io.Reader{"file": strings.NewReader(text), "pipe": struct{ io.Reader }{strings.NewReader(text)}} {
				r := newReader(in, 64)
				r.maxLine = 1000
				want := int64(0)
				for n := 0; ; n++ {
					l, err := r.Next()
					if err == io.EOF {
						break
					}
					if err != nil || l.Offset != want || l.Number != int64(n+1) {
						t.Fatalf("%s, %d bytes: line %d at %d, want %d (%v)", name, size, l.Number, l.Offset, want, err)
					}
					if n == 1 && (int64(len(l.Raw))+l.Passed != int64(size) || (l.Passed > 0) != (size > 1000)) {
						t.Fatalf("%s, %d bytes: %d kept, %d passed", name, size, len(l.Raw), l.Passed)
					}
					want += int64(len(l.Raw)) + l.Passed
					if l.Terminated {
						want++
					}
				}
				if want != int64(len(text)) {
					t.Errorf("%s, %d bytes, %q: lines end at %d of %d", name, size, tail, want, len(text))
				}
			}
		}
	}
}

// TestBufferOfAFile: of a small file no more room is made than it needs, also if only a part of it may be read.
func TestBufferOfAFile(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("line\n"); err != nil {
		t.Fatal(err)
	}
	for _, r := range []io.Reader{f, io.LimitReader(f, bufferSize)} {
		if got := len(NewReader(r).buf); got >= bufferSize/10 {
			t.Errorf("%T: %d bytes", r, got)
		}
	}
}
