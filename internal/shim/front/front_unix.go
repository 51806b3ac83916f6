//go:build unix

package front

import (
	"errors"
	"os"
	"syscall"
)

// extensions are the possible endings of a program's file name.
var extensions = [...]string{""}

func init() {
	if p := Invoked(os.Args); p != nil {
		os.Exit(p.Main(os.Args[1:]))
	}
}

// Exit codes of the shell for a command that can't be run.
const (
	exitCannot   = 126
	exitNoClient = 127
)

// Main becomes the client. It returns only if there is none, with the exit code.
func (p *Program) Main(args []string) int {
	client, tried, found := p.Find()
	if !found {
		say("there is no client behind this shim: neither " + p.ClientVar + " nor PATH leads to one")
		return exitNoClient
	}
	if ModeOf() != Off {
		switch c := p.parse(args); c.Kind {
		case Session:
			sayDoubts()
			p.look(c)
		case Server:
			sayDoubts()
			args = p.serve(c, args)
		}
	}
	rememberTried(append(tried, client)...)
	name := os.Args[0]
	if lastPart(name, '/') != name {
		name = client // a program may look for its parts beside its own path
	}
	err := syscall.Exec(client, append([]string{name}, args...), os.Environ())
	say("running " + client + ": " + err.Error())
	if errors.Is(err, syscall.ENOENT) {
		return exitNoClient
	}
	return exitCannot
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// endSignal asks a process to end.
const endSignal = syscall.SIGTERM

// serve starts a relay between the caller of an app-server and the client, if the server listens in a way that a relay
// supports. It returns the arguments for the client.
func (p *Program) serve(c Command, args []string) []string {
	path, isSocket := cutPrefix(c.Listen, "unix://")
	switch {
	case c.Listen == "" || c.Listen == "stdio://":
		if err := relayStdio(); err != nil {
			p.note("", "no relay: "+err.Error())
		}
	case isSocket && path != "":
		inner, err := relaySocket(path)
		if err != nil {
			p.note(path, "no relay: "+err.Error())
			return args
		}
		args = append([]string{}, args...)
		args[c.At] = trimSuffix(args[c.At], c.Listen) + "unix://" + inner
	case c.Listen != "off":
		p.note(c.Listen, "not watched: only stdio and unix://PATH are")
	}
	return args
}
