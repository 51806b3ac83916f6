package preresume

import (
	"fmt"
	"strings"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/glance"
	"github.com/hist-cli/hist/internal/inuse"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// weight is what the findings come to.
type weight struct {
	mendable, stuck, refused int    // what concerns the model: with a fix; that block and have none; that the API refuses and have none
	named                    int    // what only a copy under another name mends
	nothing                  string // why there is nothing to go on with, though nothing was lost; "" if there is
}

// hollow are rules about a file that holds no conversation. Such a one may be as the client left it, and is no damage then;
// resumed it can't be.
var hollow = map[string]bool{"empty-file": true, "no-conversation": true}

func (a *Answer) fixable(found []lint.Finding) {
	for i := range found {
		switch f := &found[i]; {
		case hollow[f.Rule.Name] && f.Impact == lint.Notes:
			a.weight.nothing = f.Message
		case f.Impact == lint.Notes, f.Impact == lint.Shows: // neither keeps a resume from being whole
		case f.Rename != "":
			a.weight.named++
		case f.Fix != lint.NoFix:
			a.weight.mendable++
		case f.Impact == lint.Blocks:
			a.weight.stuck++
		case f.Impact == lint.Rejects:
			a.weight.refused++
		}
	}
}

// judge comes to a verdict. What stands in the way for certain comes before what the error of a failed resume says.
func (a *Answer) judge(req Request, busy *inuse.Busy) {
	g := a.session
	switch {
	case busy != nil:
		a.say(InUse, RetryLater, true, busy.Reason)
	case req.MaxSize > 0 && g.Size > req.MaxSize:
		a.say(TooLarge, SeeFindings, false, fmt.Sprintf("the session has %d bytes, more than the %d that were allowed", g.Size, req.MaxSize))
	case a.weight.stuck > 0 && a.blockedFromOutside():
		a.say(Incompatible, SeeFindings, true, a.first("blocks"))
	case a.weight.stuck > 0:
		a.say(Corrupt, SeeFindings, false, a.first("blocks"))
	case a.weight.nothing != "":
		a.say(Corrupt, SeeFindings, false, a.weight.nothing)
	case a.weight.named > 0:
		a.Before, a.Resume = []string{"hist", "repair", a.Path}, nil
		a.say(Incompatible, SeeFindings, true, a.first("blocks")+"; the copy is another thread")
	case a.weight.mendable > 0:
		a.say(Repairable, RepairThenResume, true, a.damage())
	case a.weight.refused > 0:
		a.say(Incompatible, SeeFindings, false, a.first("rejects"))
	case g.Archived:
		a.unarchive()
	case tooOld(req, g) != "":
		a.say(ClientTooOld, Upgrade, true, tooOld(req, g))
	case a.Error != nil && a.Error.Verdict != Resumable && a.Error.Verdict != Repairable:
		a.say(a.Error.Verdict, actions[a.Error.Verdict], a.Error.Same != agent.Never, "the error says: "+a.Error.Meaning)
	default:
		a.say(Resumable, Resume, true, a.fine())
	}
}

// actions are what to do next after an error that alone tells.
var actions = map[Verdict]Action{InUse: RetryLater, NotFound: Locate, ClientTooOld: Upgrade, Corrupt: SeeFindings, Incompatible: SeeFindings}

func (a *Answer) say(v Verdict, next Action, same bool, reason string) {
	a.Verdict, a.Next, a.SameThread, a.Reason = v, next, same, reason
}

// blockedFromOutside says whether all that blocks stands beside the session, which itself is whole.
func (a *Answer) blockedFromOutside() bool {
	for _, f := range a.Findings {
		if rule := lint.FindRule(f.Rule); f.Impact == lint.Blocks.String() && (rule == nil || !rule.Home) {
			return false
		}
	}
	return true
}

func (a *Answer) first(impact string) string {
	for _, f := range a.Findings {
		if f.Impact == impact {
			return f.Message
		}
	}
	return "see the findings"
}

func (a *Answer) damage() string {
	var parts []string
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{a.Counts.Blocks, "that keeps the client from resuming", "that keep the client from resuming"},
		{a.Counts.Loses, "that loses history", "that lose history"},
		{a.Counts.Rejects, "that the model API refuses", "that the model API refuses"},
		{a.Counts.Shows, "that only the display shows", "that only the display shows"},
	} {
		switch {
		case c.n == 1:
			parts = append(parts, "1 "+c.one)
		case c.n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.many))
		}
	}
	return "findings: " + strings.Join(parts, ", ")
}

// fine tells a healthy session's last turn in words.
func (a *Answer) fine() string {
	text := map[timeline.TurnState]string{
		timeline.NoTurn: "nothing has been asked yet", timeline.Completed: "the last turn was answered", timeline.Interrupted: "the last turn was interrupted",
		timeline.Open: "the last turn never ended", timeline.Unanswered: "the last prompt got no answer", timeline.Failed: "the last turn failed",
	}[a.session.Turn.State]
	switch a.session.Turn.Class {
	case "", session.Unknown:
	case session.Transient:
		text += " on an error that passes"
	default:
		text += " (" + string(a.session.Turn.Class) + ")"
	}
	if a.Counts.Loses > 0 {
		text += "; some history is lost, and nothing brings it back"
	}
	return text
}

// unarchive says that the session has to leave the archive first.
func (a *Answer) unarchive() {
	why := "it lies in the archive"
	if in, ok := a.session.Agent.(agent.Archiver); ok {
		a.Before, why = in.Unarchive(a.Thread)
	}
	a.say(Incompatible, UnarchiveFirst, true, why)
}

// tooOld says why the client that was named can't read the session, "" if it can.
func tooOld(req Request, g *glance.Session) string {
	if d, ok := g.Agent.(agent.Dated); ok {
		return d.TooOld(req.Lint.For[g.Agent.Name()], g.Header, req.Source.Compressed)
	}
	return ""
}
