package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/zstd"
)

var ctx = context.Background()

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string) *Source {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func readAll(t *testing.T, s *Source) ([]byte, error) {
	t.Helper()
	r, err := s.Reader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return io.ReadAll(r)
}

func compress(t *testing.T, data []byte, opts ...zstd.EOption) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return e.EncodeAll(data, nil)
}

// lines makes text that does not compress to nothing.
func lines(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString(`{"n":"`)
		for range 40 {
			b.WriteByte("0123456789abcdef"[rng.IntN(16)])
		}
		b.WriteString("\"}\n")
	}
	return b.Bytes()
}

func TestPlainAndCompressed(t *testing.T) {
	dir := t.TempDir()
	data := lines(1 << 20)
	skippable := append([]byte{0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'}, compress(t, data)...)
	twoFrames := append(compress(t, data[:1000]), compress(t, data[1000:])...)
	for name, c := range map[string]struct {
		file       string
		bytes      []byte
		compressed bool
		magic      bool
	}{
		"plain":              {"a.jsonl", data, false, false},
		"empty":              {"b.jsonl", nil, false, false},
		"zst":                {"c.jsonl.zst", compress(t, data), true, true},
		"zst without suffix": {"d.jsonl", compress(t, data), true, true},
		"skippable frame":    {"e.jsonl.zst", skippable, true, true},
		"two frames":         {"f.jsonl.zst", twoFrames, true, true},
		"empty zst":          {"g.jsonl.zst", nil, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, write(t, filepath.Join(dir, c.file), c.bytes))
			want := data
			if len(c.bytes) == 0 {
				want = nil
			}
			if s.Compressed != c.compressed || s.Magic != c.magic || s.Size() != int64(len(c.bytes)) || s.Name != c.file {
				t.Errorf("got compressed %v magic %v size %d name %s", s.Compressed, s.Magic, s.Size(), s.Name)
			}
			for range 2 { // as often as needed
				got, err := readAll(t, s)
				if name == "zst without suffix" && errors.Is(err, ErrMisnamed) {
					err = nil
				}
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("read %d bytes, %v; want %d", len(got), err, len(want))
				}
			}
			r, _ := s.Reader(ctx)
			defer r.Close()
			if _, ok := r.(io.ReaderAt); ok == c.compressed {
				t.Errorf("io.ReaderAt: %v", ok)
			}
			io.Copy(io.Discard, r)
			if got := r.(interface{ Consumed() int64 }).Consumed(); got != s.Size() {
				t.Errorf("consumed %d of %d", got, s.Size())
			}
			raw, err := s.Raw(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer raw.Close()
			if got, _ := io.ReadAll(raw); !bytes.Equal(got, c.bytes) {
				t.Error("Raw is not what is stored")
			}
			if err := s.Changed(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReaderContract(t *testing.T) {
	data := lines(64 << 10)
	s := open(t, write(t, filepath.Join(t.TempDir(), "a.jsonl"), data))
	r, err := s.Reader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(r, data); err != nil {
		t.Error(err)
	}
	r.Close()
	if err := r.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestDamagedZstd(t *testing.T) {
	dir := t.TempDir()
	data := lines(4 << 20)
	whole := compress(t, data)
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 0xff
	flipped[len(flipped)/2+1] ^= 0xff
	for name, c := range map[string]struct {
		bytes []byte
		least int
	}{
		"cut in half":          {whole[:len(whole)/2], len(data) / 3},
		"cut in the header":    {whole[:5], 0},
		"cut in the magic":     {whole[:2], 0},
		"cut before checksum":  {whole[:len(whole)-1], len(data) / 2},
		"flipped bytes":        {flipped, len(data) / 3},
		"garbage after":        {append(bytes.Clone(whole), "garbage"...), len(data)},
		"plain text named zst": {data, len(data)},
		"records after":        {append(compress(t, data[:49*1000]), data[49*1000:]...), len(data)},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, write(t, filepath.Join(dir, "a.jsonl.zst"), c.bytes))
			got, err := readAll(t, s)
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("got %v, want ErrCorrupt", err)
			}
			if len(got) < c.least || !bytes.HasPrefix(data, got[:min(len(got), len(data)/3)]) {
				t.Errorf("%d good bytes, want at least %d of the data", len(got), c.least)
			}
			if !strings.Contains(err.Error(), "a.jsonl.zst") {
				t.Errorf("the error does not name the file: %v", err)
			}
		})
	}
}

// TestBomb: of half a gigabyte that fits in a few kilobytes, no more is unpacked than of a session; nor is a stream that wants a huge
// window.
func TestBomb(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	e, _ := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	zero := make([]byte, 1<<20)
	const total = 512 << 20
	for range total >> 20 {
		e.Write(zero)
	}
	e.Close()
	s := open(t, write(t, filepath.Join(dir, "bomb.jsonl.zst"), b.Bytes()))
	r, err := s.Reader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, err := io.Copy(io.Discard, r)
	runtime.ReadMemStats(&after)
	if most := max(minExpanded, maxRatio*int64(b.Len())); !errors.Is(err, ErrWindow) || n > most {
		t.Fatalf("%d bytes of %d, at most %d: %v", n, total, most, err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
		t.Errorf("%d MiB allocated for a %d KiB file", got>>20, b.Len()>>10)
	}

	// A frame header that asks for a window of 2 GiB: exponent 21 of RFC 8878, 3.1.1.1.2.
	head := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0x00, 0x00}
	s = open(t, write(t, filepath.Join(dir, "window.jsonl.zst"), head))
	if _, err := readAll(t, s); !errors.Is(err, ErrWindow) {
		t.Errorf("got %v, want ErrWindow", err)
	}
}

// TestHeld: of a small file all readers see what it held at Open, and only Changed tells that it is another one.
func TestHeld(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "a.jsonl"), []byte("one\n"))
	s := open(t, path)
	write(t, path, []byte("two, and more\n"))
	if got, err := readAll(t, s); err != nil || string(got) != "one\n" {
		t.Errorf("%q, %v", got, err)
	}
	os.Remove(path)
	if got, err := s.Extract(ctx, []Ref{{1, 2}}); err != nil || string(got[0]) != "ne" {
		t.Errorf("%q, %v", got, err)
	}
	if err := s.Changed(); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
}

