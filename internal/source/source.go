package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hist-cli/hist/internal/walk"
)

// What callers must tell apart; test with errors.Is.
var (
	// ErrNotRegular says that the path is a directory, FIFO, socket or device.
	ErrNotRegular = errors.New("not a regular file")
	// ErrLoop says that the path's symbolic links never reach a file.
	ErrLoop = errors.New("symbolic links go in a circle")
	// ErrOnce says that a stream that can be read only once was to be read again.
	ErrOnce = errors.New("the stream can be read only once")
	// ErrChanged says that since it was opened the file was replaced, or its size, its modification time or its change time is another.
	ErrChanged = errors.New("the file changed while it was being read")
	// ErrLeased says that another process is about to replace the file, and is taking long.
	ErrLeased = errors.New("another process is about to replace the file; try again")
	// ErrCorrupt says that the compressed stream is cut off or damaged; what was delivered before is good, except with ErrChecksum and ErrPartWrong.
	ErrCorrupt = errors.New("the zstd stream is damaged")
	// ErrChecksum says that a zstd stream was unpacked to its end, but to something else than it was made of.
	ErrChecksum = errors.New("what it unpacks to does not have its checksum")
	// ErrPartWrong is ErrChecksum of a part of a stream that is damaged in another way, too.
	ErrPartWrong = errors.New("some of what it unpacks to does not have its checksum")
	// ErrBehind says that zeros stand behind the last frame of a zstd stream.
	ErrBehind = errors.New("zeros stand behind it")
	// ErrMisnamed says that a file is compressed whose name says that it is not, or the other way round.
	ErrMisnamed = errors.New("its name says whether it is compressed, and that is not so")
	// ErrUncompressed says that records stand behind the last frame of a zstd stream as they are.
	ErrUncompressed = errors.New("what stands behind it is not compressed")
	// ErrWindow says that the compressed stream needs more memory than a decoder may use here, or has more text than a session.
	ErrWindow = errors.New("the zstd stream was not unpacked to its end")
	// ErrRange says that a Ref is outside the bytes of the source.
	ErrRange = errors.New("outside of the file")
)

// Source is one session file, or a stream, that can be read from the start as often as needed. Its methods may be
// called from several goroutines at once, Close excepted.
type Source struct {
	Path string      // as the user named it; "-" for standard input
	Real string      // absolute, symbolic links resolved; "" for a stream
	Name string      // base name of Real, .zst kept; "stdin" for a stream
	Info fs.FileInfo // from Open; for Stdin that of the spool file; nil for Once

	// Compressed says that Reader decodes zstd: the name ends in .zst or the content begins like zstd.
	// It is known for a Once source after its Reader call.
	Compressed bool
	// Magic says that the content really begins like zstd. A name and a content that disagree are worth a finding.
	Magic bool

	size  int64
	read  atomic.Int64
	held  []byte   // what the file held at Open, if that is little
	spool *os.File // the temporary file of Stdin and Spool
	purge bool     // the spool file still has a name

	mu     sync.Mutex
	stream io.Reader // Once: nil after it was handed out
	once   bool
	unseen bool // OpenLazily: the file has not been opened yet
}

// fewBytes is up to how many bytes of a file are held: to copy so many costs no more than to open the file once more.
const fewBytes = 128 << 10

// Open examines the file at path and returns it as a source. It never blocks on a FIFO or device: those, and
// directories and sockets, give ErrNotRegular. If the file grows later, it is read only up to its present size; of a small one all
// readers see what it held at Open, whatever becomes of it: Changed tells.
func Open(path string) (*Source, error) {
	info, err := os.Lstat(path)
	link := err == nil && info.Mode()&fs.ModeSymlink != 0
	if link {
		info, err = os.Stat(path)
	}
	if err != nil {
		return nil, explain(path, err)
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	real, err := realPath(path, link)
	if err != nil {
		return nil, explain(path, err)
	}
	s := &Source{Path: path, Real: real, Name: filepath.Base(real)}
	f, err := openFile(real)
	if err != nil {
		return nil, explain(path, err)
	}
	defer f.Close()
	// The stat of the descriptor counts, because another file may have taken the name meanwhile.
	if s.Info, err = f.Stat(); err != nil {
		return nil, explain(path, err)
	}
	if err := regular(path, s.Info); err != nil {
		return nil, err
	}
	s.size = s.Info.Size()
	var head io.Reader = io.NewSectionReader(f, 0, s.size)
	if s.size <= fewBytes {
		if s.held, err = ReadAll(head, s.size); err != nil {
			return nil, explain(path, err)
		}
		head = bytes.NewReader(s.held)
	}
	if err := s.sniff(head); err != nil {
		return nil, explain(path, err)
	}
	return s, nil
}

type inHand struct{}

// With returns a context in which OpenIn takes a source for its file, so that all who look at a session see the same bytes of it, and
// nobody opens it again.
func With(ctx context.Context, s *Source) context.Context {
	if s.Real == "" {
		return ctx
	}
	return context.WithValue(ctx, inHand{}, s)
}

// OpenIn is Open; of the file that With was called for it returns the source that is open.
func OpenIn(ctx context.Context, path string) (*Source, error) {
	if s, ok := ctx.Value(inHand{}).(*Source); ok && s.Real == path {
		return s, nil
	}
	return Open(path)
}

// OpenLazily is Open for a caller that may not need to read the file: it is opened only when it is read. It returns nil for
// anything but a regular file, and for a symbolic link to one. Whether the file is compressed is not known until it is read.
func OpenLazily(path string) *Source {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	real, err := realPath(path, false)
	if err != nil {
		return nil
	}
	return &Source{Path: path, Real: real, Name: filepath.Base(real), Info: info, size: info.Size(), unseen: true}
}

// see opens the file of a OpenLazily source, if that has not been done yet, and finds out what Open would have.
func (s *Source) see() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.unseen {
		return nil
	}
	f, err := s.reopen()
	if err != nil {
		return err
	}
	defer f.Close()
	if err := s.sniff(io.NewSectionReader(f, 0, s.size)); err != nil {
		return explain(s.Path, err)
	}
	s.unseen = false
	return nil
}

