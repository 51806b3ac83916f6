// Package all is the one list of the agents that hist knows, and of those on whose sessions it operates.
package all

import (
	"bytes"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/claude"
	codex "github.com/hist-cli/hist/internal/agent/codex/rules"
	"github.com/hist-cli/hist/internal/agent/pi"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Agents are all agents, the one first that a file without anything in it is taken for.
var Agents = []*agent.Agent{codex.Agent, claude.Agent, pi.Agent}

// Names are the agents' names.
func Names() []string {
	var names []string
	for _, a := range Agents {
		names = append(names, a.Name)
	}
	return names
}

// Homed are the agents that have homes.
func Homed() []*agent.Agent {
	var list []*agent.Agent
	for _, a := range Agents {
		if a.Home != nil {
			list = append(list, a)
		}
	}
	return list
}

// InUse says who uses a session, asking the agent whose it is.
func InUse(path, home, thread string) (*disk.Busy, error) {
	o, known := owner(path, home)
	if !known { // the id may be no such agent's
		thread = ""
	}
	return o.InUse(path, home, thread)
}

// Lock takes the lock of a session's thread until release is called; the error is disk.ErrBusy if somebody else has it.
// Where there is no home, no thread, or no lock, there is nothing to take.
func Lock(path, home, thread string) (release func(), err error) {
	if o, _ := owner(path, home); home != "" && thread != "" && o.Lock != nil {
		return o.Lock(home, thread)
	}
	return func() {}, nil
}

// AtHome is the agent in whose home, at a directory, an absolute path lies; nil if in none's.
func AtHome(path, home string) *agent.Agent {
	for _, h := range Homed() {
		if home != "" && h.HomeAbove(path) == home {
			return h
		}
	}
	return nil
}

// owner is the agent whose home a session lies in, or else whose file name it has; known is false if that is none's. Folders of one name are in
// homes of several agents: where the file's name is not of the agent's form, what it holds tells.
func owner(path, home string) (a *agent.Agent, known bool) {
	base := filepath.Base(path)
	wrote := sync.OnceValue(func() *agent.Agent { return writer(path) })
	for _, h := range Homed() {
		if h.Claims(base, nil) {
			return h, true
		}
		abs, err := filepath.Abs(path)
		if err == nil && home != "" && h.HomeAbove(abs) == home && (h.ReadName(base).Canonical || wrote() == nil || wrote() == h) {
			return h, true
		}
	}
	if w := wrote(); w == pi.Agent { // its sessions have many homes, and nothing in those tells who uses one
		return w, true
	}
	return Homed()[0], false
}

// writer is the agent whose records a file begins with, nil if that is none.
func writer(path string) *agent.Agent {
	head := disk.Head(path, beginSize)
	if k := slices.IndexFunc(Agents, func(a *agent.Agent) bool { return head != nil && a.Claims(filepath.Base(path), head) }); k >= 0 {
		return Agents[k]
	}
	return nil
}

// Asking says whether the agent that works in a thread has run this process.
func Asking(thread string) bool {
	return slices.ContainsFunc(Homed(), func(h *agent.Agent) bool { return h.Asking != nil && h.Asking(thread) })
}

// Subcommand says whether an argument of an agent's client is a subcommand that keeps a thread open, and so no part of a
// prompt.
func Subcommand(arg string) bool {
	return slices.ContainsFunc(Agents, func(a *agent.Agent) bool {
		return a.Subcommand != nil && a.Subcommand(arg)
	})
}

// LiveSessions is the directory of a home that sessions are resumed from, "" if it is not there.
func LiveSessions(home string) string {
	for _, h := range Homed() {
		if dir := h.Live(home); dir != "" {
			return dir
		}
	}
	return ""
}

// List says whether a file is a list that a client keeps beside its sessions, and holds none.
func List(path string) bool {
	path = filepath.Clean(path)
	home := filepath.Dir(path)
	return slices.ContainsFunc(Homed(), func(h *agent.Agent) bool {
		return slices.Contains(h.Lists(home), path) && len(h.Sessions(home)) > 0
	})
}

// Lists are the paths at which List is to be asked, if a directory is a home.
func Lists(dir string) (paths []string) {
	for _, h := range Homed() {
		paths = append(paths, h.Lists(dir)...)
	}
	return paths
}

// Part says whether a file holds a part of a session that lies elsewhere.
func Part(path string) bool {
	return slices.ContainsFunc(Agents, func(a *agent.Agent) bool {
		return a.Part != nil && a.Part(path)
	})
}

// Outlines are those of the agents that have one.
func Outlines() []*agent.Outline {
	var list []*agent.Outline
	for _, a := range Agents {
		if a.Outline != nil {
			list = append(list, a.Outline)
		}
	}
	return list
}

// IsRecord says whether a line is a record of some agent's.
func IsRecord(line []byte) bool {
	return slices.ContainsFunc(Agents, func(a *agent.Agent) bool {
		d := a.Decoder
		rec := session.Record{Raw: line, Spans: make([]jsonl.Span, d.Paths())}
		return d.Shape().ScanOne(line, rec.Spans).Object && d.Envelope(&rec)
	})
}

// Archived says whether a session's file, by its real path, lies in an agent's archive.
func Archived(path string) bool {
	return slices.ContainsFunc(Agents, func(a *agent.Agent) bool {
		return a.Home != nil && a.Archive != nil && a.Archive.Archived("", filepath.Dir(path))
	})
}

// Named is the agent of that name, nil if there is none.
func Named(name string) *agent.Agent {
	for _, a := range Agents {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// ByName is the agent that the name of a session's file alone tells, nil if it tells none.
func ByName(base string) *agent.Agent {
	for _, a := range Agents {
		if a.Claims(base, nil) {
			return a
		}
	}
	return nil
}

// beginSize is how much of a session's beginning, in bytes, nearly always tells whose it is. To look in all of its first bytes for each
// agent takes a tenth of the lint of a short session.
const beginSize = 4 << 10

// Of is the agent that wrote a session, by its file's path, of which the base name may be all that is known, and its first
// bytes in UTF-8. The error is an *agent.Unclaimed.
func Of(path string, head []byte) (*agent.Agent, error) {
	base := filepath.Base(path)
	if a := ByName(base); a != nil {
		return a, nil
	}
	for _, begin := range [][]byte{head[:min(len(head), beginSize)], head} {
		for _, a := range Agents {
			if a.Claims(base, begin) && a.Claims(base, head) {
				return a, nil
			}
		}
	}
	if len(bytes.Trim(head, "\ufeff\x00 \t\r\n")) == 0 {
		for _, a := range Agents { // nothing but its name can tell
			if a.ReadName(base).ThreadID != "" {
				return a, nil
			}
		}
		return Agents[0], nil
	}
	looks := agent.LooksLike(head)
	if a := placed(path); a != nil && looks == "" {
		return a, nil // the head was overwritten, or more than that
	}
	return nil, &agent.Unclaimed{Looks: looks}
}

// placed is the agent in whose home a file lies under the name of a session or of a part of one, nil if in none's: its client takes it for one.
func placed(path string) *agent.Agent {
	for _, h := range Homed() {
		if (h.ReadName(filepath.Base(path)).Canonical || h.Part != nil && h.Part(path)) && h.HomeAbove(path) != "" {
			return h
		}
	}
	return nil
}
