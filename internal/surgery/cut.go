package surgery

import (
	"sort"
	"strconv"
	"strings"

	"github.com/hist-cli/hist/internal/session"
)

// Turn is a turn of a session, numbered as `hist show` does.
type Turn struct {
	Number     int
	Start, End session.Pos   // its first and its last record
	Named      []session.Pos // records by whose ids it may be named: its first one, and its prompts
}

// Index is where among the records the one at a place is; -1 if there is none.
func (s *Session) Index(at session.Pos) int {
	i := sort.Search(len(s.Records), func(i int) bool { return !s.Records[i].Pos.Less(at) })
	if i < len(s.Records) && s.Records[i].Pos == at {
		return i
	}
	return -1
}

// CutOptions say where a session is to end. Exactly one of the first four is set; none of them keeps all.
type CutOptions struct {
	After   string // the last turn that stays, by its number or its id
	Before  string // the first turn that goes
	Last    int    // how many turns go
	At      string // the id of the last message that stays
	InPlace bool   // the session itself is changed, in its client's own shape
	Purge   bool   // InPlace: what is cut leaves the file, too
}

// Place is where a session is cut.
type Place struct {
	CutOptions
	All  bool // nothing is cut
	Turn Turn // the last turn that stays, perhaps in part
	Next int  // the index of the first record of the turn behind it; how many records there are if none is
	// Within is the index of the last record that stays, if the cut is inside of a turn; else -1.
	Within  int
	Dropped int // how many turns are cut, those in part included
}

// Place finds the place that the options mean, among all turns of the session.
func (s *Session) Place(turns []Turn, opts CutOptions) (p *Place, err error) {
	p = &Place{CutOptions: opts, Within: -1, Next: len(s.Records)}
	last := len(turns) // how many turns stay
	switch {
	case opts.At != "":
		if p.Within, err = s.message(opts.At); err != nil {
			return nil, err
		}
		for last > 0 && s.Records[p.Within].Pos.Less(turns[last-1].Start) {
			last--
		}
	case opts.After != "":
		last, err = s.turn(turns, opts.After)
	case opts.Before != "":
		last, err = s.turn(turns, opts.Before)
		last--
	case opts.Last != 0:
		last -= opts.Last
		if opts.Last < 0 || last < 0 {
			return nil, Usage("the session has %s, so %d can't be cut", count(len(turns), "turn"), opts.Last)
		}
	default:
		p.All = true
	}
	if err != nil {
		return nil, err
	}
	if last == 0 && !p.All {
		return nil, Usage("nothing would be left of the session; begin a new one instead")
	}
	if last > 0 {
		p.Turn = turns[last-1]
	}
	if last < len(turns) {
		p.Next, p.Dropped = s.Index(turns[last].Start), len(turns)-last
	}
	p.All = p.All || p.Within < 0 && p.Dropped == 0
	return p, nil
}

// turn is the number of the turn that a user names by its number, or by an id.
func (s *Session) turn(turns []Turn, name string) (int, error) {
	if n, err := strconv.Atoi(name); err == nil && len(name) < 8 {
		if n < 1 || n > len(turns) {
			return 0, Usage("there is no turn %d: the session has %s; hist show lists them", n, count(len(turns), "turn"))
		}
		return n, nil
	}
	found := 0
	for i := range turns {
		for _, pos := range turns[i].Named {
			if at := s.Index(pos); at >= 0 && named(s.Records[at].Raw, name) && found != i+1 {
				if found > 0 {
					return 0, Usage("%q names several turns; give more of the id", name)
				}
				found = i + 1
			}
		}
	}
	if found == 0 {
		return 0, Usage("%q is neither a turn's number nor the id of one; hist show lists the turns", name)
	}
	return found, nil
}

// message is the index of the record with an id.
func (s *Session) message(id string) (int, error) {
	found := -1
	for i := range s.Records {
		rec := &s.Records[i]
		if !rec.Model && rec.Kind != session.Message && rec.Kind != session.Call && rec.Kind != session.Output || !named(rec.Raw, id) {
			continue
		}
		if found >= 0 && rec.Kind != session.Output {
			return 0, Usage("%q names several messages; give more of the id", id)
		}
		found = i
	}
	if found < 0 {
		return 0, Usage("no message has the id %q", id)
	}
	return found, nil
}

// named says whether a record has an id that begins with these characters.
func named(raw []byte, id string) bool {
	if len(id) < 4 || strings.ContainsAny(id, `"\`) {
		return false
	}
	for _, path := range []string{"uuid", "id", "payload.id", "payload.call_id", "payload.turn_id", "message.id"} {
		if v, ok := At(raw, path); ok && strings.HasPrefix(v.String(), id) {
			return true
		}
	}
	return false
}

func count(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return strconv.Itoa(n) + " " + word
}
