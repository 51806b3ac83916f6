package plan

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Run is the address of one run below an output store:
//
//	runs/RUN/plan.json                                         what was planned
//	runs/RUN/plan/part-00003-of-00100.jsonl.zst                the objects of a shard
//	runs/RUN/done/part-00003-of-00100.json                     a shard has been linted
//	sessions/day=D/run=RUN/part-00003-of-00100.parquet         a row per session
//	findings/day=D/run=RUN/part-00003-of-00100.parquet         a row per finding
//	repairs/day=D/run=RUN/part-00003-of-00100.jsonl            what repair did
//	undone/day=D/run=RUN/part-00003-of-00100.jsonl             which of that was undone
type Run struct {
	Out string // the output store's address
	ID  string
}

var runID = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z$`)

// NewRunID names a run after the second in which it was planned. Names sort by time.
func NewRunID(now time.Time) string { return now.UTC().Format("2006-01-02T15-04-05Z") }

// ParseRun reads a run's address, OUT/runs/RUN; ok is false if it is not one.
func ParseRun(address string) (run Run, ok bool) {
	trimmed := strings.TrimRight(address, "/")
	i := strings.LastIndex(trimmed, "/runs/")
	if i < 0 || !runID.MatchString(trimmed[i+len("/runs/"):]) {
		return Run{}, false
	}
	return Run{trimmed[:i], trimmed[i+len("/runs/"):]}, true
}

// String returns the run's address.
func (r Run) String() string { return strings.TrimRight(r.Out, "/") + "/runs/" + r.ID }

func (r Run) day() string { return r.ID[:len("2006-01-02")] }

func partName(shard, shards int) string { return fmt.Sprintf("part-%05d-of-%05d", shard, shards) }

// PlanKey is the key of the plan.
func (r Run) PlanKey() string { return "runs/" + r.ID + "/plan.json" }

// PartKey is the key of the list of a shard's objects.
func (r Run) PartKey(shard, shards int) string {
	return "runs/" + r.ID + "/plan/" + partName(shard, shards) + ".jsonl.zst"
}

// DoneKey is the key of what a shard writes when it has been linted.
func (r Run) DoneKey(shard, shards int) string {
	return "runs/" + r.ID + "/done/" + partName(shard, shards) + ".json"
}

// SessionsKey is the key of a shard's session rows.
func (r Run) SessionsKey(shard, shards int) string {
	return r.rows("sessions", shard, shards) + ".parquet"
}

// FindingsKey is the key of a shard's finding rows.
func (r Run) FindingsKey(shard, shards int) string {
	return r.rows("findings", shard, shards) + ".parquet"
}

// RepairsKey is the key of the report on a shard's repairs.
func (r Run) RepairsKey(shard, shards int) string { return r.rows("repairs", shard, shards) + ".jsonl" }

// UndoneKey is the key of the report on which of a shard's repairs were undone.
func (r Run) UndoneKey(shard, shards int) string { return r.rows("undone", shard, shards) + ".jsonl" }

func (r Run) rows(kind string, shard, shards int) string {
	return kind + "/day=" + r.day() + "/run=" + r.ID + "/" + partName(shard, shards)
}