func TestGrowsShrinksReplaced(t *testing.T) {
	large := strings.Repeat("one\n", fewBytes/4+1)
	path := write(t, filepath.Join(t.TempDir(), "a.jsonl"), []byte(large))
	s := open(t, path)
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	f.WriteString("three\n")
	f.Close()
	if got, err := readAll(t, s); err != nil || string(got) != large {
		t.Errorf("grown: %d bytes, %v", len(got), err)
	}
	r, _ := s.Reader(ctx)
	if n, err := r.(io.ReaderAt).ReadAt(make([]byte, 100), int64(len(large)-4)); n != 4 || err != io.EOF {
		t.Errorf("ReadAt past the end: %d, %v", n, err)
	}
	if err := s.Changed(); !errors.Is(err, ErrChanged) {
		t.Errorf("grown: %v", err)
	}
	os.Truncate(path, 3)
	if got, err := io.ReadAll(r); !errors.Is(err, ErrChanged) || string(got) != "one" {
		t.Errorf("shrunk while open: %q, %v", got, err)
	}
	r.Close()
	if _, err := s.Reader(ctx); !errors.Is(err, ErrChanged) {
		t.Errorf("shrunk: %v", err)
	}

	s = open(t, write(t, path, []byte(large)))
	os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour))
	if err := s.Changed(); !errors.Is(err, ErrChanged) {
		t.Errorf("touched: %v", err)
	}
	s = open(t, path)
	if _, ok := StampOf(s.Info); ok {
		time.Sleep(20 * time.Millisecond) // a change time is only so fine
		write(t, path, []byte(strings.Repeat("two\n", fewBytes/4+1)))
		os.Chtimes(path, time.Time{}, s.Info.ModTime())
		if err := s.Changed(); !errors.Is(err, ErrChanged) {
			t.Errorf("written, and its time set back: %v", err)
		}
	}
	os.Rename(write(t, path+"2", []byte(large)), path)
	os.Chtimes(path, time.Time{}, s.Info.ModTime())
	if err := s.Changed(); !errors.Is(err, ErrChanged) {
		t.Errorf("replaced: %v", err)
	}
	if _, err := s.Reader(ctx); !errors.Is(err, ErrChanged) {
		t.Errorf("replaced: %v", err)
	}
	os.Remove(path)
	if err := s.Changed(); !errors.Is(err, ErrChanged) {
		t.Errorf("removed: %v", err)
	}
}

func TestExtract(t *testing.T) {
	dir := t.TempDir()
	data := lines(1 << 20)
	end := int64(len(data))
	refs := []Ref{{end - 10, 10}, {0, 5}, {300000, 400000}, {299999, 10}, {0, 0}, {end, 0}, {0, 5}}
	for _, name := range []string{"a.jsonl", "b.jsonl.zst"} {
		stored := data
		if strings.HasSuffix(name, ".zst") {
			stored = compress(t, data)
		}
		s := open(t, write(t, filepath.Join(dir, name), stored))
		got, err := s.Extract(ctx, refs)
		if err != nil {
			t.Fatal(name, err)
		}
		for i, r := range refs {
			if !bytes.Equal(got[i], data[r.Offset:r.Offset+r.Length]) {
				t.Errorf("%s: ref %d is wrong", name, i)
			}
		}
		for _, bad := range []Ref{{-1, 5}, {0, -1}, {end - 1, 2}, {end + 1, 1}, {1 << 62, 1 << 62}} {
			if _, err := s.Extract(ctx, []Ref{bad}); !errors.Is(err, ErrRange) {
				t.Errorf("%s %v: got %v, want ErrRange", name, bad, err)
			}
		}
		if got, err := s.Extract(ctx, nil); got != nil || err != nil {
			t.Errorf("no refs: %v, %v", got, err)
		}
	}
}

