//go:build unix

package socket

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/hist-cli/hist/internal/shim/relay"
)

// socket is a relay that listens at path, while the client listens at inner.
type socket struct {
	path, inner string
	watch       *relay.Watch

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// Pauses of the relay at a socket.
const (
	bindPause = 2 * time.Millisecond   // between two checks whether the client's socket exists yet
	deadPause = 250 * time.Millisecond // between two checks whether anyone still listens, after the started process has ended
	dialPause = 5 * time.Millisecond   // between two attempts to connect
	maxDials  = 200                    // attempts to connect: a client creates its socket before it listens
)

// runSocket relays until the client has ended.
func runSocket(path, inner string, client int) {
	s := &socket{path: path, inner: inner, watch: relay.NewWatch(), conns: map[net.Conn]bool{}}
	ended := make(chan struct{})
	go func() { awaitEnd(client); close(ended) }()
	for !isSocket(inner) {
		select {
		case <-ended:
			return // it never listened
		case <-time.After(bindPause):
		}
	}
	listener, err := s.listen()
	if err != nil {
		// The messages are not read then, but whoever connects reaches the client.
		os.Symlink(inner, path) //nolint:errcheck // if the path is taken, the client could not have listened there either
		s.watch.Unwatched(path, err.Error())
		<-ended
		s.awaitSilence()
		removeLink(path, inner)
		return
	}
	mine, err := os.Lstat(path)
	if err != nil {
		mine = nil
	}
	go s.accept(listener)
	<-ended
	s.awaitSilence()
	s.end(listener, mine)
	s.watch.Finish()
}

// listen listens at s.path. A dead socket there is replaced, as the client would do.
func (s *socket) listen() (*net.UnixListener, error) {
	old := syscall.Umask(0o177)
	defer syscall.Umask(old)
	address := &net.UnixAddr{Name: s.path, Net: "unix"}
	l, err := net.ListenUnix("unix", address)
	if errors.Is(err, syscall.EADDRINUSE) && dead(s.path) {
		if err := os.Remove(s.path); err != nil {
			return nil, err
		}
		l, err = net.ListenUnix("unix", address)
	}
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	return l, nil
}

// isSocket says whether path is a socket or a link to one.
func isSocket(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&fs.ModeSocket != 0
}

// dead says whether path is left over from a server that has ended: a socket where nobody listens, or a link to one.
func dead(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&(fs.ModeSocket|fs.ModeSymlink) == 0 {
		return false
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
		return false
	}
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)
}

// awaitSilence returns when nobody listens at the client's socket any more: the process that was started may have been a
// launcher, and the client may still run after its end.
func (s *socket) awaitSilence() {
	for {
		c, err := net.Dial("unix", s.inner)
		if err != nil {
			return
		}
		c.Close()
		time.Sleep(deadPause)
	}
}

// end leaves s.path as the client has left its own socket: removed, or dead if the client was killed.
func (s *socket) end(l *net.UnixListener, mine fs.FileInfo) {
	l.Close()
	_, err := os.Lstat(s.inner)
	killed := err == nil
	if killed {
		os.Remove(s.inner) //nolint:errcheck // what is left is dead
	}
	if there, err := os.Lstat(s.path); err == nil && !killed && mine != nil && os.SameFile(there, mine) {
		os.Remove(s.path) //nolint:errcheck // the same
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
}

// removeLink removes the link that runSocket creates if it cannot listen.
func removeLink(path, inner string) {
	if to, err := os.Readlink(path); err == nil && to == inner {
		os.Remove(path) //nolint:errcheck // nobody needs it
	}
}

func (s *socket) accept(l *net.UnixListener) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(dialPause) // usually this process is out of file descriptors
			continue
		}
		go s.serve(c)
	}
}

// serve relays one connection until both sides have ended, or one has gone.
func (s *socket) serve(caller *net.UnixConn) {
	defer caller.Close()
	client, err := s.dial()
	if err != nil {
		return // closing the connection is what the caller would see if the client had ended
	}
	defer client.Close()
	s.mu.Lock()
	s.conns[caller] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.conns, caller)
		s.mu.Unlock()
	}()
	up, down := s.watch.Connect()
	var both sync.WaitGroup
	both.Go(func() {
		newFrames(caller, client, true, up).run() //nolint:errcheck // one has gone, whichever
		client.CloseWrite()                       //nolint:errcheck // it may have gone
		caller.CloseRead()                        //nolint:errcheck // the same
	})
	both.Go(func() {
		newFrames(client, caller, false, down).run() //nolint:errcheck // one has gone, whichever
		caller.CloseWrite()                          //nolint:errcheck // it may have gone
		client.CloseRead()                           //nolint:errcheck // the same
	})
	both.Wait()
}

// dial connects to the client, which may have just created its socket and not listen yet.
func (s *socket) dial() (*net.UnixConn, error) {
	for try := 1; ; try++ {
		c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: s.inner, Net: "unix"})
		if err == nil || try == maxDials || !errors.Is(err, syscall.ECONNREFUSED) {
			return c, err
		}
		time.Sleep(dialPause)
	}
}
