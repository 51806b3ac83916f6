package front

import (
	"os"
)

// Find returns the client behind the shim: the one that the program's variable names, else the next of its name in PATH that
// is not a shim. tried are all programs that must not be tried again.
//
// A copy of hist in PATH is a different file, and another version of hist has different content: neither can be told from a
// client by looking at it. So a process remembers which programs it has become. If one of them turns out to be a shim
// again, that shim goes on to the next, and no two shims run each other for ever.
func (p *Program) Find() (client string, tried []string, found bool) {
	tried, own := alreadyTried()
	if self, err := os.Executable(); err == nil {
		tried = append(tried, self)
	}
	client, found = p.Next(tried)
	if !found && !own {
		// The client itself ran its own name, which leads to this shim: it may be run once more.
		tried = tried[max(0, len(tried)-1):]
		client, found = p.Next(tried)
	}
	return client, tried, found
}

// File is the program's file name.
func (p *Program) File() string { return p.Name + extensions[0] }

// Next returns the first program that may be the client and is not one of tried.
func (p *Program) Next(tried []string) (client string, found bool) {
	if path := os.Getenv(p.ClientVar); path != "" && !isOneOf(path, tried) {
		return path, true
	}
	list := os.Getenv("PATH")
	if list == "" { // without PATH there is no entry, not even an empty one: what lies in the working directory is not the client
		return "", false
	}
	for _, dir := range split(list, os.PathListSeparator) {
		if dir != "" { // an empty entry of PATH is the working directory
			dir += string(os.PathSeparator)
		}
		for _, extension := range extensions {
			if path := dir + p.Name + extension; runnable(path) && !isOneOf(path, tried) {
				return path, true
			}
		}
	}
	return "", false
}

// isOneOf says whether a path leads to the same file as any of the others.
func isOneOf(path string, others []string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	for _, o := range others {
		if there, err := os.Stat(o); err == nil && os.SameFile(info, there) {
			return true
		}
	}
	return false
}

// IsShim says whether the program at path is hist, this one or another: it is what this process runs, or a link to a
// program called hist.
func IsShim(path string) bool {
	self, err := os.Executable()
	if err == nil && isOneOf(path, []string{self}) {
		return true
	}
	to, err := os.Readlink(path)
	return err == nil && base(to) == "hist"
}
