package lint

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
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
	from, to := io.Pipe()
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what pools hold outlives one
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	live := -inUse() // what other tests have left
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
	if err != nil || res.Summary.Agent != "claude" || res.Summary.Bytes < outputs*long {
		t.Fatalf("%v, %+v", err, res)
	}
	if live > most {
		t.Errorf("%d MiB are in use after %d MiB of outputs", live>>20, outputs*long>>20)
	}
}
