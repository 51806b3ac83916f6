package claude

import "github.com/hist-cli/hist/internal/surgery"

// Move changes nothing in the file unless every text is to name the new directory: its client goes by the folder that the file lies in.
func (Surgeon) Move(s *surgery.Session, opts surgery.MoveOptions) (*surgery.Plan, error) {
	plan := &surgery.Plan{Sends: surgery.Same, Copy: true}
	if opts.Rewrite != surgery.RewriteHistory {
		return plan, nil
	}
	plan.Sends = surgery.Renamed
	first := surgery.RewritePaths(s, plan, opts)
	if first == nil {
		return plan, nil
	}
	t := newTree(s)
	for _, n := range t.nodes {
		if thinks(n) && t.bound(n, first) {
			return nil, surgery.Refuse("thinking is bound to what names the old directory, and the model's API would refuse it; leave --rewrite history out: the client tells the model the new directory")
		}
	}
	return plan, nil
}
