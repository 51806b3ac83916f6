package walk

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// Shard is one of Count equal parts of the work of tasks that know nothing of each other but their numbers. To start, count or retry them is
// a scheduler's.
type Shard struct {
	Index int // 0-based
	Count int
}

// WholeShard is the only shard of work that is not divided.
var WholeShard = Shard{Index: 0, Count: 1}

// String returns the shard in the form that Parse reads.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// maxCount keeps a mistyped number from making a million empty shards.
const maxCount = 1_000_000

// scheduler is a batch scheduler that numbers the tasks of one job, from 0.
type scheduler struct {
	name  string
	index string // the variable that holds a task's number
	count string // the variable that holds the number of tasks, "" if there is none that is always right
}

// Slurm's own count is not used: a task that is submitted again alone (--array=7) keeps its number, but not the count.
var schedulers = []scheduler{
	{"Kubernetes Indexed Job", "JOB_COMPLETION_INDEX", ""},
	{"AWS Batch array job", "AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE"},
	{"Slurm array", "SLURM_ARRAY_TASK_ID", ""},
	{"Cloud Run job", "CLOUD_RUN_TASK_INDEX", "CLOUD_RUN_TASK_COUNT"},
}

// ParseShard reads "I/N", I from 0 to N-1, or "auto/N", which takes I from the scheduler that has set its variable in the
// environment. getenv is os.Getenv, or a test's.
func ParseShard(text string, getenv func(string) string) (Shard, error) {
	index, count, ok := strings.Cut(text, "/")
	n, err := strconv.Atoi(count)
	if !ok || err != nil || n < 1 || n > maxCount {
		return Shard{}, fmt.Errorf("shard %q: want I/N, such as 0/10 for the first of ten, or auto/N", text)
	}
	if index == "auto" {
		return fromScheduler(n, getenv)
	}
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= n {
		return Shard{}, fmt.Errorf("shard %q: the shards of %d are 0/%d to %d/%d", text, n, n, n-1, n)
	}
	return Shard{i, n}, nil
}

// fromScheduler finds the number that a scheduler gave this task. It is an error if two schedulers disagree, because one
// shard would be done twice and another never.
func fromScheduler(n int, getenv func(string) string) (Shard, error) {
	found, by := -1, ""
	for _, s := range schedulers {
		value := getenv(s.index)
		if value == "" {
			continue
		}
		i, err := strconv.Atoi(value)
		if err != nil || i < 0 {
			return Shard{}, fmt.Errorf("shard auto/%d: %s is %q, which is not a task number", n, s.index, value)
		}
		if i >= n {
			return Shard{}, fmt.Errorf("shard auto/%d: %s is %d, but the shards of %d are 0 to %d; number the tasks of the %s from 0", n, s.index, i, n, n-1, s.name)
		}
		if count := getenv(s.count); s.count != "" && count != "" && count != strconv.Itoa(n) {
			return Shard{}, fmt.Errorf("shard auto/%d: the %s has %s tasks (%s), so some shards would be left out or done twice", n, s.name, count, s.count)
		}
		if found >= 0 && found != i {
			return Shard{}, fmt.Errorf("shard auto/%d: %s says task %d, but the %s says %d; name the shard as I/%d", n, by, found, s.name, i, n)
		}
		found, by = i, s.name
	}
	if found < 0 {
		return Shard{}, fmt.Errorf("shard auto/%d: no scheduler has numbered this task (looked for %s); name the shard as I/%d", n, variables(), n)
	}
	return Shard{found, n}, nil
}

func variables() string {
	var names []string
	for _, s := range schedulers {
		names = append(names, s.index)
	}
	return strings.Join(names, ", ")
}

// Owns says whether a name belongs to this shard. Each name belongs to exactly one shard, the same on every machine and in
// every run.
func (s Shard) Owns(name string) bool {
	h := fnv.New64a()
	h.Write([]byte(name)) //nolint:errcheck // it never fails
	return int(h.Sum64()%uint64(s.Count)) == s.Index
}
