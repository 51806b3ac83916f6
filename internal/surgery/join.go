package surgery

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Take is which of two copies counts where both go on in their own way.
type Take uint8

// The choices.
const (
	TakeNone Take = iota // neither: that is an error
	TakeFirst
	TakeOther
)

// ParseTake reads a choice.
func ParseTake(name string) (Take, error) {
	switch name {
	case "":
		return TakeNone, nil
	case "a", "A":
		return TakeFirst, nil
	case "b", "B":
		return TakeOther, nil
	}
	return TakeNone, Usage("--take is %q; it takes a or b", name)
}

// key is what two copies of a record have in common: its id or, where it has none, all but its number.
func key(rec *session.Record) string {
	r := gjson.ParseBytes(rec.Raw)
	if id := r.Get("uuid"); id.Type == gjson.String {
		return id.String()
	}
	if rec.Kind == session.Header {
		return "header"
	}
	if id := r.Get("id"); id.Type == gjson.String && r.Get("parentId").Exists() {
		return id.String()
	}
	if p := r.Get("payload"); p.Exists() {
		return r.Get("timestamp").Raw + r.Get("type").Raw + p.Raw
	}
	return string(rec.Raw)
}

// gap is what one copy has between two records that both have.
type gap struct {
	behind int // the index in the first copy of the record in front of it; -1 for the beginning
	a, b   []int
}

// Join plans to add to a session what another copy of it has and it lacks. Where one goes on from the other, or fills a hole in it, that is
// certain. Where both go on in their own way, one must be chosen.
func Join(a, b *Session, take Take) (*Plan, error) {
	gaps, err := parts(a, b)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Sends: Holds}
	added := plan.Group("from-the-other", "the other copy has it")
	dropped := plan.Group("not-chosen", "this copy goes on in its own way, and the other one was chosen")
	lacks, differ := 0, []string{}
	for _, g := range gaps {
		switch {
		case len(g.b) == 0:
			lacks += len(g.a)
			continue
		case len(g.a) > 0 && take == TakeNone:
			differ = append(differ, fmt.Sprintf("behind line %d: A has %s, B has %s", g.behind+1, told(a, g.a), told(b, g.b)))
			continue
		case len(g.a) > 0 && take == TakeFirst:
			continue
		}
		if g.behind < 0 {
			return nil, Refuse("the copies begin in different ways, so they are not copies of one session")
		}
		for _, i := range g.a {
			dropped.Drop(&a.Records[i])
			plan.Sends = Anew
		}
		last := &a.Records[g.behind]
		for _, i := range g.b {
			added.Behind(last, b.Records[i].Raw)
		}
	}
	if len(differ) > 0 {
		return nil, Refuse("the copies part; --take a or --take b says which one counts there:\n  %s", strings.Join(differ, "\n  "))
	}
	if lacks > 0 {
		plan.Notes = append(plan.Notes, fmt.Sprintf("the other copy lacks %s of this one", count(lacks, "record")))
	}
	return plan, nil
}

// parts compares two copies record by record.
func parts(a, b *Session) ([]gap, error) {
	at := map[string]int{}
	for i := range a.Records {
		at[key(&a.Records[i])] = i
	}
	var gaps []gap
	last, common := -1, 0
	cur := gap{behind: -1}
	for j := range b.Records {
		i, both := at[key(&b.Records[j])]
		if !both {
			cur.b = append(cur.b, j)
			continue
		}
		if i <= last {
			if i == last {
				continue // it stands twice there
			}
			return nil, Refuse("the copies hold the same records in different orders; repair them first")
		}
		for k := last + 1; k < i; k++ {
			cur.a = append(cur.a, k)
		}
		gaps = append(gaps, cur)
		last, cur = i, gap{behind: i}
		common++
	}
	for k := last + 1; k < len(a.Records); k++ {
		cur.a = append(cur.a, k)
	}
	gaps = append(gaps, cur)
	if common < 2 {
		return nil, Refuse("they are not copies of one session: they have no records in common")
	}
	return gaps, nil
}

// told is what some records hold, in words.
func told(s *Session, indexes []int) string {
	prompts, answers := 0, 0
	for _, i := range indexes {
		switch rec := &s.Records[i]; {
		case rec.Boundary:
			prompts++
		case rec.Answer:
			answers++
		}
	}
	return fmt.Sprintf("%s (%s, %s)", count(len(indexes), "record"), count(prompts, "prompt"), count(answers, "answer"))
}
