package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

var (
	lives    = flag.Int("lives", 1, "how many sessions TestHealthyLife has clients write")
	lifeSeed = flag.Uint64("life-seed", 1, "the seed of the first of them; the next has the next")
	lifeKeep = flag.String("keep-lives", "", "a folder for the homes of those in which something is found")
	clients  = flag.String("clients", "", "the versions that write them, with commas between, oldest first (default: all that are installed)")
)

// TestHealthyLife has clients write sessions as users do, and nothing goes wrong: prompts by a terminal's client and by a front end's,
// turns that the user interrupts or adds to, compactions, undone turns, forks, reviews, the archive, updates of the client. No file
// that they leave has a finding, and a repaired copy is the same bytes.
func TestHealthyLife(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real clients; left out by -short")
	}
	versions := clienttest.Versions()
	if *clients != "" {
		versions = strings.Split(*clients, ",")
	}
	if len(versions) == 0 {
		_, err := clienttest.Find("")
		t.Skip(err)
	}
	hist := filepath.Join(t.TempDir(), "hist")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", hist, "github.com/hist-cli/hist").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for n := range uint64(*lives) {
		seed := *lifeSeed + n
		t.Run(fmt.Sprint(seed), func(t *testing.T) { lead(t, bench{hist: hist}, seed, versions) })
	}
}

// life is a session while clients write it.
type life struct {
	*player
	w     *writer
	turns []string // the ids of those that a front end has begun
}

func lead(t *testing.T, b bench, seed uint64, versions []string) {
	p := somePlan(seed, versions, false)
	for range rand.New(rand.NewPCG(seed, 4)).IntN(16) {
		p.Versions, p.Faults = append(p.Versions, p.Versions[len(p.Versions)-1]), append(p.Faults, fault{Kind: "none"})
	}
	p.Front = seed%4 > 0 && clienttest.HasFront(p.Versions[0])
	bin, err := clienttest.Find(p.Versions[0])
	if err != nil {
		t.Skip(err)
	}
	h, err := clienttest.NewHome("", bin)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.MCP(); err != nil {
		t.Fatal(err)
	}
	l := life{player: newPlayer(h, p)}
	l.w = &writer{rng: l.rng, code: p.Code}
	l.lead(t)
	l.front.close()
	l.check(t, b)
}

// lead plays the turns of the plan, and between them what else a user does.
func (l *life) lead(t *testing.T) {
	for turn, version := range l.Versions {
		bin, err := clienttest.Find(version)
		if err != nil {
			t.Fatal(err)
		}
		l.h.Bin, l.w.turn, l.w.plan = bin, turn, version < "0.16"
		l.begin(l.w, turn)
		if l.Front {
			err = l.step(t.Context())
		} else {
			err = l.alone(t.Context())
		}
		l.log = append(l.log, fmt.Sprintf("turn %d, %s: %v", turn, version, err))
	}
}

// alone runs a client for one turn, which one in six users interrupts.
func (l *life) alone(ctx context.Context) error {
	prompt := "Please do step " + l.w.id() + " " + l.w.words()
	if l.rng.IntN(6) == 0 {
		l.fault = fault{Kind: "interrupt", Reply: l.rng.IntN(2), Delay: time.Duration(l.rng.IntN(500)) * time.Millisecond}
	}
	res := l.turn(ctx, prompt, l.w)
	if l.path == "" && res.Rollout != "" {
		l.path = res.Rollout
		l.id, _ = clienttest.SessionID(l.path) // without, the next turn begins a session of its own
	}
	l.log = append(l.log, l.fault.Kind+" "+lastLine(res.Stderr))
	return res.Err
}

// open opens the front end, and in it the thread, or a new one.
func (l *life) open(ctx context.Context, h *clienttest.Home) (err error) {
	if l.front.version != h.Bin.Version {
		l.front.close()
	}
	if l.front.app != nil {
		return nil
	}
	open := h.App
	if l.rng.IntN(2) == 0 {
		open = h.FullApp
	}
	app, err := open(ctx)
	if err != nil {
		return err
	}
	method, params := "thread/resume", map[string]any{}
	if l.id == "" {
		method = "thread/start"
		if l.rng.IntN(3) == 0 {
			params["historyMode"] = []string{"legacy", "paginated"}[l.rng.IntN(2)]
		}
		if l.rng.IntN(2) == 0 {
			params["dynamicTools"] = []object{{"type": "function", "name": "front_tool", "description": "asks the front end", "inputSchema": object{"type": "object", "properties": object{"a": object{"type": "string"}}}}}
		}
	}
	id, _, err := app.ThreadWith(ctx, method, l.id, params)
	if err != nil && l.id == "" {
		id, _, err = app.Thread(ctx, method, "")
	}
	if err != nil {
		app.Kill()
		return err
	}
	l.id = id
	l.front = front{app, h.Bin.Version, id}
	return nil
}

