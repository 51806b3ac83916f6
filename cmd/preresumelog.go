package cmd

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"time"

	"github.com/hist-cli/hist/internal/decisions"
	"github.com/hist-cli/hist/internal/preresume"
)

// begin starts the line in the log of decisions.
func (p *preRun) begin() {
	var id [6]byte
	rand.Read(id[:]) // never fails
	p.began = time.Now()
	p.log = decisions.Decision{
		ID: hex.EncodeToString(id[:]), Time: p.began.UTC().Truncate(time.Second), Asked: p.asked, Via: p.c.String("via"), Caller: p.c.String("caller"),
	}
	p.log.CWD = p.cwd
	if p.log.CWD == "" {
		p.log.CWD, _ = os.Getwd() // without one, the line has none
	}
}

// note takes the answer over into the log's line.
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

// viaStart is the method by which a new thread is begun: the question is then which one could have been taken up instead.
const viaStart = "thread/start"

// keep writes the log's line. An answer is worth more than its line in a log: that it can't be written is only said.
func (p *preRun) keep() {
	if err := decisions.Append(p.log); err != nil {
		p.env.complain(err.Error())
	}
}
