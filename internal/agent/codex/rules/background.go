package rules

import (
	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

// background follows commands that go on after their call was answered. A later call waits for the end of such a command, but
// the event of its end has the id of the call that began it.
type background struct {
	waiting map[string]*openCall // the calls that wait and have no output yet, by the client's number of the command
	ended   map[string]*evidence // the ends of commands for which no call has waited yet
}

// maxBackground is how many waiting calls, and how many ends, are remembered.
const maxBackground = 64

// begin takes a call, and notes it if it waits for such a command.
func (b *background) begin(rec *session.Record, open *openCall) {
	if open.process = codex.AwaitedProcess(rec); open.process == "" {
		return
	}
	open.evidence = b.ended[open.process]
	if b.waiting == nil {
		b.waiting = map[string]*openCall{}
	}
	if len(b.waiting) < maxBackground {
		b.waiting[open.process] = open
	}
}

// answered takes a call that has its output now; it may have been waiting.
func (b *background) answered(open *openCall) {
	if open.process != "" {
		delete(b.waiting, open.process)
		delete(b.ended, open.process)
	}
}

// end takes the event that a command has ended, if its call had been answered before.
func (b *background) end(rec *session.Record, ev *evidence) {
	process := codex.EndedProcess(rec)
	if process == "" || ev.tells&codex.TellsOutput == 0 {
		return
	}
	end := &evidence{witness: ev.witness, tells: codex.TellsOutput}
	if open := b.waiting[process]; open != nil {
		open.evidence = end
		return
	}
	if b.ended == nil {
		b.ended = map[string]*evidence{}
	}
	if len(b.ended) < maxBackground {
		b.ended[process] = end
	}
}
