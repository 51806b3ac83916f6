//go:build unix

package front

import (
	"errors"
	"os"
	"syscall"

	"github.com/hist-cli/hist/internal/shim/text"
)

// The descriptors that a relay for stdio is started with, behind the caller's own streams.
const (
	RelayIn  = 3 // what is written to it, the client reads from its standard input
	RelayOut = 4 // what the client writes to its standard output
)

// relayStdio starts a relay between the caller's streams and new ones of this process, which the client will have.
func relayStdio() error {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return errors.Join(err, inRead.Close(), inWrite.Close())
	}
	defer func() {
		for _, f := range []*os.File{inRead, inWrite, outRead, outWrite} {
			f.Close()
		}
	}()
	widen(outRead)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	if err := startRelay([]*os.File{os.Stdin, os.Stdout, null, inWrite, outRead}, "stdio"); err != nil {
		return err
	}
	return errors.Join(replace(inRead, 0), replace(outWrite, 1))
}

// maxSocketName is the longest name of a socket that all systems take, in bytes.
const maxSocketName = 103

// relaySocket starts a relay that will listen at path, and returns where the client has to listen instead.
func relaySocket(path string) (string, error) {
	inner := path + ".c"
	if len(inner) > maxSocketName {
		return "", errors.New("the socket's name is too long")
	}
	if answers(path) {
		return "", errors.New("another server listens there") // the client says so itself
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer null.Close()
	return inner, startRelay([]*os.File{null, null, null}, "unix", path, inner)
}

// startRelay runs a relay in a session of its own, so that no signal to the caller's group reaches it before the client.
// It is a child of this process, which is to become the client, and ends with it. Standard error is nobody's.
func startRelay(files []*os.File, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	defer keepFromRelay()()
	args = append([]string{RelayName}, append(args, text.Itoa(os.Getpid()))...)
	fds := make([]uintptr, len(files))
	for i, f := range files {
		fds[i] = f.Fd()
	}
	// os.StartProcess would first start a child of its own, to try out how it can wait for one.
	_, _, err = syscall.StartProcess(self, args, &syscall.ProcAttr{Env: os.Environ(), Files: fds, Sys: &syscall.SysProcAttr{Setsid: true}})
	return err
}

// answers says whether somebody listens at a socket.
func answers(path string) bool {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return false
	}
	defer syscall.Close(fd) //nolint:errcheck // nothing was written
	return syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}) == nil
}

// note has a line written to the log of decisions, by a relay that does nothing else: a process that is to become the
// client has no time for it.
func (p *Program) note(asked, why string) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer null.Close()
	startRelay([]*os.File{null, null, null}, "note", p.Name, asked, why) //nolint:errcheck // nobody is there to be told
}
