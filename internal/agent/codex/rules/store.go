package rules

import "github.com/hist-cli/hist/internal/check"

var (
	ProjectionStale = texts.Rule(Rule{Name: "projection-stale", Family: "store", Impact: Shows, Fix: Exact, Home: true})
	DamagedDatabase = texts.Rule(Rule{Name: "damaged-database", Family: "store", Impact: Blocks, Fix: NoFix, Home: true})
	IndexMissing    = texts.Rule(Rule{Name: "index-missing", Family: "store", Impact: Notes, Fix: NoFix, Home: true})
	IndexStale      = texts.Rule(Rule{Name: "index-stale", Family: "store", Impact: Notes, Fix: NoFix, Home: true})
	DuplicateThread = texts.Rule(Rule{Name: "duplicate-thread", Family: "store", Impact: Notes, Fix: NoFix, Home: true})
	BrokenLineage   = texts.Rule(Rule{Name: "broken-lineage", Family: "store", Impact: Blocks, Fix: NoFix, Home: true})
	InUse           = texts.Rule(Rule{Name: "in-use", Family: "store", Impact: Notes, Fix: NoFix, Home: true})
	// StoreRules are the rules about what lies beside a session.
	StoreRules = []*Rule{
		ProjectionStale, LostRecords, DamagedDatabase, IndexMissing, IndexStale, DuplicateThread, BrokenLineage, check.ContextLost, check.Repaired, InUse,
	}
)
