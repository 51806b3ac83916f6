package rules

import (
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
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

// Lost: see callChecker's.
func (c *turnChecker) Lost(rec *session.Record) { c.Record(rec) }
