package rules

import (
	"github.com/hist-cli/hist/internal/surgery"
)

// Move names the new directory in the header, by which the client's picker finds the session, and in the last context of a turn, by
// which `codex resume --last` does. The rest of the history keeps the old one unless every text is to name the new one.
func (Surgeon) Move(s *surgery.Session, opts surgery.MoveOptions) (*surgery.Plan, error) {
	plan := &surgery.Plan{Sends: surgery.Same}
	switch opts.Rewrite {
	case surgery.RewriteNone:
		return nil, surgery.Usage("sessions of Codex lie in no folder of their project: --rewrite none would change nothing")
	case surgery.RewriteHistory:
		plan.Sends = surgery.Renamed
		surgery.RewritePaths(s, plan, opts)
		return plan, nil
	}
	g := plan.Group("directory", "the client finds the session by it")
	last := -1
	for i := range s.Records {
		if s.Records[i].Type == "turn_context" {
			last = i
		}
	}
	for _, i := range []int{0, last} {
		if i < 0 || i == 0 && last == 0 || i >= len(s.Records) {
			continue
		}
		rec := &s.Records[i]
		if v, ok := surgery.At(rec.Raw, "payload.cwd"); ok {
			if to, ok := opts.Moved(v.String()); ok {
				g.Cut(rec, v.Instead(surgery.Quote(to)))
			}
		}
	}
	return plan, nil
}
