package check

import "github.com/hist-cli/hist/internal/session"

// TreeHistory is the History of a tree of records: one checker sees them all, and knows at its end which are sent. Nothing marks a branch as undone.
type TreeHistory struct {
	Of interface {
		Counts(at session.Pos) bool
		Items() (seen, mended int64)
	}
}

// Add does nothing: the checker sees each record itself.
func (h *TreeHistory) Add(*session.Record, bool) {}

// Counts asks the checker.
func (h *TreeHistory) Counts(at session.Pos) bool { return h.Of.Counts(at) }

// RolledBack is always false.
func (h *TreeHistory) RolledBack(session.Pos) bool { return false }

// Items asks the checker.
func (h *TreeHistory) Items() (seen, mended int64) { return h.Of.Items() }