// Stdin copies r into a temporary file in spoolDir ("": the system's) so that it can be read more than once. The file
// is readable by the owner only and gone after Close, on Unix even after a crash.
func Stdin(r io.Reader, spoolDir string) (*Source, error) {
	return spool(r, spoolDir, "stdin", "standard input")
}

// Spool is Stdin for a stream that the program itself produces.
func Spool(r io.Reader, spoolDir string) (*Source, error) {
	return spool(r, spoolDir, "spool", "a passing copy")
}

func spool(r io.Reader, dir, name, what string) (*Source, error) {
	f, err := os.CreateTemp(dir, ".hist-"+name+"-*.tmp") // mode 0600
	if err != nil {
		return nil, fmt.Errorf("creating a temporary file for %s: %w", what, err)
	}
	s := &Source{Path: "-", Name: name, spool: f, purge: os.Remove(f.Name()) != nil}
	if s.size, err = io.Copy(f, r); err != nil {
		s.Close()
		return nil, fmt.Errorf("copying %s to a temporary file in %s (%s): %w", what, filepath.Dir(f.Name()), spaceHint(dir), err)
	}
	if s.Info, err = f.Stat(); err == nil {
		err = s.sniff(io.NewSectionReader(f, 0, s.size))
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("reading %s back: %w", what, err)
	}
	return s, nil
}

// spaceHint says what to do if the disk of a temporary file is full; dir is as in Stdin.
func spaceHint(dir string) string {
	if dir == "" {
		return "point TMPDIR to a larger disk if it is full"
	}
	return "free some space there if it is full"
}

// Once wraps a stream that is read as it comes and only once: a second call of Reader, and Extract, give ErrOnce.
func Once(r io.Reader) *Source {
	return &Source{Path: "-", Name: "stdin", size: -1, stream: r, once: true}
}

// Size returns the size of the stored file when it was opened, in bytes; -1 for a Once source.
func (s *Source) Size() int64 { return s.size }

// BytesRead returns how many stored bytes all readers of the source have read so far.
func (s *Source) BytesRead() int64 { return s.read.Load() }

// Close removes the temporary file of a Stdin or Spool source. Other sources have nothing to close.
func (s *Source) Close() error {
	if s.spool == nil {
		return nil
	}
	err := s.spool.Close()
	if s.purge {
		err = errors.Join(err, os.Remove(s.spool.Name()))
	}
	s.spool = nil
	return err
}

// Changed returns ErrChanged if the size, a time or the identity of the file behind the name is not what it was at Open. The change
// time, where the system tells it, shows what was written even if the modification time was set back. Streams do not change.
func (s *Source) Changed() error {
	if s.Real == "" {
		return nil
	}
	now, err := os.Stat(s.Real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w: it is gone", s.Path, ErrChanged)
	case err != nil:
		return explain(s.Path, err)
	case !os.SameFile(now, s.Info):
		return fmt.Errorf("%s: %w: another file has taken its name", s.Path, ErrChanged)
	case now.Size() != s.size:
		return fmt.Errorf("%s: %w: %d bytes then, %d now", s.Path, ErrChanged, s.size, now.Size())
	case !now.ModTime().Equal(s.Info.ModTime()):
		return fmt.Errorf("%s: %w: modified %s then, %s now", s.Path, ErrChanged,
			s.Info.ModTime().UTC().Format(timeForm), now.ModTime().UTC().Format(timeForm))
	}
	before, _ := StampOf(s.Info)
	if after, ok := StampOf(now); ok && after.ChangeTime != before.ChangeTime {
		return fmt.Errorf("%s: %w: it was written, or its mode, owner or names were changed, at %s", s.Path, ErrChanged,
			time.Unix(0, after.ChangeTime).UTC().Format(timeForm))
	}
	return nil
}

