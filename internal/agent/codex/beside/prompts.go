package beside

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/session"
)

// maxPrompts is how many prompts of a session are compared with those that were typed.
const maxPrompts = 1 << 16

// prompts knows which prompts a session holds, and which of the typed ones it lacks.
type prompts struct {
	seed  maphash.Seed
	items map[uint64][]time.Time // when prompts were written as items, by their text
	shown map[uint64][]time.Time // when prompts were shown by events, by their text
	known map[uint64]bool        // all of them, by their text, used up or not
	count int

	turn string         // the one in hand, if it has no prompt yet
	bare map[string]gap // by turn id: where the model began to answer although the turn has no prompt
}

func newPrompts() *prompts {
	return &prompts{seed: maphash.MakeSeed(), items: map[uint64][]time.Time{}, shown: map[uint64][]time.Time{}, known: map[uint64]bool{}, bare: map[string]gap{}}
}

// follow notes turns without a prompt. count readable records come before the record.
func (p *prompts) follow(rec *session.Record, count int) {
	switch {
	case rec.Kind == session.TurnStart && !rec.Torn:
		p.turn = string(rec.TurnID)
	case rec.Kind == session.TurnEnd || rec.Kind == session.Compaction || rec.Boundary:
		p.turn = ""
	case p.turn != "" && rec.Kind == session.Evidence && codex.Repeats(rec, codex.TellsUser):
		p.turn = ""
	case p.turn != "" && answers(rec) && len(p.bare) < maxGaps:
		at := codex.Time(rec)
		p.bare[p.turn], p.turn = gap{behind: count, from: at, to: at, turn: p.turn}, ""
	}
}

// See takes a prompt of the session.
func (p *prompts) See(rec *session.Record) {
	if p.count >= maxPrompts || rec.Torn {
		return
	}
	if rec.Kind == session.Message && rec.Boundary {
		p.add(p.items, codex.FirstText(rec), rec)
	} else if rec.Kind == session.Evidence {
		if codex.Repeats(rec, codex.TellsUser) {
			p.add(p.shown, codex.ShownText(rec), rec)
		}
	}
}

// seeLeft takes the prompts that a compaction left, if its record is restored.
func (p *prompts) seeLeft(rec *session.Record) {
	for _, item := range gjson.GetBytes(rec.Raw, "payload.replacement_history").Array() {
		if text := item.Get("content.0.text"); item.Get("role").Str == "user" && p.count < maxPrompts {
			p.add(p.items, []byte(text.Raw), rec)
		}
	}
}

func (p *prompts) add(to map[uint64][]time.Time, quoted []byte, rec *session.Record) {
	if len(quoted) == 0 {
		return
	}
	sum := p.sum(gjson.ParseBytes(quoted).String())
	to[sum], p.known[sum] = append(to[sum], codex.Time(rec)), true
	p.count++
}

func (p *prompts) sum(text string) uint64 { return maphash.String(p.seed, strings.TrimSpace(text)) }

// has says whether the session holds a prompt that was typed at a time. If so, that prompt is used up, and matches no other
// typed one.
func (p *prompts) has(text string, at time.Time) bool {
	sum, found := p.sum(text), false
	for _, of := range []map[uint64][]time.Time{p.items, p.shown} {
		for i, written := range of[sum] {
			if !written.Add(promptSlack).Before(at) {
				of[sum] = append(of[sum][:i:i], of[sum][i+1:]...)
				found = true
				break
			}
		}
	}
	return found
}

// promptSlack is how much later than its record a prompt may seem to have been typed: its time is kept in whole seconds.
const promptSlack = 2 * time.Second

// gap is a place where something is damaged, between two records.
type gap struct {
	behind   int       // how many records come before it
	from, to time.Time // times of the records before and after it; zero at the end
	turn     string    // id of the turn that was going on

	numbered   bool  // the ordinals of these two records are known
	last, next int64 // these ordinals
}