// step is one turn in a front end, or something else that its users do with a thread.
func (l *life) step(ctx context.Context) error {
	h := *l.h
	h.Config = append(append([]string(nil), l.h.Config...), l.model(h.Bin.Version))
	if err := l.open(ctx, &h); err != nil {
		return err
	}
	app, thread := l.front.app, l.front.thread
	do, names := l.deeds(ctx, app, thread), []string(nil)
	for name := range do {
		names = append(names, name)
	}
	slices.Sort(names)
	name := names[l.rng.IntN(len(names))]
	if l.rng.IntN(3) == 0 || l.turns == nil {
		name = "turn"
	}
	l.log = append(l.log, name)
	return do[name]()
}

type object = map[string]any

// deeds are what a front end's users do with a thread.
func (l *life) deeds(ctx context.Context, app *clienttest.App, thread string) map[string]func() error {
	with := func(more object) object {
		out := object{"threadId": thread}
		maps.Copy(out, more)
		return out
	}
	input := func(more ...object) object {
		text := object{"type": "text", "text": "Please do step " + l.w.id() + " " + l.w.words()}
		return with(object{"input": append([]object{text}, more...)})
	}
	call := func(method string, more object) error {
		_, err := app.Call(ctx, method, with(more))
		return err
	}
	note := func(err error) {
		if err != nil {
			l.log = append(l.log, "  "+err.Error())
		}
	}
	ask := func(params object, meanwhile func(turn string)) error {
		return app.Ask(ctx, "turn/start", params, func(turn string) {
			l.turns = append(l.turns, turn)
			if meanwhile != nil {
				if l.rng.IntN(3) > 0 {
					note(l.h.Server.WaitSent(ctx, 1))
				}
				time.Sleep(time.Duration(l.rng.IntN(300)) * time.Millisecond)
				meanwhile(turn)
			}
		})
	}
	add := func(more object) error {
		params := input()
		maps.Copy(params, more)
		return ask(params, nil)
	}
	then := func(method string, more object) func() error {
		return func() error {
			note(ask(input(), nil))
			return call(method, more)
		}
	}
	some := func(turns []string) string { return turns[l.rng.IntN(len(turns))] }
	goOn := func(child string, err error) error {
		if err == nil {
			err = app.Turn(ctx, child, "Go on in the fork")
		}
		if err == nil && l.rng.IntN(2) == 0 {
			l.front.thread, l.id = child, child
		}
		return err
	}
	pixel := object{"type": "image", "url": clienttest.Pixel}
	target := object{"type": "custom", "instructions": "Look for " + l.w.id()}
	return map[string]func() error{
		"turn": func() error { return ask(input(), nil) },
		"interrupt": func() error {
			return ask(input(), func(turn string) { note(call("turn/interrupt", object{"turnId": turn})) })
		},
		"steer": func() error {
			return ask(input(), func(turn string) {
				more := input()
				more["expectedTurnId"] = turn
				note(call("turn/steer", more))
			})
		},
		"settings in the middle": func() error {
			return ask(input(), func(turn string) { note(call("turn/settings/update", object{"turnId": turn, "effort": "low"})) })
		},
		"queue": func() error {
			return ask(input(), func(string) {
				more := input()
				more["clientUserMessageId"] = l.w.id()
				note(call("thread/queue/add", more))
			})
		},
		"sample": func() error {
			return call("thread/sample", object{"expectedTurnId": l.turns[len(l.turns)-1], "prompt": "What was that?"})
		},
		"predict": func() error {
			return call("thread/prediction/request", object{"sourceTurnId": l.turns[len(l.turns)-1]})
		},
		"compact":  func() error { return app.Ask(ctx, "thread/compact/start", with(nil), nil) },
		"rollback": then("thread/rollback", object{"numTurns": 1 + l.rng.IntN(2)}),
		"revert": func() error {
			note(ask(input(), nil))
			return call("thread/revert", object{"beforeTurnId": some(l.turns)})
		},
		"fork": func() error { child, _, err := app.Thread(ctx, "thread/fork", thread); return goOn(child, err) },
		"fork in the middle": func() error {
			child, _, err := app.ThreadWith(ctx, "thread/fork", thread, object{"lastTurnId": some(l.turns)})
			return goOn(child, err)
		},
		"archive": func() error {
			if err := call("thread/archive", object{}); err != nil || l.rng.IntN(4) == 0 {
				return err
			}
			note(call("thread/unarchive", object{}))
			_, _, err := app.Thread(ctx, "thread/resume", thread)
			return err
		},
		"review": func() error {
			return app.Ask(ctx, "review/start", with(object{"target": target, "delivery": "inline"}), nil)
		},
		"detached review": func() error {
			err := call("review/start", object{"target": target, "delivery": "detached"})
			time.Sleep(time.Second)
			return err
		},
		"guardian review": then("thread/guardianReview", object{}),
		"images": func() error {
			return ask(input(pixel, object{"type": "localImage", "path": filepath.Join(l.h.Work, "p.png")}), nil)
		},
		"image alone": func() error { return ask(with(object{"input": []object{pixel}}), nil) },
		"shell":       func() error { return app.Ask(ctx, "thread/shellCommand", with(object{"command": "echo by hand"}), nil) },
		"shell meanwhile": func() error {
			return ask(input(), func(string) { note(call("thread/shellCommand", object{"command": "echo by hand"})) })
		},
		"name": func() error { return call("thread/name/set", object{"name": "a name " + l.w.id()}) },
		"inject": func() error {
			said := object{"type": "message", "role": "user", "content": []object{{"type": "input_text", "text": "put in " + l.w.id()}}}
			return call("thread/inject_items", object{"items": []object{said}})
		},
		"settings": func() error {
			return add(object{"effort": "low", "summary": "detailed", "personality": "friendly", "cwd": l.h.Root})
		},
		"settings set": func() error { return call("thread/settings/update", object{"effort": "high", "cwd": l.h.Work}) },
		"plan mode": func() error {
			model := strings.Trim(strings.TrimPrefix(l.model(l.h.Bin.Version), "model="), `"`)
			return add(object{"collaborationMode": object{"mode": "plan", "settings": object{"model": model}}})
		},
		"approved plan": then("thread/prepareApprovedPlan", object{"markdown": "# a plan"}),
		"context": func() error {
			return add(object{"additionalContext": object{"front": object{"value": "more to know " + l.w.id(), "kind": "untrusted"}}})
		},
		"schema": func() error {
			return add(object{"outputSchema": object{"type": "object", "properties": object{}, "additionalProperties": false}})
		},
		"tool output": func() error {
			return add(object{"toolOutput": object{"name": "front_tool", "output": "by itself " + l.w.id(), "retain": l.rng.IntN(2) == 0}})
		},
		"goal": func() error {
			return call("thread/goal/set", object{"objective": "to reach " + l.w.id(), "status": "paused"})
		},
		"memory": func() error { return call("thread/memoryMode/set", object{"mode": "disabled"}) },
		"git": func() error {
			return call("thread/metadata/update", object{"gitInfo": object{"branch": "b" + l.w.id()}})
		},
		"away and back": func() error {
			note(call("thread/unsubscribe", object{}))
			_, _, err := app.Thread(ctx, "thread/resume", thread)
			return err
		},
		"closed": func() error { l.front.close(); return nil },
		"alone":  func() error { l.front.close(); return l.alone(ctx) },
	}
}

