package claude

import (
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/surgery"
)

// Move changes nothing in the file unless every text is to name the new directory: its client goes by the folder that the file lies in.
func (Surgeon) Move(s *surgery.Session, opts surgery.MoveOptions) (*surgery.Plan, error) {
	plan := &surgery.Plan{Sends: surgery.Same, Copy: true}
	if opts.Rewrite != surgery.RewriteHistory {
		return plan, nil
	}
	t := newTree(s)
	thinks := func(rec *session.Record) bool { return t.by[rec] != nil && thinks(t.by[rec]) }
	return plan, surgery.RewriteUnbound(s, plan, opts, thinks, "the client tells the model the new directory")
}
