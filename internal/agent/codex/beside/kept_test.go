package beside

import (
	"fmt"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/check"
)

// TestApart takes from the log only what no copy has between the same two items: the log knows no more of a place than that, so what it
// tells of there may be what the copy has.
func TestApart(t *testing.T) {
	call := codex.CallRecord(time.Unix(0, 0), "function_call", "call_1", "exec_command", "{}")
	turn := codex.NewTurnStarted(codex.KeptPlace{Turn: "t", At: time.Unix(0, 0), Ordinal: -1})
	for _, c := range []struct {
		name           string
		copied, logged int // behind which records
		line           []byte
		want           string
	}{
		{"another place between the same items", 6, 4, call, "[6]"},
		{"the same place", 6, 6, call, "[6]"},
		{"between other items", 6, 9, call, "[6 9]"},
		{"the copy has no item there", 6, 4, turn, "[6 4]"},
		{"in front of the newest compaction", 1, 0, call, "[1 0]"},
	} {
		b := &sources{copies: newCopies("", "", home.FileName{}, nil, nil), sent: newSent()}
		b.sent.behind, b.sent.items = 2, []sentItem{{record: 3}, {record: 7}}
		var got []int
		for _, l := range b.apart([]check.Lost{{Behind: c.copied, Line: c.line}}, []check.Lost{{Behind: c.logged, Line: call}}) {
			got = append(got, l.Behind)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: behind %v, want %s", c.name, got, c.want)
		}
	}
}