func TestStreams(t *testing.T) {
	data := lines(1 << 20)
	for name, stored := range map[string][]byte{"plain": data, "zst": compress(t, data), "short": []byte("{}")} {
		want := data
		if name == "short" {
			want = stored
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, err := Stdin(iotest.HalfReader(bytes.NewReader(stored)), dir)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if got, err := readAll(t, s); err != nil || !bytes.Equal(got, want) {
					t.Errorf("spooled: %d bytes, %v", len(got), err)
				}
			}
			if got, err := s.Extract(ctx, []Ref{{1, 1}}); err != nil || got[0][0] != want[1] {
				t.Errorf("extract: %q, %v", got, err)
			}
			if s.Compressed != (name == "zst") || s.Changed() != nil {
				t.Error("compressed or changed")
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
			if _, err := s.Reader(ctx); err == nil {
				t.Error("read after close")
			}

			once := Once(iotest.OneByteReader(bytes.NewReader(stored)))
			if got, err := readAll(t, once); err != nil || !bytes.Equal(got, want) {
				t.Errorf("once: %d bytes, %v", len(got), err)
			}
			if _, err := once.Reader(ctx); !errors.Is(err, ErrOnce) {
				t.Errorf("second read: %v", err)
			}
			if _, err := once.Extract(ctx, []Ref{{0, 1}}); !errors.Is(err, ErrOnce) {
				t.Errorf("extract: %v", err)
			}
			if once.Close() != nil || once.Changed() != nil || once.Size() != -1 {
				t.Error("once: close, changed or size")
			}
		})
	}
	if _, err := Stdin(iotest.ErrReader(errors.New("broken pipe")), t.TempDir()); err == nil {
		t.Error("a broken stream was spooled")
	}
	if _, err := Stdin(strings.NewReader("x"), filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no spool directory: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	data := lines(4 << 20)
	for _, s := range []*Source{
		open(t, write(t, filepath.Join(dir, "a.jsonl"), data)),
		open(t, write(t, filepath.Join(dir, "a.jsonl.zst"), compress(t, data))),
		Once(bytes.NewReader(data)),
	} {
		c, cancel := context.WithCancel(ctx)
		r, err := s.Reader(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(r, make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := io.Copy(io.Discard, r); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", s.Name, err)
		}
		r.Close()
	}
}

// TestBadChecksum: of a frame that does not unpack to what it was made of, everything is read, and what follows it, but not as sound; what is no
// frame is told from a frame that breaks off.
func TestBadChecksum(t *testing.T) {
	text := lines(100 << 10)
	first, second := compress(t, text[:60<<10]), compress(t, text[60<<10:])
	wrong := slices.Clone(first)
	wrong[len(wrong)-1] ^= 1
	for _, c := range []struct {
		name   string
		stored []byte
		read   int
		want   error
	}{
		{"the only frame", wrong, 60 << 10, ErrChecksum},
		{"the first of two", slices.Concat(wrong, second), len(text), ErrChecksum},
		{"before a cut", slices.Concat(wrong, second[:len(second)-9]), 60 << 10, ErrPartWrong},
		{"before plain text", slices.Concat(wrong, []byte("{}\n")), 60 << 10, ErrPartWrong},
		{"zeros behind", slices.Concat(first, second, make([]byte, 4096)), len(text), ErrBehind},
		{"zeros alone", make([]byte, 4096), 0, ErrCorrupt},
		{"a damaged beginning", slices.Concat(first, []byte{second[0] ^ 4}, second[1:]), 60 << 10, ErrCorrupt},
	} {
		path := filepath.Join(t.TempDir(), "s.jsonl.zst")
		if err := os.WriteFile(path, c.stored, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(t, s)
		told := 0
		for _, cause := range []error{ErrChecksum, ErrPartWrong, ErrBehind} {
			if errors.Is(err, cause) {
				told++
			}
		}
		if len(got) < c.read || !bytes.HasPrefix(text, got[:c.read]) || !errors.Is(err, c.want) || !errors.Is(err, ErrCorrupt) || told > 1 || told > 0 && c.want == ErrCorrupt {
			t.Errorf("%s: %d bytes: %v", c.name, len(got), err)
		}
		s.Close()
	}
}
