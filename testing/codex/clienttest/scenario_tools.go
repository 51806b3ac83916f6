package clienttest

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// unhurried makes a reply take the time that a model takes: what a client does while it waits is part of its sessions.
func unhurried(items ...Item) Reply {
	return Reply{Items: items, Delay: 400 * time.Millisecond, Pause: 150 * time.Millisecond}
}

// toolScenarios have what today's models have: an MCP server, images, commands that go on after their call has
// returned, forks, and code mode, in which scripts call the tools.
func toolScenarios() []Scenario {
	return []Scenario{
		{Name: "tools", Since: "0.145.0", OK: true, Play: playTools(nil)},
		{Name: "tools_killed", Since: "0.145.0", Play: playTools(func(ctx context.Context, h *Home) Result {
			h.Server.Queue(unhurried(Reasoning("rs_8", "Counting again"), Shell("fc_8", "call_8", "echo eight; sleep 30"), callMCP("fc_9", "call_9", "nine", false)))
			return h.ExecKill(ctx, listFiles, OnDisk(1500*time.Millisecond, `"call_8"`, `"call_9"`))
		})},
		{Name: "code", Since: "0.150.0", OK: true, Play: playCode(nil)},
		{Name: "code_killed", Since: "0.150.0", Play: playCode(func(ctx context.Context, h *Home) Result {
			h.Server.Queue(unhurried(Exec("ctc_8", "call_8", `const a = await tools.exec_command({cmd: "echo eight; pwd | wc -l"});
text(a.output);
notify("eight is" + " done");
const b = await tools.exec_command({cmd: "sleep 30; echo nine", yield_time_ms: 30000});
text(b.output);
`)))
			return h.ExecKill(ctx, listFiles, OnDisk(1500*time.Millisecond, `"call_8"`, `eight\n1`))
		})},
		{Name: "fork_parent", Since: "0.145.0", OK: true, Play: func(ctx context.Context, h *Home, _ string) Result { return playFork(ctx, h, false) }},
		{Name: "fork", Since: "0.145.0", OK: true, Play: func(ctx context.Context, h *Home, _ string) Result { return playFork(ctx, h, true) }},
	}
}

// callMCP calls the tool of the stand-in for an MCP server, whichever way the client offers it.
func callMCP(id, callID, text string, image bool) Item {
	return Function(id, callID, "mcp__"+MCPServer, MCPTool, fmt.Sprintf(`{"text": %q, "image": %v}`, text, image))
}

// picture puts an image into the working directory.
func (h *Home) picture(name string) error {
	data, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(h.Work, name), data, 0o600)
}

// playTools plays a turn with every tool, and one that follows it; then is what happens in the last turn instead of it.
func playTools(then func(context.Context, *Home) Result) func(context.Context, *Home, string) Result {
	return func(ctx context.Context, h *Home, _ string) Result {
		defer func(config []string) { h.Config = config }(h.Config)
		if err := h.MCP(); err != nil {
			return Result{Err: err}
		}
		if err := h.picture("pixel.png"); err != nil {
			return Result{Err: err}
		}
		if then != nil {
			return then(ctx, h)
		}
		h.Server.Queue(
			unhurried(Reasoning("rs_1", "Looking around"), Message("msg_1", "I look around first."), Shell("fc_1", "call_1", "printf 'alpha\\nbeta\\n'")),
			unhurried(Patch("ctc_2", "call_2", "note.txt"), callMCP("fc_3", "call_3", "three", false)),
			unhurried(Function("fc_4", "call_4", "", "view_image", fmt.Sprintf(`{"path": %q}`, filepath.Join(h.Work, "pixel.png"))), callMCP("fc_5", "call_5", "five", true)),
			unhurried(Function("fc_6", "call_6", "", "exec_command", `{"cmd": "echo six; sleep 1; echo still six", "yield_time_ms": 250}`)),
		)
		h.Server.Later(writeStdin("fc_7", "call_7"))
		h.Server.Queue(
			unhurried(Raw(`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"alpha and beta"}}`), Message("msg_2", "All done.")),
		)
		return twoTurns(ctx, h, Shell("fc_8", "call_8", "exit 3"))
	}
}

// twoTurns plays what is queued, and a turn with one more call.
func twoTurns(ctx context.Context, h *Home, call Item) Result {
	first := h.Exec(ctx, listFiles)
	if first.Err != nil || first.ExitCode != 0 || first.Rollout == "" {
		return first
	}
	id, err := SessionID(first.Rollout)
	if err != nil {
		first.Err = err
		return first
	}
	h.Server.Queue(unhurried(call), unhurried(Message("msg_3", "Done again.")))
	return h.Resume(ctx, id, goOn)
}

