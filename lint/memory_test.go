package lint

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/check"
)

// TestContentIsNotKept lints outputs of tools that are long: what stays in memory of each is little.
func TestContentIsNotKept(t *testing.T) {
	const outputs, long, most = 48, 1 << 20, 24 << 20
	session := func(yield func(string) bool) {
		const tail = `,"timestamp":"2026-11-21T22:04:%02d.000Z","cwd":"/home/dev/demo","sessionId":"806f6de1-f333-49d0-b658-f081c930260f","version":"2.1.330"}` + "\n"
		parent := "null"
		record := func(n int, typ, message string) bool {
			uuid := fmt.Sprintf("9b6a3805-8315-4f97-b1e1-7d0923%06d", n)
			line := fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"message":%s,"uuid":%q`+tail, parent, typ, message, uuid, n/2)
			parent = `"` + uuid + `"`
			return yield(line)
		}
		if !record(0, "user", `{"role":"user","content":"list files please"}`) {
			return
		}
		for n := range outputs {
			call := fmt.Sprintf(`{"id":"msg_%03d","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"tool_use","id":"toolu_%03d","name":"Bash","input":{"command":"ls"}}]}`, n, n)
			output := fmt.Sprintf(`{"role":"user","content":[{"tool_use_id":"toolu_%03d","type":"tool_result","content":"%s"}]}`, n, strings.Repeat("x", long))
			if !record(2*n+1, "assistant", call) || !record(2*n+2, "user", output) {
				return
			}
		}
	}
	res, live := inUseAfter(t, session)
	if res.Summary.Agent != "claude" || res.Summary.Bytes < outputs*long {
		t.Fatalf("%+v", res)
	}
	if live > most {
		t.Errorf("%d MiB are in use after %d MiB of outputs", live>>20, outputs*long>>20)
	}
}

// TestAnsweredScriptsAreNotKept lints turns of scripts that are long and answered, but for one in each: that one keeps none of the others.
func TestAnsweredScriptsAreNotKept(t *testing.T) {
	const turns, answered, long, most = 150, 7, 60 << 10, 16 << 20
	text := strings.Repeat("x = 1; ", long/len("x = 1; "))
	session := func(yield func(string) bool) {
		n := 0
		record := func(typ, payload string) bool {
			line := fmt.Sprintf(`{"timestamp":"2026-11-21T22:%02d:%02d.%03dZ","ordinal":%d,"type":%q,"payload":%s}`+"\n", n/60000%60, n/1000%60, n%1000, n, typ, payload)
			n++
			return yield(line)
		}
		if !record("session_meta", `{"id":"019a9d3c-5c4b-7a00-8000-000000000001","timestamp":"2026-11-21T22:00:00.000Z","cwd":"/home/dev/demo","originator":"codex_cli_rs","cli_version":"0.169.0","source":"cli","model_provider":"openai","history_mode":"paginated"}`) {
			return
		}
		for turn := range turns {
			for i := range answered + 1 {
				id := fmt.Sprintf("call_%d_%d", turn, i)
				if !record("response_item", fmt.Sprintf(`{"type":"custom_tool_call","status":"completed","call_id":%q,"name":"exec","input":%q}`, id, text)) {
					return
				}
				if i < answered && !record("response_item", fmt.Sprintf(`{"type":"custom_tool_call_output","call_id":%q,"output":"done"}`, id)) {
					return
				}
			}
		}
	}
	res, live := inUseAfter(t, session)
	if res.Summary.Agent != "codex" || res.Summary.Bytes < turns*answered*long || len(res.Findings) < turns {
		t.Fatalf("%+v, %d findings", res.Summary, len(res.Findings))
	}
	if live > most {
		t.Errorf("%d MiB are in use after %d MiB of scripts, of which one in %d has no output", live>>20, res.Summary.Bytes>>20, answered+1)
	}
}

// inUseAfter lints a session, and says how much more memory is in use when all of it has been read than before.
func inUseAfter(t *testing.T, session func(yield func(string) bool)) (res *Result, live int64) {
	t.Helper()
	from, to := io.Pipe()
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what pools hold outlives one
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	live = -inUse() // what other tests have left
	go func() {
		defer to.Close()
		for line := range session {
			if _, err := io.WriteString(to, line); err != nil {
				return
			}
		}
		live += inUse()
	}()
	res, err := Session(context.Background(), from, Options{Processors: 1})
	if err != nil {
		t.Fatal(err)
	}
	return res, live
}

// TestManyUnanswered lints an answer with more calls without an output than findings of a rule are listed: a repair mends those beyond, too,
// but what mends them is not written before.
func TestManyUnanswered(t *testing.T) {
	record := func(typ, id, parent, message string) string {
		return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"message":%s,"uuid":%q,"timestamp":"2026-11-01T00:0%s:00.000Z","sessionId":"s","version":"2.1.2"}`+"\n", parent, typ, message, id, id[1:])
	}
	said := func(id, content string) string {
		return `{"id":"msg_` + id + `","role":"assistant","model":"claude-opus-5-5","content":[` + content + `],"stop_reason":"end_turn"}`
	}
	for name, behind := range map[string]string{
		"the session goes on": record("user", "u3", `"a2"`, `{"role":"user","content":"and?"}`) + record("assistant", "a4", `"u3"`, said("2", `{"type":"text","text":"Done."}`)),
		"the session ends":    "",
	} {
		t.Run(name, func(t *testing.T) {
			lint := func(calls int) (res *Result, allocated uint64) {
				var blocks []string
				for k := range calls {
					blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{}}`, k))
				}
				text := record("user", "u1", "null", `{"role":"user","content":"go"}`) + record("assistant", "a2", `"u1"`, said("1", strings.Join(blocks, ","))) + behind
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				res, err := Session(t.Context(), strings.NewReader(text), Options{Processors: 1})
				runtime.ReadMemStats(&after)
				if err != nil {
					t.Fatal(err)
				}
				return res, after.TotalAlloc - before.TotalAlloc
			}
			_, listed := lint(check.MaxOfRule)
			res, all := lint(2 * check.MaxOfRule)
			last := res.Findings[len(res.Findings)-1]
			if len(res.Findings) != check.MaxOfRule+1 || last.Count != check.MaxOfRule || last.Fix == NoFix || len(res.Findings[check.MaxOfRule-1].Edits) == 0 {
				t.Errorf("%d findings, the last counts %d: %s", len(res.Findings), last.Count, last.Message)
			}
			if all > listed*3/2 {
				t.Errorf("%d MiB for %d calls, %d MiB for twice as many", listed>>20, check.MaxOfRule, all>>20)
			}
		})
	}
}
