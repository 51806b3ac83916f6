package clienttest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// App is a client that runs as the server of an editor or a front end: one process, many turns and threads.
type App struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	next int

	sending sync.Mutex    // one message at a time
	ended   chan struct{} // closed when its output ends

	mu      sync.Mutex
	answers map[int]chan result
	events  []event
	news    chan struct{} // closed and replaced with each event
}

type result struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

type event struct {
	Method string
	Params json.RawMessage
}

// App starts the client as a server on its stdin and stdout, and greets it.
func (h *Home) App(ctx context.Context) (*App, error) { return h.app(ctx, false) }

// FullApp is App, and may use the methods that the client calls experimental, as editors do.
func (h *Home) FullApp(ctx context.Context) (*App, error) { return h.app(ctx, true) }

func (h *Home) app(ctx context.Context, experimental bool) (*App, error) {
	line := append(append([]string{}, h.Wrap...), h.Bin.Path, "app-server")
	for _, c := range h.Config {
		line = append(line, "-c", c)
	}
	a := &App{cmd: exec.Command(line[0], line[1:]...), ended: make(chan struct{}), answers: map[int]chan result{}, news: make(chan struct{})}
	a.cmd.Dir, a.cmd.Env = h.Work, h.Env()
	setGroup(a.cmd)
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := a.cmd.Start(); err != nil {
		return nil, err
	}
	go a.read(out)
	who := map[string]any{"clientInfo": map[string]any{"name": "clienttest", "title": "clienttest", "version": "1"}}
	if experimental {
		who["capabilities"] = map[string]any{"experimentalApi": true}
	}
	_, err = a.Call(ctx, "initialize", who)
	if err == nil {
		err = a.send(map[string]any{"jsonrpc": "2.0", "method": "initialized"})
	}
	if err != nil {
		a.Kill()
		return nil, err
	}
	return a, nil
}

// granted is the answer to whatever the client asks of us: what it asks for is allowed, and a tool that we would run has run.
var granted = map[string]any{
	"decision": "accept", "answers": map[string]any{}, "action": "accept", "content": map[string]any{},
	"success": true, "contentItems": []map[string]any{{"type": "inputText", "text": "the front end says yes"}},
}

// read takes what the client says: answers to calls, and events. What it asks is granted.
func (a *App) read(out io.Reader) {
	defer close(a.ended)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		var m struct {
			ID *int
			result
			event
		}
		if json.Unmarshal(line, &m) == nil {
			a.mu.Lock()
			if m.Method != "" && m.ID != nil {
				_ = a.send(map[string]any{"jsonrpc": "2.0", "id": *m.ID, "result": granted}) // it may be gone
			} else if m.Method != "" {
				a.events = append(a.events, m.event)
				close(a.news)
				a.news = make(chan struct{})
			} else if m.ID != nil && a.answers[*m.ID] != nil {
				a.answers[*m.ID] <- m.result
			}
			a.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

func (a *App) send(m map[string]any) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	a.sending.Lock()
	defer a.sending.Unlock()
	_, err = a.in.Write(append(line, '\n'))
	return err
}

// errGone is what a call gets when the client has ended.
var errGone = errors.New("the client has ended")

// Call calls a method and waits for its result.
func (a *App) Call(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	a.mu.Lock()
	a.next++
	id, c := a.next, make(chan result, 1)
	a.answers[id] = c
	a.mu.Unlock()
	if err := a.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	select {
	case got := <-c:
		if got.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, got.Error.Message)
		}
		return got.Result, nil
	case <-a.ended:
		return nil, fmt.Errorf("%s: %w", method, errGone)
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// Thread starts, resumes or forks a thread, as method says, and returns its id and the path of its session.
func (a *App) Thread(ctx context.Context, method, id string) (thread, path string, err error) {
	return a.ThreadWith(ctx, method, id, map[string]any{})
}

// ThreadWith is Thread with more parameters.
func (a *App) ThreadWith(ctx context.Context, method, id string, params map[string]any) (thread, path string, err error) {
	if id != "" {
		params["threadId"] = id
	}
	raw, err := a.Call(ctx, method, params)
	if err != nil {
		return "", "", err
	}
	var v struct{ Thread struct{ ID, Path string } }
	if err := json.Unmarshal(raw, &v); err != nil {
		return "", "", err
	}
	return v.Thread.ID, v.Thread.Path, nil
}

// Turn says a prompt in a thread and waits for the end of the turn.
func (a *App) Turn(ctx context.Context, thread, prompt string) error {
	return a.Ask(ctx, "turn/start", map[string]any{"threadId": thread, "input": []map[string]any{{"type": "text", "text": prompt}}}, nil)
}

// Ask calls a method that begins a turn, and waits for the turn's end; meanwhile, if it is not nil, is called with the turn's id as soon
// as the method has answered.
func (a *App) Ask(ctx context.Context, method string, params map[string]any, meanwhile func(turn string)) error {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	a.mu.Lock()
	seen := len(a.events)
	a.mu.Unlock()
	raw, err := a.Call(ctx, method, params)
	if err != nil {
		return err
	}
	if meanwhile != nil {
		var v struct{ Turn struct{ ID string } }
		if err := json.Unmarshal(raw, &v); err != nil {
			return err
		}
		meanwhile(v.Turn.ID)
	}
	return a.await(ctx, seen, params["threadId"])
}

// await waits for the end of a turn of a thread among the events behind the first so many.
func (a *App) await(ctx context.Context, seen int, thread any) error {
	for {
		a.mu.Lock()
		for ; seen < len(a.events); seen++ {
			var v struct{ ThreadID string }
			if a.events[seen].Method == "turn/completed" && json.Unmarshal(a.events[seen].Params, &v) == nil && v.ThreadID == thread {
				a.mu.Unlock()
				return nil
			}
		}
		news := a.news
		a.mu.Unlock()
		select {
		case <-news:
		case <-a.ended:
			return errGone
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close ends the client by closing its input, and kills it if that does not.
func (a *App) Close() error {
	err := a.in.Close()
	select {
	case <-a.ended:
	case <-time.After(5 * time.Second):
	}
	a.Kill()
	return err
}

// Kill kills the client and what it has started.
func (a *App) Kill() {
	killTree(a.cmd.Process.Pid)
	<-a.ended
	_ = a.cmd.Wait() // it was killed: that it says so is no news
	killGroup(a.cmd.Process.Pid)
}
