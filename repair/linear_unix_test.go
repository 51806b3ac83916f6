//go:build unix

package repair

import (
	"fmt"
	"math"
	"strings"
	"syscall"
	"testing"
	"time"
)

// worst are inputs of n records each, the worst that is known for a family of rules.
var worst = map[string]func(n int) string{
	"calls without output":      func(n int) string { return each(n, probeCall) },
	"outputs without call":      func(n int) string { return each(n, probeOutput) },
	"outputs before their call": func(n int) string { return each(n, probeOutput) + each(n, probeCall) },
	"outputs of other calls":    func(n int) string { return each(n, probeCall) + strings.Repeat(fmt.Sprintf(probeOutput, 0), n) },
	"calls twice":               func(n int) string { return each(n, probeCall) + each(n, probeCall) },
	"outputs of another kind": func(n int) string {
		return each(n, probeCall) + each(n, strings.ReplaceAll(probeOutput, "function_call_output", "custom_tool_call_output"))
	},
	"outputs only in events": func(n int) string { return each(n, probeCall) + each(n, probeEvent) },
	"calls only in events":   func(n int) string { return each(n, probeEvent) + each(n, probeOutput) },
	"a compaction of open calls": func(n int) string {
		return each(n, probeCall) + `{"timestamp":"2026-11-18T09:30:02.000Z","type":"compacted","payload":{"message":"","replacement_history":[` +
			strings.TrimSuffix(each(n, `{"type":"function_call_output","call_id":"c%d","output":"ok"},`), ",") + "]}}\n"
	},
	"items with one id":    func(n int) string { return strings.Repeat(fmt.Sprintf(probeMessage, 1), n) },
	"items of wrong id":    func(n int) string { return each(n, strings.ReplaceAll(probeMessage, "msg_", "fc_")) },
	"turns that never end": func(n int) string { return each(n, probeTurn) },
	"headers":              func(n int) string { return strings.Repeat(probeHeader, n) },
	"ordinals that go back": func(n int) string {
		return each(n, `{"timestamp":"2026-11-18T09:30:01.000Z","ordinal":1,"type":"event_msg","payload":{"type":"warning","message":"%d"}}`+"\n")
	},
	"a member twice": func(n int) string {
		return each(n, `{"timestamp":"2026-11-18T09:30:01.000Z","type":"event_msg","payload":{"type":"warning","type":"warning","message":"%d"}}`+"\n")
	},
	"torn calls": func(n int) string {
		return each(n, strings.TrimSuffix(probeCall, "\"}}\n")+"\n") + each(n, probeOutput)
	},
	"dead lines":          func(n int) string { return strings.Repeat("1\nx\n", n) },
	"dead lines apart":    func(n int) string { return each(n, "garbage\n"+probeTurnEnd) },
	"records on one line": func(n int) string { return strings.ReplaceAll(each(n, probeOutput), "\n", "") + "\n" },
	"prompts only in events": func(n int) string {
		return each(n, "garbage\n"+`{"timestamp":"2026-11-18T09:30:01.000Z","type":"event_msg","payload":{"type":"user_message","message":"prompt %d","images":[]}}`+"\n")
	},
}

const (
	probeHeader  = `{"timestamp":"2026-11-18T09:30:00.000Z","ordinal":0,"type":"session_meta","payload":{"id":"01a1edfd-e191-74b0-9003-79b97f4a7c15","timestamp":"2026-11-18T09:30:00.000Z","cwd":"/home/dev","originator":"codex_exec","cli_version":"0.169.0","source":"exec","model_provider":"openai"%s}}` + "\n"
	probeCall    = `{"timestamp":"2026-11-18T09:30:01.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"c%d"}}` + "\n"
	probeOutput  = `{"timestamp":"2026-11-18T09:30:01.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c%d","output":"ok"}}` + "\n"
	probeEvent   = `{"timestamp":"2026-11-18T09:30:01.000Z","type":"event_msg","payload":{"type":"exec_command_end","call_id":"c%d","command":["ls"],"aggregated_output":"ok","exit_code":0}}` + "\n"
	probeMessage = `{"timestamp":"2026-11-18T09:30:01.000Z","type":"response_item","payload":{"type":"message","role":"assistant","id":"msg_%d","content":[{"type":"output_text","text":"x"}]}}` + "\n"
	probeTurn    = `{"timestamp":"2026-11-18T09:30:01.000Z","type":"event_msg","payload":{"type":"task_started","turn_id":"t%d"}}` + "\n"
	probeTurnEnd = `{"timestamp":"2026-11-18T09:30:01.000Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"t%d"}}` + "\n"
)

func each(n int, record string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Replace(record, "%d", fmt.Sprint(i), 1))
	}
	return b.String()
}

// cpu is the time in which this process has had a processor.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) //nolint:errcheck // it does not fail for ourselves
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestLinear repairs the worst input of each family, and one four times as long.
func TestLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	for name, input := range worst {
		for _, mode := range []string{"", `,"history_mode":"paginated"`} {
			t.Run(name+mode, func(t *testing.T) {
				header := fmt.Sprintf(probeHeader, mode)
				linear(t, func(n int) []byte { return []byte(header + strings.ReplaceAll(input(n), "%s", mode)) })
			})
		}
	}
}

// linear fails where the repair of an input four times as long is more than four times the work. What is compared is
// processor time, the least of several runs: a busy machine lengthens some of them, not all. Linear work takes four times as
// long, quadratic work sixteen times; the bound is 2.4 for each doubling, and it must be passed in every one of several tries.
func linear(t *testing.T, input func(n int) []byte) {
	t.Helper()
	const small, bound, tries = 3000, 2.4 * 2.4, 10
	cost := func(text []byte) time.Duration {
		from := cpu()
		if _, _, err := repairText(text, "", Choice{}); err != nil {
			t.Fatal(err)
		}
		return cpu() - from
	}
	texts := [2][]byte{input(small), input(4 * small)}
	least := [2]time.Duration{math.MaxInt64, math.MaxInt64}
	ratio := math.MaxFloat64
	for try := 0; try < tries && ratio > bound; try++ {
		for i, text := range texts {
			least[i] = min(least[i], cost(text))
		}
		ratio = float64(least[1]) / float64(least[0])
	}
	t.Logf("%.2f times the work for four times the input", ratio)
	if ratio > bound {
		t.Errorf("%.1f times the work for four times the input", ratio)
	}
}
