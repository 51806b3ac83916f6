package rules

import (
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// What a finding is made of.
type (
	Rule    = finding.Rule
	Impact  = finding.Impact
	Fix     = finding.Fix
	Finding = finding.Finding
	Edit    = finding.Edit
	Op      = finding.Op
	Content = finding.Content
	Ref     = finding.Ref
	Cut     = finding.Cut
)

// The impacts, from harmless to fatal. Loses and Rejects weigh the same against a threshold.
const (
	Notes   = finding.Notes
	Shows   = finding.Shows
	Loses   = finding.Loses
	Rejects = finding.Rejects
	Blocks  = finding.Blocks
)

// The classes of fix.
const (
	NoFix     = finding.NoFix
	Exact     = finding.Exact
	Recovered = finding.Recovered
	StandIn   = finding.StandIn
	SetAside  = finding.SetAside
)

// The operations of an Edit.
const (
	Splice   = finding.Splice
	Remove   = finding.Remove
	Before   = finding.Before
	After    = finding.After
	Renumber = finding.Renumber
	Restore  = finding.Restore
)

func refOf(rec *session.Record) Ref { return finding.RefOf(rec) }

func clip(text []byte, n int) string { return check.Clip(text, n) }
