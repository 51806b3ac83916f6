package plan

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Run addresses one run below an output store:
//
//	runs/RUN/plan.json                                         what was planned
//	runs/RUN/plan/part-00003-of-00100.jsonl.zst                the objects of a shard
//	runs/RUN/done/part-00003-of-00100.json                     a shard has been linted
//	sessions/day=D/run=RUN/part-00003-of-00100.parquet         a row a session
//	findings/day=D/run=RUN/part-00003-of-00100.parquet         a row a finding
//	repairs/day=D/run=RUN/part-00003-of-00100.jsonl            what repair did
//	undone/day=D/run=RUN/part-00003-of-00100.jsonl             what was taken back of that
type Run struct {
	Out string // the output store's address
	ID  string
}

var runID = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z$`)

// NewRunID names a run for the second in which it was planned. Names sort by time.
func NewRunID(now time.Time) string { return now.UTC().Format("2006-01-02T15-04-05Z") }

// ParseRun reads a run's address, OUT/runs/RUN; ok is false if it is none.
func ParseRun(address string) (run Run, ok bool) {
	trimmed := strings.TrimRight(address, "/")
	i := strings.LastIndex(trimmed, "/runs/")
	if i < 0 || !runID.MatchString(trimmed[i+len("/runs/"):]) {
		return Run{}, false
	}
	return Run{trimmed[:i], trimmed[i+len("/runs/"):]}, true
}

// String is the run's address.
func (r Run) String() string { return strings.TrimRight(r.Out, "/") + "/runs/" + r.ID }

func (r Run) day() string { return r.ID[:len("2006-01-02")] }

func partName(shard, shards int) string { return fmt.Sprintf("part-%05d-of-%05d", shard, shards) }

// PlanKey is where the plan lies.
func (r Run) PlanKey() string { return "runs/" + r.ID + "/plan.json" }

// PartKey is where the objects of a shard are listed.
func (r Run) PartKey(shard, shards int) string {
	return "runs/" + r.ID + "/plan/" + partName(shard, shards) + ".jsonl.zst"
}

// DoneKey is what a shard that has been linted leaves.
func (r Run) DoneKey(shard, shards int) string {
	return "runs/" + r.ID + "/done/" + partName(shard, shards) + ".json"
}

// SessionsKey is where the session rows of a shard go.
func (r Run) SessionsKey(shard, shards int) string {
	return r.rows("sessions", shard, shards) + ".parquet"
}

// FindingsKey is where the finding rows of a shard go.
func (r Run) FindingsKey(shard, shards int) string {
	return r.rows("findings", shard, shards) + ".parquet"
}

// RepairsKey is where a shard's repairs are told.
func (r Run) RepairsKey(shard, shards int) string { return r.rows("repairs", shard, shards) + ".jsonl" }

// UndoneKey is where it is told which of a shard's repairs were taken back.
func (r Run) UndoneKey(shard, shards int) string { return r.rows("undone", shard, shards) + ".jsonl" }

func (r Run) rows(kind string, shard, shards int) string {
	return kind + "/day=" + r.day() + "/run=" + r.ID + "/" + partName(shard, shards)
}
