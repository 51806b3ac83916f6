package clienttest

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Scenario is a session to record: how it is played, and on which other
// scenario's session it carries on, if it does.
type Scenario struct {
	Name  string
	After string // the scenario that is played before, in the same home
	Play  func(ctx context.Context, h *Home, id string) Result
	OK    bool   // the client is expected to exit with 0
	Since string // the first version that has what it needs; empty: all have
}

// Summary is the text that a compaction is answered with.
const Summary = "Summary of the work so far."

const (
	listFiles = "list the files please"
	goOn      = "please go on"
	// compactAt is the token count at which the client compacts, and
	// compactTokens a usage above it.
	compactAt, compactTokens = 2000, 3000
)

// Scenarios lists all that can be recorded.
func Scenarios() []Scenario {
	one := Reply{Items: []Item{Shell("fc_1", "call_1", "echo one")}}
	done := Reply{Items: []Item{Message("msg_1", "All done.")}}
	cut := Reply{Kind: Cut}
	overloaded := Reply{Kind: Failed, Code: "server_is_overloaded", Message: "Our servers are currently overloaded. Please try again later."}
	broken := Reply{Kind: HTTPError, Status: 500, Body: `{"error":{"message":"internal error","type":"server_error"}}`}
	carryOn := []Reply{
		{Items: []Item{Shell("fc_7", "call_7", "echo seven")}},
		{Items: []Item{Message("msg_2", "Carried on.")}},
	}
	play := func(replies ...Reply) func(context.Context, *Home, string) Result {
		return func(ctx context.Context, h *Home, _ string) Result {
			h.Server.Queue(replies...)
			return h.Exec(ctx, listFiles)
		}
	}
	resumed := func(ctx context.Context, h *Home, id string) Result {
		h.Server.Queue(carryOn...)
		return h.Resume(ctx, id, goOn)
	}
	return append([]Scenario{
		{Name: "clean", OK: true, Play: play(
			Reply{Items: []Item{Reasoning("rs_1", "Thinking it over"), Shell("fc_1", "call_1", `printf 'alpha\nbeta\n'`)}},
			Reply{Items: []Item{Patch("ctc_1", "call_p1", "note.txt")}},
			Reply{Items: []Item{Shell("fc_2", "call_2", "echo two"), Shell("fc_3", "call_3", "echo three")}},
			done,
		)},
		{Name: "cut_after_custom", Play: play(one, Reply{Kind: Cut, Items: []Item{Patch("ctc_1", "call_p1", "note.txt")}}, cut)},
		{Name: "cut_after_function", OK: true, Play: play(one, Reply{Kind: Cut, Items: []Item{Shell("fc_2", "call_2", "echo two")}}, done)},
		{Name: "cut_then_ok", OK: true, Play: play(one, Reply{Kind: Cut, Items: []Item{Patch("ctc_2", "call_p2", "note.txt")}}, done)},
		{Name: "capacity", Play: play(one, overloaded, overloaded)},
		{Name: "capacity_resumed0", After: "capacity", OK: true, Play: resumed},
		{Name: "http_500", Play: play(one, broken, broken)},
		{Name: "kill_in_tool", Play: func(ctx context.Context, h *Home, _ string) Result {
			h.Server.Queue(one, Reply{Items: []Item{Shell("fc_2", "call_2", "sleep 30; echo two"), Patch("ctc_3", "call_p3", "note.txt")}})
			return h.ExecKill(ctx, listFiles, OnDisk(time.Second, `"call_2"`, `"call_p3"`))
		}},
		{Name: "kill_in_tool_resumed0", After: "kill_in_tool", OK: true, Play: resumed},
		{Name: "kill_in_stream", Play: func(ctx context.Context, h *Home, _ string) Result {
			h.Server.Queue(one, Reply{Kind: Held, Items: []Item{Message("msg_1", "half an answer")}})
			return h.ExecKill(ctx, listFiles, OnDisk(time.Second, "half an answer"))
		}},
		{Name: "sigint", Play: func(ctx context.Context, h *Home, _ string) Result {
			h.Server.Queue(one, Reply{Items: []Item{Shell("fc_2", "call_2", "sleep 20; echo two")}})
			return h.ExecInterrupt(ctx, "list the files", OnDisk(3*time.Second, `"call_2"`))
		}},
		{Name: "compact", OK: true, Play: playCompact},
	}, toolScenarios()...)
}

// For says whether a client has what the scenario needs.
func (s Scenario) For(version string) bool { return s.Since == "" || !versionLess(version, s.Since) }

// playCompact has the second turn begin above the limit, so that the client
// asks for a summary first.
func playCompact(ctx context.Context, h *Home, _ string) Result {
	filler := strings.Repeat("x", 200)
	h.Config = append(h.Config, fmt.Sprintf("model_auto_compact_token_limit=%d", compactAt))
	defer func() { h.Config = h.Config[:len(h.Config)-1] }()
	h.Server.Queue(
		Reply{Items: []Item{Shell("fc_1", "call_1", "seq 1 400")}},
		Reply{Items: []Item{Message("msg_1", "Counted. "+filler)}, Tokens: compactTokens},
	)
	first := h.Exec(ctx, "count "+filler)
	if first.Err != nil || first.ExitCode != 0 || first.Rollout == "" {
		return first
	}
	id, err := SessionID(first.Rollout)
	if err != nil {
		first.Err = err
		return first
	}
	h.Server.Queue(
		Reply{Items: []Item{Message("msg_3", Summary)}},
		Reply{Items: []Item{Message("msg_4", "After compaction.")}},
	)
	return h.Resume(ctx, id, "more "+filler)
}

// Record plays a scenario, and those before it, in a fresh home.
func Record(ctx context.Context, h *Home, name string) (Result, error) {
	for _, s := range Scenarios() {
		if s.Name != name {
			continue
		}
		id := ""
		if s.After != "" {
			before, err := Record(ctx, h, s.After)
			if err != nil {
				return before, err
			}
			if id, err = SessionID(before.Rollout); err != nil {
				return before, err
			}
		}
		h.Server.Reset() // what a client before did not ask for
		res := s.Play(ctx, h, id)
		switch {
		case res.Err != nil:
			return res, fmt.Errorf("%s: %w", name, res.Err)
		case res.TimedOut:
			return res, fmt.Errorf("%s: no end after %v: %s", name, Deadline, res.Stderr)
		case res.Rollout == "":
			return res, fmt.Errorf("%s: no session was written: %s", name, res.Stderr)
		case s.OK && res.ExitCode != 0:
			return res, fmt.Errorf("%s: exit %d: %s", name, res.ExitCode, res.Stderr)
		}
		return res, nil
	}
	return Result{}, fmt.Errorf("no scenario %q", name)
}
