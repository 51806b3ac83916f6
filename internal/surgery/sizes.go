package surgery

import (
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/session"
)

// Size is what the records of a class take in a session's file.
type Size struct {
	Class string // one word
	Name  string // the same for a reader
	Bytes int64
}

// classes are those of Sizes, in the order in which they are shown.
var classes = []Size{
	{Class: "prompts", Name: "prompts"},
	{Class: "answers", Name: "answers"},
	{Class: "thinking", Name: "reasoning"},
	{Class: "calls", Name: "calls"},
	{Class: "outputs", Name: "tool outputs"},
	{Class: "images", Name: "images"},
	{Class: "summaries", Name: "compactions"},
	{Class: "snapshots", Name: "snapshots and settings"},
	{Class: "again", Name: "repeated for the display"},
	{Class: "others", Name: "other"},
}

// Sizes are the bytes of the session by class, all classes in the same order. Images and reasoning count as such wherever they stand.
func (s *Session) Sizes() []Size {
	list := append([]Size(nil), classes...)
	add := func(class string, n int64) {
		for i := range list {
			if list[i].Class == class {
				list[i].Bytes += n
			}
		}
	}
	for i := range s.Records {
		rec := &s.Records[i]
		rest := rec.Size
		take := func(class string, n int) {
			add(class, int64(n))
			rest -= int64(n)
		}
		Walk(rec.Raw, func(v *Value) bool {
			switch {
			case !v.IsObject():
				return true
			case slices.Contains([]string{"thinking", "redacted_thinking", "reasoning"}, v.Get("type").String()):
				take("thinking", len(v.Raw))
				return false
			}
			if p := partOf(v.Result); p.Image != "" {
				take("images", len(p.Image))
				return false
			}
			return true
		})
		add(classOf(rec), rest)
	}
	return list
}

// classOf is the class of a record by what it is for.
func classOf(rec *session.Record) string {
	switch {
	case rec.Kind == session.Context, slices.ContainsFunc([]string{"snapshot", "world_state", "attachment", "api-request", "settings"}, func(s string) bool { return strings.Contains(rec.Type, s) }):
		return "snapshots"
	case rec.Kind == session.Compaction:
		return "summaries"
	case rec.Kind == session.Call:
		return "calls"
	case rec.Kind == session.Output:
		return "outputs"
	case rec.Kind == session.Evidence:
		return "again"
	case rec.Boundary:
		return "prompts"
	case rec.Answer:
		return "answers"
	}
	return "others"
}
