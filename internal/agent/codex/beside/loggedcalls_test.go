package beside

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/agent/codex"
)

// TestNamed gives calls the ids that are told with their ends, and none where it is not sure whose an id is.
func TestNamed(t *testing.T) {
	const far = 100
	call := func(ms int) loggedCall {
		return loggedCall{LoggedCall: codex.LoggedCall{Turn: "t", Tool: "exec"}, at: time.UnixMilli(int64(ms))}
	}
	end := func(ms int, id string) loggedCall {
		c := call(ms)
		c.ID = id
		return c
	}
	for _, c := range []struct {
		name        string
		calls, ends []loggedCall
		want        []string
	}{
		{"one after the other", []loggedCall{call(0), call(far)}, []loggedCall{end(1, "a"), end(far+1, "b")}, []string{"a", "b"}},
		{"the second ends first", []loggedCall{call(0), call(far)}, []loggedCall{end(far+1, "b"), end(1, "a")}, []string{"a", "b"}},
		{"both at once", []loggedCall{call(0), call(5)}, []loggedCall{end(1, "a"), end(6, "b")}, []string{"", ""}},
		{"the last has not ended", []loggedCall{call(0), call(far)}, []loggedCall{end(1, "a")}, []string{"a", ""}},
		{"the first has not ended", []loggedCall{call(0), call(far)}, []loggedCall{end(far+1, "b")}, []string{"", ""}},
		{"an end without a call", []loggedCall{call(far)}, []loggedCall{end(1, "a"), end(far+1, "b")}, []string{"b"}},
	} {
		named(c.calls, c.ends)
		var got []string
		for _, call := range c.calls {
			got = append(got, call.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestLoggedCallThatStands: where the log tells no id of the newest call, for it has not ended, and the call's output is torn, the call is not
// put back beside itself.
func TestLoggedCallThatStands(t *testing.T) {
	dir := changedHome(t, "bad-logged-calls", func(sql string) string {
		ends := strings.Index(sql, "  (1795338010, 991000000")
		return strings.TrimSuffix(strings.TrimSpace(sql[:ends]), ",") + ";\n"
	})
	path := onlyFile(t, dir, "sessions/*/*/*/*.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const call, output = 15, 16
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[call] = bytes.Replace(lines[call], []byte("10.900Z"), []byte("10.890Z"), 1) // when the log tells of it
	lines[output] = lines[output][:bytes.Index(lines[output], []byte("12 notes"))+4]
	write(t, nil, path, bytes.Join(lines[:output+1], nil))
	if f := lostRecords(lintOpened(t, openSource(t, path), dir).Findings); f != nil {
		t.Errorf("%+v", f)
	}
}
