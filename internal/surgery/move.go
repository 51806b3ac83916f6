package surgery

import (
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Rewrite is how much of a session a move changes.
type Rewrite uint8

// The ways to rewrite.
const (
	RewriteNone    Rewrite = iota // the file's place alone
	RewriteFields                 // the fields by which the client finds the session
	RewriteHistory                // every text that names the old directory
)

var rewriteNames = [...]string{"none", "fields", "history"}

// ParseRewrite reads a way's name.
func ParseRewrite(name string) (Rewrite, error) {
	for i, n := range rewriteNames {
		if n == name {
			return Rewrite(i), nil
		}
	}
	return 0, Usage("--rewrite is %q; it takes none, fields or history", name)
}

// MoveOptions say from which directory a session's project went to which. Both are absolute.
type MoveOptions struct {
	From, To string
	Rewrite  Rewrite
}

// Moved is a path as it is after the move; ok is false if it is neither the directory nor below it. Only whole names count:
// /a/project2 is not below /a/project.
func (o *MoveOptions) Moved(path string) (moved string, ok bool) {
	if path == o.From {
		return o.To, true
	}
	if rest, below := strings.CutPrefix(path, strings.TrimSuffix(o.From, "/")+"/"); below {
		return filepath.Join(o.To, rest), true
	}
	return path, false
}

// inName says whether a byte may go on the name of a file, so that a path in front of it does not end there.
func inName(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// InText replaces the directory in a text, wherever it stands as a whole.
func (o *MoveOptions) InText(text string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, o.From)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		end := i + len(o.From)
		before := i == 0 || !inName(text[i-1]) && text[i-1] != '/'
		after := end == len(text) || !inName(text[end]) || text[end] == '.' && (end+1 == len(text) || !inName(text[end+1]))
		b.WriteString(text[:i])
		if before && after {
			b.WriteString(o.To)
		} else {
			b.WriteString(o.From)
		}
		text = text[end:]
	}
}

// RewritePaths plans to replace the directory in every text of a session that may be altered. It returns the first record that is
// changed, nil if none is.
func RewritePaths(s *Session, plan *Plan, opts MoveOptions) (first *session.Record) {
	plan.Says = opts.InText
	g := plan.Group("paths", "it names the directory as it was before the move")
	for i := range s.Records {
		rec := &s.Records[i]
		if rec.Kind == session.Unreadable {
			continue
		}
		var cuts []session.Cut
		Walk(rec.Raw, func(v *Value) bool {
			if technical(v) || v.Key() == "thinking" {
				return false
			}
			if v.Type == gjson.String {
				if text := v.String(); strings.Contains(text, opts.From) {
					if out := opts.InText(text); out != text {
						cuts = append(cuts, v.Instead(Quote(out)))
					}
				}
			}
			return true
		})
		if len(cuts) > 0 {
			g.Cut(rec, cuts...)
			if first == nil {
				first = rec
			}
		}
	}
	return first
}

// RewriteUnbound is RewritePaths for agents that name a record's model in its message. It refuses if thinking of a record, which thinks tells, is
// bound to what changes in front of it. client says what the client does without that.
func RewriteUnbound(s *Session, plan *Plan, opts MoveOptions, thinks func(rec *session.Record) bool, client string) error {
	plan.Sends = Renamed
	first := RewritePaths(s, plan, opts)
	for i := range s.Records {
		if rec := &s.Records[i]; Bound(rec, first) && thinks(rec) {
			return Refuse("thinking is bound to what names the old directory, and the model's API would refuse it; leave --rewrite history out: %s", client)
		}
	}
	return nil
}

// Bound says whether what a record holds of thinking is bound to what stands in front of it, of which the first change is known; nil if nothing is
// changed.
func Bound(rec, first *session.Record) bool {
	return first != nil && first.Pos.Less(rec.Pos) && session.BindsThinking(gjson.GetBytes(rec.Raw, "message.model").String())
}
