//go:build unix

package front

import (
	"errors"
	"os"
	"syscall"
)

// The descriptors that a relay for stdio is started with, in addition to the caller's own streams.
const (
	RelayIn  = 3 // the relay writes here what the client reads from its standard input
	RelayOut = 4 // the relay reads here what the client writes to its standard output
)

// relayStdio starts a relay between the caller's streams and two new pipes, which become the standard streams of this
// process and so of the client.
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
	enlargePipe(outRead)
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

// maxSocketName is the longest path of a socket that all systems accept, in bytes.
const maxSocketName = 103

// relaySocket starts a relay that will listen at path, and returns where the client has to listen instead.
func relaySocket(path string) (string, error) {
	inner := path + ".c"
	if len(inner) > maxSocketName {
		return "", errors.New("the socket's name is too long")
	}
	if someoneListens(path) {
		return "", errors.New("another server listens there") // the client says so itself
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer null.Close()
	return inner, startRelay([]*os.File{null, null, null}, "unix", path, inner)
}

// startRelay runs a relay in a process session of its own, so that a signal to the caller's process group does not end it
// before the client. It is a child of this process, which is to become the client, and ends when that does. Its standard
// error goes nowhere.
func startRelay(files []*os.File, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	defer closeInheritedOnExec()()
	args = append([]string{RelayName}, append(args, itoa(os.Getpid()))...)
	fds := make([]uintptr, len(files))
	for i, f := range files {
		fds[i] = f.Fd()
	}
	// os.StartProcess would first start another child, to find out how it can wait for one.
	_, _, err = syscall.StartProcess(self, args, &syscall.ProcAttr{Env: os.Environ(), Files: fds, Sys: &syscall.SysProcAttr{Setsid: true}})
	return err
}

// someoneListens says whether a server accepts connections at a socket.
func someoneListens(path string) bool {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return false
	}
	defer syscall.Close(fd) //nolint:errcheck // nothing was written
	return syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}) == nil
}

// note adds a line to the log of decisions. A relay process that does nothing else writes it, so that the client need not
// wait.
func (p *Program) note(asked, why string) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer null.Close()
	startRelay([]*os.File{null, null, null}, "note", p.Name, asked, why) //nolint:errcheck // there is nowhere to report it
}
