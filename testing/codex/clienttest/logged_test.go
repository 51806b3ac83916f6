package clienttest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/agent/codex/beside"
	"github.com/hist-cli/hist/repair"
)

// What a client of 0.110 to 0.145 logs of its requests as a server is enough to send the whole history again, after a cut in
// the first of two turns, and so if the second begins with a compaction.
func TestRepairFromTheLog(t *testing.T) {
	for _, compacts := range []bool{false, true} {
		t.Run(fmt.Sprintf("compacts %v", compacts), func(t *testing.T) { testRepairFromTheLog(t, compacts) })
	}
}

func testRepairFromTheLog(t *testing.T, compacts bool) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	clientsSince(t, "0.110.0", func(t *testing.T, bin Binary) {
		if !versionLess(bin.Version, "0.148.0") {
			return // it logs no request
		}
		h := newHome(t, bin)
		h.Config = append(h.Config, fmt.Sprintf("model_auto_compact_token_limit=%d", compactAt))
		last := "All done."
		turns := []servedTurn{
			{listFiles, []Reply{unhurried(Reasoning("rs_1", "Looking around"), Message("msg_1", "I look first."), Shell("fc_1", "call_1", "echo one")), unhurried(Message("msg_2", "One is done."))}},
			{listFiles, []Reply{unhurried(Shell("fc_2", "call_2", "echo two"), Patch("ctc_3", "call_3", "note.txt")), unhurried(Message("msg_3", last))}},
		}
		if compacts {
			turns[0].replies[1].Tokens = compactTokens
			turns[1].replies = append([]Reply{unhurried(Message("msg_sum", Summary))}, turns[1].replies...)
		}
		id, path := served(t, h, turns, func(id string) bool { return logged(t, h, id, last) })
		whole := readAll(t, path)
		clean := Input(sent(t, h, id).Requests[0].Body)
		damaged := whole[:strings.Index(whole, `"call_1"`)]
		write := func() {
			if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write()
		before := Compare(clean, Input(sent(t, h, id).Requests[0].Body))
		write()
		if rep := repairFile(t, h, path, repair.InPlace); rep.Unrepaired() {
			t.Errorf("%+v", rep)
		}
		lintClean(t, path)
		after := Compare(clean, Input(sent(t, h, id).Requests[0].Body))
		t.Logf("of %d items %d are sent before the repair, %d after it", before.Clean, before.Sent, after.Sent)
		if before.Sent >= after.Sent || after.Sent != after.Clean || !after.OrderKept || len(after.Extra) > 0 {
			t.Errorf("before %+v, after %+v", before, after)
		}
	})
}

// servedTurn is a prompt and what the model answers.
type servedTurn struct {
	prompt  string
	replies []Reply
}

// served has the client hold a conversation as a server, which it ends once its log is written.
func served(t *testing.T, h *Home, turns []servedTurn, written func(id string) bool) (id, path string) {
	t.Helper()
	app, err := h.App(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if id, path, err = app.Thread(t.Context(), "thread/start", ""); err != nil {
		t.Fatal(err)
	}
	for _, turn := range turns {
		h.Server.Queue(turn.replies...)
		if err := app.Turn(t.Context(), id, turn.prompt); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(Deadline); !written(id); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the client has not logged its last turn")
		}
	}
	if err := app.Close(); err != nil {
		t.Fatal(err)
	}
	return id, path
}

// logged says whether the client has logged an answer to its newest request.
func logged(t *testing.T, h *Home, thread, answer string) (found bool) {
	t.Helper()
	err := beside.LoggedRequests(t.Context(), h.Codex, thread, func(sent beside.LogRow) bool {
		err := beside.LoggedAnswers(t.Context(), h.Codex, thread, sent, func(got beside.LogRow) bool {
			found = found || strings.Contains(string(codex.AnswerFromLog(got.Text)), answer)
			return !found
		})
		if err != nil {
			t.Fatal(err)
		}
		return false
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
