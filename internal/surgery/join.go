package surgery

import (
	"fmt"
	"slices"
	"strconv"
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

// keys are what two copies of a record have in common, by index: its id or, where it has none, all but its number. What stands several
// times in a file is told apart by how often it came before.
func keys(s *Session) (list []string, at map[string]int) {
	at = map[string]int{}
	times := map[string]int{}
	for i := range s.Records {
		k := "first"
		if i > 0 || s.Records[i].Kind != session.Header {
			k = key(s.Records[i].Raw)
		}
		times[k]++
		k += " " + strconv.Itoa(times[k])
		list, at[k] = append(list, k), i
	}
	return list, at
}

func key(raw []byte) string {
	r := gjson.ParseBytes(raw)
	if id := r.Get("uuid"); id.Type == gjson.String {
		return id.String()
	}
	if id := r.Get("id"); id.Type == gjson.String && r.Get("parentId").Exists() {
		return id.String()
	}
	if p := r.Get("payload"); p.Exists() {
		return r.Get("timestamp").Raw + r.Get("type").Raw + p.Raw
	}
	return string(raw)
}

// gap is what one copy has between two records that both have, and the other lacks.
type gap struct {
	behind int // the index in the first copy of the record in front of it; -1 for the beginning
	a, b   []int
}

// Join plans to add to a session what another copy of it has and it lacks. Where one goes on from the other, or fills a hole in it, that is
// certain. Where both go on in their own way, one must be chosen.
func Join(a, b *Session, take Take) (*Plan, error) {
	gaps, differ, err := gapsOf(a, b)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Sends: Anew}
	added := plan.Group("from-the-other", "the other copy has it")
	dropped := plan.Group("not-chosen", "this copy goes on in its own way, and the other one was chosen")
	own, last, parted := 0, b, []string{}
	for _, g := range gaps {
		bothSay := says(a, g.a) && says(b, g.b)
		switch {
		case !matters(b, g.b), bothSay && take == TakeFirst, len(g.a) > 0 && !says(b, g.b):
			if own += len(g.a); says(a, g.a) {
				last = a
			}
			continue
		case bothSay && take == TakeNone:
			parted = append(parted, fmt.Sprintf("behind line %d: A has %s, B has %s", g.behind+1, told(a, g.a), told(b, g.b)))
			continue
		case bothSay:
			for _, i := range g.a {
				dropped.Drop(&a.Records[i])
			}
		case len(g.a) > 0:
			g.behind = g.a[len(g.a)-1]
			own += len(g.a)
		}
		last = b
		for _, i := range g.b {
			if g.behind < 0 {
				added.InFront(&a.Records[0], b.Records[i].Raw)
			} else {
				added.Behind(&a.Records[g.behind], b.Records[i].Raw)
			}
		}
	}
	if len(parted) > 0 {
		return nil, Refuse("the copies part; --take a or --take b says which one counts there:\n  %s", strings.Join(parted, "\n  "))
	}
	if own > 0 {
		plan.Notes = append(plan.Notes, fmt.Sprintf("the other copy lacks %s of this one", count(own, "record")))
	}
	if differ > 0 {
		plan.Notes = append(plan.Notes, fmt.Sprintf("in %s that both have, the copies differ: this one's stay as they are", count(differ, "record")))
		return plan, nil
	}
	if !added.Empty() && (dropped.Empty() || own == 0) {
		plan.Like, plan.AsLike = last.Sent, Holds
		if own == 0 {
			plan.AsLike = Same
		}
	}
	return plan, nil
}

// says says whether some of the records belong to the conversation.
func says(s *Session, indexes []int) bool {
	return slices.ContainsFunc(indexes, func(i int) bool {
		switch rec := &s.Records[i]; rec.Kind {
		case session.Message, session.Call, session.Output, session.Compaction, session.Rollback:
			return true
		default:
			return rec.Model
		}
	})
}

// matters says whether some of the records are more than a client's notes, which it writes again and again.
func matters(s *Session, indexes []int) bool {
	return slices.ContainsFunc(indexes, func(i int) bool {
		r := gjson.ParseBytes(s.Records[i].Raw)
		return r.Get("uuid").Exists() || r.Get("payload").Exists() || r.Get("parentId").Exists()
	})
}

// gapsOf compares two copies record by record. differ is how many records both have under one id, with other words.
func gapsOf(a, b *Session) (gaps []gap, differ int, err error) {
	keysA, atA := keys(a)
	keysB, atB := keys(b)
	var pairs [][2]int
	for j, k := range keysB {
		if i, both := atA[k]; both {
			pairs = append(pairs, [2]int{i, j})
			if gjson.GetBytes(a.Records[i].Raw, "message").Raw != gjson.GetBytes(b.Records[j].Raw, "message").Raw {
				differ++
			}
		}
	}
	if len(pairs) < 2 {
		return nil, 0, Refuse("they are not copies of one session: they have no records in common")
	}
	missing := func(keys []string, from, to int, in map[string]int) (list []int) {
		for i := from; i < to; i++ {
			if _, both := in[keys[i]]; !both {
				list = append(list, i)
			}
		}
		return list
	}
	i, j := -1, -1
	for _, p := range append(rising(pairs), [2]int{len(keysA), len(keysB)}) {
		g := gap{i, missing(keysA, i+1, p[0], atB), missing(keysB, j+1, p[1], atA)}
		if len(g.a)+len(g.b) > 0 {
			gaps = append(gaps, g)
		}
		i, j = p[0], p[1]
	}
	return gaps, differ, nil
}

// rising is the longest part of the pairs in which the first numbers rise, too.
func rising(pairs [][2]int) [][2]int {
	var ends []int // by length - 1, the index of the pair at which the best part of that length ends
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(ends, p[0], func(end, first int) int { return pairs[end][0] - first })
		if before[i] = -1; n > 0 {
			before[i] = ends[n-1]
		}
		ends = append(ends[:min(n, len(ends))], append([]int{i}, ends[min(n+1, len(ends)):]...)...)
	}
	list := make([][2]int, len(ends))
	for n, i := len(ends)-1, ends[len(ends)-1]; n >= 0; n, i = n-1, before[i] {
		list[n] = pairs[i]
	}
	return list
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
