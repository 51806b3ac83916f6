package walk

import (
	"fmt"
	"strings"
	"testing"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		text string
		env  func(string) string
		want string // the shard, or words of the error
	}{
		{"0/1", env(), "0/1"},
		{"3/100", env("JOB_COMPLETION_INDEX", "7"), "3/100"},
		{"100/100", env(), "0/100 to 99/100"},
		{"-1/4", env(), "0/4 to 3/4"},
		{"1", env(), "want I/N"},
		{"1/0", env(), "want I/N"},
		{"1/9999999", env(), "want I/N"},
		{"a/4", env(), "0/4 to 3/4"},
		{"auto/10", env("JOB_COMPLETION_INDEX", "7"), "7/10"},
		{"auto/10", env("AWS_BATCH_JOB_ARRAY_INDEX", "0", "AWS_BATCH_JOB_ARRAY_SIZE", "10"), "0/10"},
		{"auto/10", env("AWS_BATCH_JOB_ARRAY_INDEX", "0", "AWS_BATCH_JOB_ARRAY_SIZE", "20"), "has 20 tasks"},
		{"auto/10", env("SLURM_ARRAY_TASK_ID", "9", "SLURM_ARRAY_TASK_COUNT", "1"), "9/10"},
		{"auto/10", env("SLURM_ARRAY_TASK_ID", "10"), "from 0"},
		{"auto/10", env("CLOUD_RUN_TASK_INDEX", "4", "CLOUD_RUN_TASK_COUNT", "10"), "4/10"},
		{"auto/10", env("CLOUD_RUN_TASK_INDEX", "x"), "not a task number"},
		{"auto/10", env("CLOUD_RUN_TASK_INDEX", "4", "JOB_COMPLETION_INDEX", "5"), "says 4"},
		{"auto/10", env(), "no scheduler has numbered this task"},
	} {
		got, err := ParseShard(tc.text, tc.env)
		if err != nil {
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want %s", tc.text, err, tc.want)
			}
			continue
		}
		if got.String() != tc.want {
			t.Errorf("%s: %v, want %s", tc.text, got, tc.want)
		}
	}
}

// TestShardsAreTheWhole: every name has exactly one owner, and no shard is empty or has much more than its part.
func TestShardsAreTheWhole(t *testing.T) {
	const shards, names = 16, 16_000
	var owned [shards]int
	for n := range names {
		name := fmt.Sprintf("sessions/2026/11/%02d/rollout-%06d.jsonl", n%30, n)
		owners := 0
		for i := range shards {
			if (Shard{i, shards}).Owns(name) {
				owned[i]++
				owners++
			}
		}
		if owners != 1 {
			t.Fatalf("%s has %d owners", name, owners)
		}
	}
	for i, n := range owned {
		if n < names/shards/2 || n > names/shards*2 {
			t.Errorf("shard %d owns %d of %d names", i, n, names)
		}
	}
}
