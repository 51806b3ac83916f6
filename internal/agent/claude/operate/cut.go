package operate

import "github.com/hist-cli/hist/internal/surgery"

// Cut ends a session behind a place.
func (Surgeon) Cut(s *surgery.Session, at surgery.Place) (*surgery.Plan, error) {
	return nil, surgery.Refuse("not yet")
}
