package beside

import "github.com/hist-cli/hist/internal/session"

// pairs are the calls of a session that have no output although the model went on, and the outputs that have no call: another file that has
// the other half shows that it is lost, where nothing else does.
type pairs struct {
	open   map[string]bool // calls since the model said something
	halves map[string]bool // ids of the calls and outputs that are alone
}

func (p *pairs) see(rec *session.Record) {
	id := string(rec.CallID)
	switch {
	case rec.Note: // a script may write one beside its output
	case rec.Kind != session.Call && rec.Kind != session.Output:
		if rec.Answer {
			for id := range p.open {
				p.halves[id] = true
			}
			clear(p.open)
		}
	case id == "":
	case p.halves == nil:
		p.open, p.halves = map[string]bool{}, map[string]bool{}
		fallthrough
	case !p.other(id):
		if rec.Kind == session.Call {
			p.open[id] = true
		} else {
			p.halves[id] = true
		}
	}
}

// other says whether the other half of a pair is there, and forgets both.
func (p *pairs) other(id string) bool {
	there := p.open[id] || p.halves[id]
	delete(p.open, id)
	delete(p.halves, id)
	return there
}

// broken says whether there is half a pair.
func (p *pairs) broken() bool { return len(p.halves) > 0 }

// halved says whether a record of another file is the half of a pair that is lost here.
func (p *pairs) halved(rec *session.Record) bool {
	return (rec.Kind == session.Call || rec.Kind == session.Output) && p.halves[string(rec.CallID)]
}