var runningSession, runningCell = regexp.MustCompile(`session ID (\d+)`), regexp.MustCompile(`cell ID (\w+)`)

// writeStdin waits for the command that the last output says is still running.
func writeStdin(id, callID string) func(body []byte) Reply {
	return func(body []byte) Reply {
		m := runningSession.FindSubmatch(body)
		if m == nil {
			return unhurried(Message("msg_x", "Nothing is running."))
		}
		return unhurried(Function(id, callID, "", "write_stdin", fmt.Sprintf(`{"session_id": %s, "chars": "", "yield_time_ms": 3000}`, m[1])))
	}
}

// waitCell waits for the script that the last output says is still running.
func waitCell(id, callID string) func(body []byte) Reply {
	return func(body []byte) Reply {
		m := runningCell.FindSubmatch(body)
		if m == nil {
			return unhurried(Message("msg_x", "Nothing is running."))
		}
		return unhurried(Function(id, callID, "", "wait", fmt.Sprintf(`{"cell_id": "%s", "yield_time_ms": 5000}`, m[1])))
	}
}

// playCode is playTools in code mode: commands, MCP calls, patches and notes inside scripts, and one that is waited for.
func playCode(then func(context.Context, *Home) Result) func(context.Context, *Home, string) Result {
	return func(ctx context.Context, h *Home, _ string) Result {
		defer func(config []string) { h.Config = config }(h.Config)
		h.Config = append(h.Config[:len(h.Config):len(h.Config)], fmt.Sprintf("model=%q", CodeModelFor(h.Bin.Version)))
		if err := h.MCP(); err != nil {
			return Result{Err: err}
		}
		if then != nil {
			return then(ctx, h)
		}
		h.Server.Queue(
			unhurried(Reasoning("rs_1", "Looking around"), Message("msg_1", "I look around first."), Shell("ctc_1", "call_1", "printf 'alpha\\nbeta\\n'")),
			unhurried(Exec("ctc_2", "call_2", `const a = await tools.exec_command({cmd: "seq 1 3"});
text(a.output);
notify("half" + " way");
const b = await tools.mcp__demo__echo({text: "two", image: true});
text(b.content[0].text);
image(b.content[1]);
`)),
			unhurried(Patch("ctc_3", "call_3", "note.txt"), Exec("ctc_4", "call_4", `const [a, b] = await Promise.all([
  tools.exec_command({cmd: "echo four"}),
  tools.exec_command({cmd: "exit 3"}),
]);
text(a.output + b.exit_code);
`)),
			unhurried(Exec("ctc_5", "call_5", `// @exec: {"yield_time_ms": 250}
const a = await tools.exec_command({cmd: "sleep 1; echo five"});
text(a.output);
`)),
		)
		h.Server.Later(waitCell("fc_6", "call_6"))
		h.Server.Queue(unhurried(Message("msg_2", "All done.")))
		return twoTurns(ctx, h, Shell("ctc_7", "call_7", "echo seven"))
	}
}

// playFork forks a thread after a turn and goes on in both. It gives the session of the fork, or of its parent.
func playFork(ctx context.Context, h *Home, fork bool) Result {
	fail := func(err error) Result { return Result{ExitCode: -1, Err: err} }
	app, err := h.App(ctx)
	if err != nil {
		return fail(err)
	}
	defer app.Close()
	parent, path, err := app.Thread(ctx, "thread/start", "")
	if err != nil {
		return fail(err)
	}
	say := func(thread, prompt string, replies ...Reply) error {
		h.Server.Queue(replies...)
		return app.Turn(ctx, thread, prompt)
	}
	if err := say(parent, listFiles, unhurried(Shell("fc_1", "call_1", "echo one")), unhurried(Message("msg_1", "One is done."))); err != nil {
		return fail(err)
	}
	child, childPath, err := app.Thread(ctx, "thread/fork", parent)
	if err != nil {
		return fail(err)
	}
	if err := say(child, "another way", unhurried(Shell("fc_2", "call_2", "echo two")), unhurried(Message("msg_2", "Two is done."))); err != nil {
		return fail(err)
	}
	if err := say(parent, goOn, unhurried(Shell("fc_3", "call_3", "echo three")), unhurried(Message("msg_3", "Three is done."))); err != nil {
		return fail(err)
	}
	if err := app.Close(); err != nil {
		return fail(err)
	}
	if fork {
		path = childPath
	}
	return Result{Rollout: path, Requests: h.Server.Requests()}
}