const timeForm = "2006-01-02T15:04:05.000000000Z"

// sniff sets Magic and Compressed from the name and the first bytes.
func (s *Source) sniff(r io.Reader) error {
	var head [4]byte
	n, err := io.ReadFull(r, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	s.Magic = isZstd(head[:n])
	s.Compressed = s.Magic || strings.HasSuffix(s.Name, ".zst")
	return nil
}

// isZstd recognises the magic numbers of a zstd frame and of the skippable frames that may precede it (RFC 8878, 3.1).
func isZstd(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	frame := bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd})
	skippable := head[0]&0xf0 == 0x50 && bytes.Equal(head[1:], []byte{0x2a, 0x4d, 0x18})
	return frame || skippable
}

// reopen opens the file again and makes sure that it is still the one that Open saw.
func (s *Source) reopen() (*os.File, error) {
	f, err := openFile(s.Real)
	if err != nil {
		return nil, explain(s.Path, err)
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(now, s.Info) {
		err = fmt.Errorf("%w: another file has taken its name", ErrChanged)
	}
	if err == nil && now.Size() < s.size {
		err = fmt.Errorf("%w: it shrank from %d to %d bytes", ErrChanged, s.size, now.Size())
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	return f, nil
}

// realPath returns the absolute path of a file with symbolic links resolved. link says that the file itself is one.
func realPath(path string, link bool) (string, error) {
	dir, base := filepath.Split(path)
	if link || runtime.GOOS == "windows" || !filepath.IsAbs(dir) { // on Windows a name can be spelled in several ways
		return real(path)
	}
	dir, err := directories.real(dir)
	if err != nil {
		return "", err
	}
	if !os.IsPathSeparator(dir[len(dir)-1]) {
		dir += string(filepath.Separator)
	}
	return dir + base, nil
}

// realDirs caches the real paths of directories for a moment, because thousands of files are usually opened in few
// directories.
type realDirs struct {
	mu    sync.Mutex
	known map[string]string
	until time.Time
}

// trusted is how long an entry of the cache is used.
const trusted = time.Second

var directories realDirs

func (d *realDirs) real(dir string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := time.Now(); now.After(d.until) {
		d.known, d.until = map[string]string{}, now.Add(trusted)
	}
	return d.of(dir)
}

// of is real for who holds mu. A directory that is no link lies where the one above it does.
func (d *realDirs) of(dir string) (string, error) {
	if known, ok := d.known[dir]; ok {
		return known, nil
	}
	found, err := "", errLink
	if clean := filepath.Clean(dir); clean == strings.TrimSuffix(dir, "/") {
		found, err = d.below(clean)
	}
	if err != nil {
		found, err = real(dir)
	}
	if err == nil {
		d.known[dir] = found
	}
	return found, err
}

// errLink: a directory is a symbolic link, or has none above it.
var errLink = errors.New("a link, or the root")

// below is real for a directory that is no link.
func (d *realDirs) below(dir string) (string, error) {
	above, base := filepath.Dir(dir), filepath.Base(dir)
	if above == dir {
		return "", errLink
	}
	parent, err := d.of(above)
	if err != nil {
		return "", err
	}
	path := filepath.Join(parent, base)
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return "", errLink
	}
	return path, nil
}

func real(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

func regular(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	hint := ""
	if info.Mode()&(fs.ModeNamedPipe|fs.ModeDevice) != 0 {
		hint = "; hist lint, repair and show can read it from standard input (-)"
	}
	return fmt.Errorf("%s: %w: it is %s%s", path, ErrNotRegular, kind(info.Mode()), hint)
}

// kind says in words what a file is that is not a regular one.
func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// explain adds the path to an error, once, and turns the system's errors about symbolic links into ErrLoop.
func explain(path string, err error) error {
	if errors.Is(err, ErrLeased) {
		return fmt.Errorf("%s: %w", path, ErrLeased)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	// filepath.EvalSymlinks counts links itself, and has no error value for too many.
	if errors.Is(err, syscall.ELOOP) || strings.Contains(err.Error(), "too many links") {
		return fmt.Errorf("%s: %w", path, ErrLoop)
	}
	return fmt.Errorf("reading %s: %w", path, walk.Denied(path, err))
}

// checkContext returns the context's error, if it is done, as the error of reading path.
func checkContext(ctx context.Context, path string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}
