package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/check"
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
	// Finding is damage at one place, with the edits that repair it.
	Finding = finding.Finding
	// Edit is one change of one logical record.
	Edit = finding.Edit
	// Op is what an Edit does with the record it addresses.
	Op = finding.Op
	// Content is the bytes of an inserted record.
	Content = finding.Content
	// Recipe makes an inserted record from others.
	Recipe = finding.Recipe
	// Ref is a logical record in the file, kept instead of its bytes.
	Ref = finding.Ref
	// Cut replaces a range of a record's bytes.
	Cut = finding.Cut
	// Encoding is how a file's bytes become text.
	Encoding = normalize.Encoding
	// Pos addresses a logical record.
	Pos = session.Pos
	// Options say how to lint a session, and what is known of it besides its bytes. It is an alias because the checkers, which
	// stand below this package, read the same options; its fields are documented there.
	Options = check.Options
	// Name is what the name of a session's file says about it.
	Name = check.Name
	// KeptBy reads what an agent's home keeps of a session.
	KeptBy = check.KeptBy
)

// The impacts, from harmless to fatal. Loses and Rejects weigh the same against a threshold.
const (
	Notes   = finding.Notes   // nothing is lost; the finding is only worth knowing
	Shows   = finding.Shows   // the model is sent the whole history, but the client displays it wrongly
	Loses   = finding.Loses   // the client resumes, and silently drops, replaces or repeats part of the history
	Rejects = finding.Rejects // the client resumes, and the model API refuses what it sends
	Blocks  = finding.Blocks  // the client refuses to resume
)

// The fixes, from the one that promises most to the one that promises least. NoFix comes first, because it changes nothing.
const (
	NoFix     = finding.NoFix     // the finding is only reported
	Exact     = finding.Exact     // bytes are moved or decoded, or padding is removed; nothing is invented or lost
	Recovered = finding.Recovered // the content was found elsewhere
	StandIn   = finding.StandIn   // the content is gone; a placeholder tells the model so
	SetAside  = finding.SetAside  // bytes that belong nowhere leave the session, and the run's record keeps them
)

// The operations of an Edit.
const (
	Splice   = finding.Splice   // replace byte ranges inside the record
	Remove   = finding.Remove   // remove the record
	Before   = finding.Before   // insert a record in front of it
	After    = finding.After    // insert a record behind it
	Renumber = finding.Renumber // from this record on, write ordinals that count up from the record before it
	Restore  = finding.Restore  // put a lost record back
)

// Impacts are all impacts, from harmless to fatal.
var Impacts = finding.Impacts

// ParseImpact reads an impact's name, as Impact.String writes it. The error of any other text lists the names.
func ParseImpact(s string) (Impact, error) { return finding.ParseImpact(s) }

// ParseFix reads a fix's name, as Fix.String writes it. The error of any other text lists the names; "none" is one, because
// there is nothing to do.
func ParseFix(s string) (Fix, error) { return finding.ParseFix(s) }

// Providers are the names of the profiles that Options.Provider takes.
func Providers() (names []string) {
	for _, p := range check.Providers {
		names = append(names, p.Name)
	}
	return names
}

// CheckProvider is an error, which lists the profiles, if Options.Provider can't have a value.
func CheckProvider(provider string) error {
	if p, _ := check.Asked(provider); provider != "" && p == nil {
		return fmt.Errorf("--provider is %q; it takes %s", provider, strings.Join(Providers(), ", "))
	}
	return nil
}

// Rules is the catalogue, in the order in which it is documented.
var Rules = catalogue()

// catalogue lists the rules of every agent, each once, between those that all agents have.
func catalogue() []*Rule {
	list := slices.Clone(normalize.Rules)
	for _, a := range all.Agents {
		for _, r := range a.Rules {
			if !slices.Contains(list, r) {
				list = append(list, r)
			}
		}
	}
	return append(list, normalize.CorruptZst)
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

// Agents are the agents, as their makers write them, whose sessions can have the damage of a rule.
func Agents(r *Rule) []string {
	var list []string
	for _, a := range all.Agents {
		if _, effect := a.Effect(r, ""); effect != "" || slices.Contains(a.Rules, r) {
			list = append(list, a.Title)
		}
	}
	return list
}

// Effect is what one agent's newest known client does with the damage of a rule.
type Effect struct {
	Agent  string // as its makers write it
	Impact Impact // the usual one
	Text   string // sentences in which "it" is the client
}

// Effects are what the agents' clients do with the damage of a rule that agents share. For a rule of a single agent there are
// none: its text says it.
func Effects(r *Rule) []Effect {
	var list []Effect
	for _, a := range all.Agents {
		if impact, text := a.Effect(r, ""); text != "" {
			list = append(list, Effect{a.Title, impact, text})
		}
	}
	return list
}

// Described is the text of a rule, and a paragraph for each agent on what its client does with the damage.
func Described(r *Rule) string {
	text := r.Text
	for _, e := range Effects(r) {
		text += fmt.Sprintf("\n\n%s (%s): %s", e.Agent, e.Impact, e.Text)
	}
	return text
}
