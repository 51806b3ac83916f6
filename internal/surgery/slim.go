package surgery

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/hist-cli/hist/internal/session"
)

// Level is what a slimmer session may lack.
type Level uint8

// The levels.
const (
	Exact   Level = iota // nothing that is sent, and nothing that the client shows
	Model                // nothing that is sent
	Shorter              // what is sent lacks old images and the middle of long outputs, and says so
)

// ParseLevel reads a level's name.
func ParseLevel(name string) (Level, error) {
	for l, n := range levelNames {
		if n == name {
			return Level(l), nil
		}
	}
	return 0, Usage("--level is %q; it takes exact, model or marked", name)
}

var levelNames = [...]string{"exact", "model", "marked"}

// String is the level's name.
func (l Level) String() string { return levelNames[l] }

// SlimOptions say how slim a session is to be.
type SlimOptions struct {
	Level      Level
	KeepImages int // Shorter: the newest images that stay; negative: all
	MaxOutput  int // Shorter: outputs longer than so many bytes are shortened; 0: none
	// DropThinking allows to take out thinking that is bound to what is changed before it.
	DropThinking bool
}

// Surgeon is what is different about the sessions of one agent. Its methods only read the session.
type Surgeon interface {
	// Slim lists what may go.
	Slim(s *Session, opts SlimOptions) (*Plan, error)
	// Cut ends a session at a place.
	Cut(s *Session, at *Place) (*Plan, error)
	// Move changes what names the directory that a session's project was in.
	Move(s *Session, opts MoveOptions) (*Plan, error)
	// Compose writes a session under a thread's id that says what another agent's said.
	Compose(h *Handoff, thread, cwd string, now time.Time) []byte
	// Redact takes out what can't be looked into, or must not be altered, once secrets are taken out.
	Redact(s *Session, r *Redaction, opts RedactOptions) error
	// Media are the images and the long outputs in a record, of those that are sent.
	Media(rec *session.Record) []Medium
}

// Medium is an image, or the text of an output, that a record holds.
type Medium struct {
	Value
	Image bool
	// Note makes what stands in its place, for a text.
	Note func(text string) []byte
}

// outputsKept is how many of the newest outputs are never shortened: the model is at work on them.
const outputsKept = 2

// noteSize is how many bytes, at most, a shortened output is longer than what is left of it.
const noteSize = 64

// Shorten plans to shorten outputs and to take out images of the records that are sent, all but the newest. It returns the first
// record that is changed, nil if none is.
func Shorten(s *Session, of Surgeon, plan *Plan, opts SlimOptions) (first *session.Record) {
	images := plan.Group("old-images", "an image that is no longer needed; a note to the model stands in its place")
	outputs := plan.Group("long-outputs", "the middle of a long output is taken out; a note to the model stands in its place")
	type found struct {
		rec *session.Record
		Medium
	}
	var list []found
	for i := range s.Records {
		if rec := &s.Records[i]; s.sends(rec) {
			for _, m := range of.Media(rec) {
				list = append(list, found{rec, m})
			}
		}
	}
	cuts := map[*session.Record]map[*Group][]session.Cut{}
	seenImages, seenOutputs := 0, 0
	for i := len(list) - 1; i >= 0; i-- {
		m := &list[i]
		g, size := outputs, m.End-m.Start
		var by []byte
		if m.Image {
			g = images
			if seenImages++; opts.KeepImages < 0 || seenImages <= opts.KeepImages {
				continue
			}
			by = m.Note(TakenOut(size))
		} else {
			text := m.String()
			if seenOutputs++; opts.MaxOutput <= 0 || len(text) <= opts.MaxOutput+noteSize || seenOutputs <= outputsKept {
				continue
			}
			by = m.Note(middleOut(text, opts.MaxOutput))
		}
		if len(by) >= size {
			continue
		}
		if cuts[m.rec] == nil {
			cuts[m.rec] = map[*Group][]session.Cut{}
		}
		cuts[m.rec][g] = append(cuts[m.rec][g], m.Instead(by))
	}
	for i := range s.Records {
		rec := &s.Records[i]
		if cuts[rec] == nil {
			continue
		}
		if first == nil {
			first = rec
		}
		for _, g := range []*Group{images, outputs} {
			if c := cuts[rec][g]; len(c) > 0 {
				g.Cut(rec, c...)
			}
		}
	}
	return first
}

// TakenOut is the note about an image that took so many bytes.
func TakenOut(size int) string {
	return fmt.Sprintf("%san image of %s was taken out here]", Mark, Bytes(int64(size)))
}

// sends says whether something of a record is sent.
func (s *Session) sends(rec *session.Record) bool {
	if s.Sent == nil {
		return s.MaySend(rec.Pos)
	}
	if s.sentAt == nil {
		s.sentAt = map[session.Pos]bool{}
		for i := range s.Sent.Items {
			if it := &s.Sent.Items[i]; it.Made == "" && i >= s.Sent.Inherited {
				s.sentAt[it.Pos] = true
			}
		}
	}
	return s.sentAt[rec.Pos]
}

// middleOut keeps the beginning and the end of a text, limit bytes of it, and says what is missing between them.
func middleOut(text string, limit int) string {
	head, tail := limit/2, len(text)-limit/2
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n%s%s of this output were taken out here]\n%s", text[:head], Mark, Bytes(int64(tail-head)), text[tail:])
}

// Bytes is a size for people.
func Bytes(n int64) string {
	switch {
	case n >= 1e8:
		return fmt.Sprintf("%d MB", n/1e6)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%d KB", n/1e3)
	case n >= 1e3:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d bytes", n)
}

// SlimTo goes, from what loses nothing to what loses more, as far as it takes to get a session below a size in bytes.
func SlimTo(s *Session, of Surgeon, opts SlimOptions, size int64) (*Plan, error) {
	left := int64(len(s.Text))
	for _, try := range []SlimOptions{
		{Level: Exact},
		{Level: Model},
		{Level: Shorter, KeepImages: 4, MaxOutput: 16_000},
		{Level: Shorter, KeepImages: opts.KeepImages, MaxOutput: opts.MaxOutput},
		{Level: Shorter, KeepImages: 0, MaxOutput: 1_000},
	} {
		try.DropThinking = opts.DropThinking
		plan, err := of.Slim(s, try)
		if err != nil {
			return nil, err
		}
		if left = int64(len(s.Text)) - plan.Saved(); left <= size {
			plan.Notes = append(plan.Notes, "this took the level "+try.Level.String())
			return plan, nil
		}
	}
	return nil, Refuse("it does not get below %s: without all that can go, it has %s", Bytes(size), Bytes(left))
}