// typedPrompt is a prompt that somebody typed, according to a file of the home.
type typedPrompt struct {
	at         time.Time
	text, from string
	turn       string // that it began, "" if the file does not say
}

// missing are the prompts that were typed in a thread and that the session lacks, each in the only gap into which its time
// falls.
func (p *prompts) missing(ctx context.Context, c *copies, paginated bool) (lost []check.Lost) {
	thread, gaps := c.name.ThreadID, c.gaps
	var all []typedPrompt
	for _, typed := range home.Typed(c.dir)[thread] {
		all = append(all, typedPrompt{at: typed.When, text: typed.Words, from: home.PromptsFile})
	}
	if len(all) == 0 {
		all = c.loggedPrompts(ctx) // as for a client without a terminal
	}
	for _, typed := range all {
		at, text := typed.at, typed.text
		if p.has(text, at) || strings.TrimSpace(text) == "" {
			continue
		}
		var found *gap
		for i := range gaps {
			if g := &gaps[i]; !at.Add(time.Second).Before(g.from) && (g.to.IsZero() || !at.After(g.to)) {
				if found != nil {
					found = nil
					break // it may belong to either
				}
				found = g
			}
		}
		if g, ok := p.bare[typed.turn]; ok {
			found = &g
		}
		if found == nil {
			continue
		}
		if at.Before(found.from) {
			at = found.from
		}
		lost = append(lost, check.Lost{
			Ordinal: -1, Placed: true, Behind: found.behind, At: at, From: typed.from, Retold: typed.turn != "",
			Line: codex.NewPromptEvent(at, thread, cmp.Or(typed.turn, found.turn), text, paginated),
		})
	}
	return lost
}

// first is the first prompt of a session that lacks it, as the list of threads has it. It goes into the first damaged place behind a record if
// that comes before all prompts of the session, or else in front of the first answer if that does.
func (p *prompts) first(ctx context.Context, c *copies, h session.Info) []check.Lost {
	if inherits(h) {
		return nil
	}
	at := gap{behind: c.answer, from: c.answered}
	switch i := slices.IndexFunc(c.gaps, func(g gap) bool { return !g.from.IsZero() }); {
	case i >= 0 && (p.count == 0 || c.gaps[i].behind <= c.prompt):
		at = c.gaps[i]
	case !p.answeredNone(c):
		return nil
	}
	c.further = true
	l, err := threadRow(ctx, c.dir, c.name.ThreadID)
	if !c.read(err) || l == nil || strings.TrimSpace(l.Prompt) == "" || l.Base != c.base || p.known[p.sum(l.Prompt)] {
		return nil
	}
	return []check.Lost{{
		Ordinal: -1, Placed: true, Behind: at.behind, At: at.from, From: l.From,
		Line: codex.NewPromptEvent(at.from, c.name.ThreadID, at.turn, l.Prompt, h.Paginated()),
	}}
}

// inherits says whether the first prompt of a session is its parent's, or not a user's.
func inherits(h session.Info) bool {
	return h.ForkedFrom != "" || h.BaseOrdinal > 0 || codex.OfSubagent(h)
}

// answeredNone says whether the session begins with an answer although there is no prompt before it.
func (p *prompts) answeredNone(c *copies) bool {
	return c.answer > 0 && (p.count == 0 || c.answer < c.prompt)
}

// loggedPrompts are the prompts of a thread that its client's log shows; none if it can't be read.
func (c *copies) loggedPrompts(ctx context.Context) (typed []typedPrompt) {
	size, thread := 0, c.name.ThreadID
	err := loggedPrompts(ctx, c.dir, thread, func(row LogRow) bool {
		if turn, text, ok := codex.PromptFromLog(thread, row.Text); ok {
			typed = append(typed, typedPrompt{row.At, text, row.File, turn})
			size += len(text)
		}
		return size < maxAsked
	})
	if !c.read(err) {
		return nil
	}
	return typed
}
