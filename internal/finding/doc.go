// Package finding holds what rules, repair and reports exchange: a Rule, a Finding at one place, and the Edits that repair
// it.
//
// It is a leaf: it knows records (internal/session) and nothing else, and decides nothing. Package lint gives the same
// types to programs in other modules under its own name.
package finding
