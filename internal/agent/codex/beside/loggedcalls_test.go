package beside

import (
	"slices"
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
