package lint

import (
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

// What a finding is made of. The types live where every package may know them; these are their names for callers.
type (
	// Rule is one kind of damage.
	Rule = finding.Rule
	// Impact is what the agent does with the damage.
	Impact = finding.Impact
	// Fix is how much a repair of a finding can promise.
	Fix = finding.Fix
	// Finding is one damage at one place, with the edits that mend it.
	Finding = finding.Finding
	// Edit is one change of one logical record.
	Edit = finding.Edit
	// Op is what an Edit does with the record it addresses.
	Op = finding.Op
	// Content is the bytes of an inserted record.
	Content = finding.Content
	// Ref is a logical record in the file, kept instead of its bytes.
	Ref = finding.Ref
	// Cut replaces a range of a record's bytes.
	Cut = finding.Cut
	// Encoding is how a file's bytes become text.
	Encoding = normalize.Encoding
	// Pos addresses a logical record.
	Pos = session.Pos
)

// The impacts, from harmless to fatal. Loses and Rejects weigh the same against a threshold.
const (
	Notes   = finding.Notes
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
)

// ParseImpact reads an impact's name.
func ParseImpact(s string) (Impact, error) { return finding.ParseImpact(s) }

// ParseFix reads a fix's name.
func ParseFix(s string) (Fix, error) { return finding.ParseFix(s) }

func refOf(rec *session.Record) Ref { return finding.RefOf(rec) }

// Rules is the catalogue, in the order in which it is documented.
var Rules = concat(normalize.Rules, headerRules, ordinalRules, callRules, turnRules, itemRules, restartRules, storeRules)

func concat(families ...[]*Rule) []*Rule {
	var all []*Rule
	for _, f := range families {
		all = append(all, f...)
	}
	return all
}

// FindRule returns the rule of that name, nil if there is none.
func FindRule(name string) *Rule {
	for _, r := range Rules {
		if r.Name == name {
			return r
		}
	}
	return nil
}