// check lints and repairs all that the clients have left.
func (l *life) check(t *testing.T, b bench) {
	told := strings.Join(l.log, "\n")
	out, _, err := b.run(t.Context(), l.h, "lint", "--agent", "codex", "--no-cache", "--notes", "--format", "json")
	if found := findings(out); err != nil || len(found) > 0 {
		out, _, _ = b.run(t.Context(), l.h, "lint", "--agent", "codex", "--no-cache", "--notes", "--format", "lines")
		t.Errorf("%v %s\n%s", err, out, told)
	}
	archived, err := filepath.Glob(filepath.Join(l.h.Codex, "archived_sessions", "*.jsonl"))
	all := append(l.h.Rollouts(), archived...)
	if err != nil || len(all) == 0 {
		t.Errorf("nothing was written: %v\n%s", err, told)
	}
	for i, path := range all {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		to := filepath.Join(l.h.Root, fmt.Sprint("copy", i, filepath.Ext(path)))
		out, exit, err := b.run(t.Context(), l.h, "repair", "--output", to, path)
		after, missing := os.ReadFile(to)
		if err != nil || exit != 0 || missing == nil && !bytes.Equal(before, after) {
			t.Errorf("%s: repair: exit code %d %v: %s", path, exit, err, out)
		}
	}
	if *lifeKeep != "" && t.Failed() {
		if err := clone(filepath.Join(*lifeKeep, fmt.Sprint(l.Seed)), l.h.Codex); err != nil {
			t.Error(err)
		}
	}
}
