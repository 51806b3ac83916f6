package repair

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// worst are inputs of n records each, the worst that is known for a family of rules.
var worst = map[string]func(n int) string{
	"calls without output":      func(n int) string { return each(n, probeCall) },
	"outputs without call":      func(n int) string { return each(n, probeOutput) },
	"outputs before their call": func(n int) string { return each(n, probeOutput) + each(n, probeCall) },
	"outputs of other calls":    func(n int) string { return each(n, probeCall) + strings.Repeat(fmt.Sprintf(probeOutput, 0), n) },
	"calls without ids": func(n int) string {
		return strings.ReplaceAll(each(n, probeCall)+each(n, probeOutput), `,"call_id":"c`, `,"was":"c`)
	},
	"calls without ids, and outputs of later ones": func(n int) string {
		return strings.ReplaceAll(each(n, probeCall), `,"call_id":"c`, `,"was":"c`) + each(n, probeOutput) + each(n, probeCall)
	},
	"calls twice": func(n int) string { return each(n, probeCall) + each(n, probeCall) },
	"outputs of another kind": func(n int) string {
		return each(n, probeCall) + each(n, strings.ReplaceAll(probeOutput, "function_call_output", "custom_tool_call_output"))
	},
	"outputs only in events": func(n int) string { return each(n, probeCall) + each(n, probeEvent) },
	"calls only in events":   func(n int) string { return each(n, probeEvent) + each(n, probeOutput) },
	"a compaction of open calls": func(n int) string {
		return each(n, probeCall) + `{"timestamp":"2026-11-18T09:30:02.000Z","type":"compacted","payload":{"message":"","replacement_history":[` +
			strings.TrimSuffix(each(n, `{"type":"function_call_output","call_id":"c%d","output":"ok"},`), ",") + "]}}\n"
	},
	"a compaction of items that can't be read": func(n int) string {
		return `{"timestamp":"2026-11-18T09:30:02.000Z","type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}` +
			each(n, `,{"type":"message","role":%d}`) + "]}}\n"
	},
	"arguments with a hole": func(n int) string {
		members := each(n, `"k%d":"v",`)
		call := strings.Replace(probeCall, `"{}"`, strconv.Quote("{"+members+`"z":"so`+"\x00\x00"+`e"}`), 1)
		return strings.ReplaceAll(strings.ReplaceAll(call, "exec_command", "mcp__x__y"), `\x00`, "\x00") +
			`{"timestamp":"2026-11-18T09:30:01.000Z","type":"event_msg","payload":{"type":"mcp_tool_call_end","call_id":"c%d","invocation":{"server":"x","tool":"y","arguments":{` + members + `"z":"some"}},"duration":"1s","result":{"Ok":{"content":[]}}}}` + "\n"
	},
	"items with one id":    func(n int) string { return strings.Repeat(fmt.Sprintf(probeMessage, 1), n) },
	"items of wrong id":    func(n int) string { return each(n, strings.ReplaceAll(probeMessage, "msg_", "fc_")) },
	"turns that never end": func(n int) string { return each(n, probeTurn) },
	"headers":              func(n int) string { return strings.Repeat(probeHeader, n) },
	"ordinals that go back": func(n int) string {
		return each(n, `{"timestamp":"2026-11-18T09:30:01.000Z","ordinal":1,"type":"event_msg","payload":{"type":"warning","message":"%d"}}`+"\n")
	},
	"records twice": func(n int) string { return each(n, probeNumbered) + each(n, probeNumbered) },
	"records twice, backward": func(n int) string {
		lines := strings.SplitAfter(strings.TrimSuffix(each(n, probeNumbered), "\n"), "\n")
		slices.Reverse(lines)
		return each(n, probeNumbered) + strings.Join(lines, "") + "\n"
	},
	"records twice on one line": func(n int) string {
		return each(n, probeNumbered) + strings.ReplaceAll(each(n, probeNumbered), "\n", "") + "\n"
	},
	"changed records twice on one line": func(n int) string {
		return each(n, probeNumbered) + strings.ReplaceAll(strings.ReplaceAll(each(n, probeNumbered), "x", "x\x01"), "\n", "") + "\n"
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
	"records that begin in one another": func(n int) string {
		return strings.Repeat(`{"timestamp":"2026-11-18T09:30:01.000Z","type":"response_item","payload":`, n) + "\n"
	},
	"objects in one another, like records": func(n int) string {
		return strings.Repeat(`{"timestamp":"2026-11-18T09:30:01.000Z","x":`, n) + "1" + strings.Repeat("}", n) + "\n"
	},
	"answers behind all their events": func(n int) string {
		return each(n, `{"timestamp":"2026-11-18T09:30:01.000Z","type":"event_msg","payload":{"type":"agent_message","message":"answer %d"}}`+"\n") +
			each(n, strings.Replace(strings.Replace(probeMessage, `"id":"msg_%d",`, "", 1), `"x"`, `"answer %d"`, 1))
	},
	"prompts only in events": func(n int) string {
		return each(n, "garbage\n"+`{"timestamp":"2026-11-18T09:30:01.000Z","type":"event_msg","payload":{"type":"user_message","message":"prompt %d","images":[]}}`+"\n")
	},
}

const (
	probeHeader   = `{"timestamp":"2026-11-18T09:30:00.000Z","ordinal":0,"type":"session_meta","payload":{"id":"01a1edfd-e191-74b0-9003-79b97f4a7c15","timestamp":"2026-11-18T09:30:00.000Z","cwd":"/home/dev","originator":"codex_exec","cli_version":"0.169.0","source":"exec","model_provider":"openai"%s}}` + "\n"
	probeCall     = `{"timestamp":"2026-11-18T09:30:01.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"c%d"}}` + "\n"
	probeOutput   = `{"timestamp":"2026-11-18T09:30:01.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c%d","output":"ok"}}` + "\n"
	probeEvent    = `{"timestamp":"2026-11-18T09:30:01.000Z","type":"event_msg","payload":{"type":"exec_command_end","call_id":"c%d","command":["ls"],"aggregated_output":"ok","exit_code":0}}` + "\n"
	probeNumbered = `{"timestamp":"2026-11-18T09:30:01.000Z","ordinal":%d,"type":"event_msg","payload":{"type":"warning","message":"x"}}` + "\n"
	probeMessage  = `{"timestamp":"2026-11-18T09:30:01.000Z","type":"response_item","payload":{"type":"message","role":"assistant","id":"msg_%d","content":[{"type":"output_text","text":"x"}]}}` + "\n"
	probeTurn     = `{"timestamp":"2026-11-18T09:30:01.000Z","type":"event_msg","payload":{"type":"task_started","turn_id":"t%d"}}` + "\n"
	probeTurnEnd  = `{"timestamp":"2026-11-18T09:30:01.000Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"t%d"}}` + "\n"
)

func each(n int, record string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Replace(record, "%d", fmt.Sprint(i), 1))
	}
	return b.String()
}

// TestLinear repairs the worst input of each family, and one four times as long.
func TestLinear(t *testing.T) {
	hist := countingHist(t)
	for name, input := range worst {
		for _, mode := range []string{"", `,"history_mode":"paginated"`} {
			t.Run(name+mode, func(t *testing.T) {
				hist.linear(t, func(n int) string { return fmt.Sprintf(probeHeader, mode) + strings.ReplaceAll(input(n), "%s", mode) })
			})
		}
	}
}
