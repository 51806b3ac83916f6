package rules

import (
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// The rules about what lies beside a session, which package beside reports: what each means is in texts/RULE.md.
var (
	ProjectionStale = texts.Rule(finding.Rule{Name: "projection-stale", Family: "store", Impact: finding.Shows, Fix: finding.Exact, Home: true})
	DamagedDatabase = texts.Rule(finding.Rule{Name: "damaged-database", Family: "store", Impact: finding.Blocks, Fix: finding.NoFix, Home: true})
	IndexMissing    = texts.Rule(finding.Rule{Name: "index-missing", Family: "store", Impact: finding.Notes, Fix: finding.NoFix, Home: true})
	IndexStale      = texts.Rule(finding.Rule{Name: "index-stale", Family: "store", Impact: finding.Notes, Fix: finding.NoFix, Home: true})
	ProviderMissing = texts.Rule(finding.Rule{Name: "provider-missing", Family: "store", Impact: finding.Blocks, Fix: finding.NoFix, Home: true})
	DuplicateThread = texts.Rule(finding.Rule{Name: "duplicate-thread", Family: "store", Impact: finding.Notes, Fix: finding.NoFix, Home: true})
	BrokenLineage   = texts.Rule(finding.Rule{Name: "broken-lineage", Family: "store", Impact: finding.Blocks, Fix: finding.NoFix, Home: true})
	InUse           = texts.Rule(finding.Rule{Name: "in-use", Family: "store", Impact: finding.Notes, Fix: finding.NoFix, Home: true})
	// StoreRules are the rules about what lies beside a session.
	StoreRules = []*finding.Rule{
		ProjectionStale, LostRecords, DamagedDatabase, IndexMissing, IndexStale, ProviderMissing, DuplicateThread, BrokenLineage, check.ContextLost, check.Repaired, InUse,
	}
)

// LostRecords is about records that only the client's database still holds. Package beside looks there, so that linting without
// a home needs no database.
var LostRecords = texts.Rule(finding.Rule{Name: "lost-records", Family: "store", Impact: finding.Loses, Fix: finding.Recovered, Home: true})

// KeptSource names that database in a report.
const KeptSource = "thread_history_1.sqlite"

// Lost shows a checker a record that the file has lost.
func (c *callChecker) Lost(rec *session.Record) { c.Record(rec) }

// Lost: see callChecker's.
func (c *messageChecker) Lost(rec *session.Record) { c.Record(rec) }

// Lost: see callChecker's. Restarts are told by what stands in the file.
func (c *turnChecker) Lost(rec *session.Record) { c.follow(rec, nil) }
