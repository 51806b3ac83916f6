package cmd

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"time"

	"github.com/hist-cli/hist/internal/decisions"
	"github.com/hist-cli/hist/internal/preresume"
)

// begin begins the log entry of a decision.
func (p *preRun) begin() {
	var id [6]byte
	rand.Read(id[:]) // never fails
	p.began = time.Now()
	p.log = decisions.Decision{
		ID: hex.EncodeToString(id[:]), Time: p.began.UTC().Truncate(time.Second), Asked: p.asked, Via: p.c.String("via"), Caller: p.c.String("caller"),
	}
	p.log.CWD = p.cwd
	if p.log.CWD == "" {
		p.log.CWD, _ = os.Getwd() // if it is not known, the entry has none
	}
}

// note copies the answer into the log entry.
func (p *preRun) note(a *preresume.Answer) {
	p.log.Verdict, p.log.Thread, p.log.Path = string(a.Verdict), a.Thread, a.Path
	p.log.Why, p.log.Millis = a.Reason, time.Since(p.began).Milliseconds()
	if a.Turn != nil {
		p.log.State = a.Turn.State
	}
	if a.Thread != "" {
		p.log.Available = &a.Thread
	}
	switch {
	case p.log.Via == viaStart:
		p.log.Used, p.log.Available = decisions.New, nil
		if p.lost != nil {
			p.log.Available, p.log.Why = &p.lost.Thread, "a new thread was begun, though the last turn of this one went wrong ("+p.lost.State+")"
		}
	case p.log.Via != "":
		p.log.Used = a.Thread
	}
}

// viaStart is the method that begins a new thread. The question is then which thread could have been resumed instead.
const viaStart = "thread/start"

// keep writes the log entry. If that fails, it is only reported: the answer matters more.
func (p *preRun) keep() {
	if err := decisions.Append(p.log); err != nil {
		p.env.complain(err.Error())
	}
}
