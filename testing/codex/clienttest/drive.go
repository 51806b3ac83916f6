package clienttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Prompt is what a measuring resume says.
const Prompt = "hist measures this resume"

// Deadline is how long one run of the client may take: far more than any does, for on a machine under load a run that takes
// a second has taken more than 50.
const Deadline = 5 * time.Minute

// Result is what one run of the client came to.
type Result struct {
	ExitCode int           // -1 if it did not exit by itself
	TimedOut bool          // the deadline passed, and it was killed
	Stderr   string        // the last few KiB
	Stdout   string        // the same
	Requests []Request     // model requests during the run
	Rollout  string        // the newest of the session files that changed; empty if none did
	Changed  []string      // all session files that are new or have another size
	Elapsed  time.Duration // wall time
	Err      error         // the client could not be run, or a stop did not come about
}

// Exec starts a new session with one prompt.
func (h *Home) Exec(ctx context.Context, prompt string) Result {
	return h.run(ctx, nil, nil, prompt)
}

// Resume continues the session with the given id by one prompt.
func (h *Home) Resume(ctx context.Context, id, prompt string) Result {
	return h.run(ctx, nil, nil, "resume", id, prompt)
}

// Again is Resume with more arguments behind the prompt.
func (h *Home) Again(ctx context.Context, id string, args ...string) Result {
	return h.run(ctx, nil, nil, append([]string{"resume", id}, args...)...)
}

// When waits for the moment at which a run is to be stopped. The request
// count starts at the run.
type When func(ctx context.Context, h *Home) error

// ExecKill is Exec with a kill -9 at the moment that when waits for.
func (h *Home) ExecKill(ctx context.Context, prompt string, when When) Result {
	return h.run(ctx, when, os.Kill, prompt)
}

// ExecInterrupt is Exec with an interrupt, as by Ctrl-C.
func (h *Home) ExecInterrupt(ctx context.Context, prompt string, when When) Result {
	return h.run(ctx, when, os.Interrupt, prompt)
}

// ResumeKill is Resume with a kill -9 at the moment that when waits for.
func (h *Home) ResumeKill(ctx context.Context, id, prompt string, when When) Result {
	return h.run(ctx, when, os.Kill, "resume", id, prompt)
}

// ResumeInterrupt is Resume with an interrupt, as by Ctrl-C.
func (h *Home) ResumeInterrupt(ctx context.Context, id, prompt string, when When) Result {
	return h.run(ctx, when, os.Interrupt, "resume", id, prompt)
}

// AfterReply waits until the n-th reply of the server is sent, or is held
// open, and then for the delay: time for the client to act on it.
func AfterReply(n int, delay time.Duration) When {
	return func(ctx context.Context, h *Home) error {
		if err := h.Server.WaitSent(ctx, n); err != nil {
			return err
		}
		return sleep(ctx, delay)
	}
}

// OnDisk waits until the session holds all the texts, and then for the delay.
func OnDisk(delay time.Duration, texts ...string) When {
	return func(ctx context.Context, h *Home) error {
		for {
			if h.sessionHolds(texts) {
				return sleep(ctx, delay)
			}
			if err := sleep(ctx, 20*time.Millisecond); err != nil {
				return fmt.Errorf("never saw %q in the session: %w", texts, err)
			}
		}
	}
}

func (h *Home) sessionHolds(texts []string) bool {
	for _, path := range h.Rollouts() {
		data, err := os.ReadFile(path)
		if err == nil && !slices.ContainsFunc(texts, func(t string) bool { return !bytes.Contains(data, []byte(t)) }) {
			return true
		}
	}
	return false
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run runs `codex exec` and, if when is given, sends it the signal then.
func (h *Home) run(ctx context.Context, when When, signal os.Signal, args ...string) (res Result) {
	start, seen, before := time.Now(), len(h.Server.Requests()), h.sizes()
	defer func() {
		res.Elapsed = time.Since(start)
		if all := h.Server.Requests(); len(all) > seen {
			res.Requests = all[seen:]
		}
		res.Changed = h.changed(before)
		if len(res.Changed) > 0 {
			res.Rollout = res.Changed[len(res.Changed)-1]
		}
	}()
	cmd := h.command(args)
	// Files, not pipes: a tool that outlives the client would keep a pipe open.
	stdout, err := os.CreateTemp(h.tmp(), "stdout-")
	if err != nil {
		return Result{ExitCode: -1, Err: err}
	}
	defer stdout.Close()
	stderr, err := os.CreateTemp(h.tmp(), "stderr-")
	if err != nil {
		return Result{ExitCode: -1, Err: err}
	}
	defer stderr.Close()
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Start(); err != nil {
		return Result{ExitCode: -1, Err: err}
	}
	h.await(ctx, cmd, when, signal, &res)
	res.ExitCode = cmd.ProcessState.ExitCode()
	res.Stdout, res.Stderr = tail(stdout), tail(stderr)
	return res
}

// command is `codex exec` with the home's settings, in a process group of its own.
func (h *Home) command(args []string) *exec.Cmd {
	line := append(slices.Clone(h.Wrap), h.Bin.Path, "exec", "--skip-git-repo-check")
	for _, c := range h.Config {
		line = append(line, "-c", c)
	}
	line = append(line, args...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir, cmd.Env = h.Work, h.Env()
	setGroup(cmd)
	return cmd
}

// await waits for the end of the client, and sends it the signal when it is time. It notes in res what went wrong.
func (h *Home) await(outer context.Context, cmd *exec.Cmd, when When, signal os.Signal, res *Result) {
	ctx, cancel := context.WithTimeout(outer, Deadline)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var due chan error // when it is time for the signal; nil if there is to be none, or it was sent
	if when != nil {
		due = make(chan error, 1)
		go func() { due <- when(ctx, h) }()
	}
	err, running := error(nil), true
	for running {
		select {
		case err = <-ended:
			running = false
		case failed := <-due:
			due, res.Err = nil, failed
			switch {
			case failed != nil, signal == os.Kill:
				killTree(cmd.Process.Pid)
			default:
				res.Err = cmd.Process.Signal(signal)
			}
		case <-ctx.Done():
			res.TimedOut, res.Err = outer.Err() == nil, outer.Err()
			killTree(cmd.Process.Pid)
			err, running = <-ended, false
		}
	}
	killGroup(cmd.Process.Pid)
	var exit *exec.ExitError
	switch {
	case res.Err != nil:
	case due != nil && !res.TimedOut:
		res.Err = errors.New("the client ended before it was to be stopped")
	case err != nil && !errors.As(err, &exit):
		res.Err = err
	}
}

// tail is the last part of a file, at most 4 KiB.
func tail(f *os.File) string {
	const most = 4 << 10
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	if _, err := f.Seek(max(0, size-most), io.SeekStart); err != nil {
		return ""
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(string(data), "?")
}

func (h *Home) sizes() map[string]int64 {
	sizes := map[string]int64{}
	for _, path := range h.Rollouts() {
		if st, err := os.Stat(path); err == nil {
			sizes[path] = st.Size()
		}
	}
	return sizes
}

// changed lists the session files that differ in size from before, in the
// order in which they were last written to.
func (h *Home) changed(before map[string]int64) []string {
	after := h.sizes()
	var paths []string
	for path, size := range after {
		if old, ok := before[path]; !ok || old != size {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int {
		x, errX := os.Stat(a)
		y, errY := os.Stat(b)
		if errX != nil || errY != nil || x.ModTime().Equal(y.ModTime()) {
			return strings.Compare(filepath.Base(a), filepath.Base(b))
		}
		return x.ModTime().Compare(y.ModTime())
	})
	return paths
}
