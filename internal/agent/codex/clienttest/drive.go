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
	outer := ctx
	ctx, cancel := context.WithTimeout(outer, Deadline)
	defer cancel()
	start := time.Now()
	seen := len(h.Server.Requests())
	before := h.sizes()
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

	full := []string{"exec", "--skip-git-repo-check"}
	for _, c := range h.Config {
		full = append(full, "-c", c)
	}
	line := append(append(slices.Clone(h.Wrap), h.Bin.Path), append(full, args...)...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir, cmd.Env = h.Work, h.Env()
	setGroup(cmd)
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
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()

	stopped := make(chan error, 1)
	if when != nil {
		go func() { stopped <- when(ctx, h) }()
	}
	var waitErr error
wait:
	for {
		select {
		case waitErr = <-done:
			break wait
		case err := <-stopped:
			stopped = nil
			switch {
			case err != nil:
				res.Err = err
				killTree(cmd.Process.Pid)
			case signal == os.Kill:
				killTree(cmd.Process.Pid)
			default:
				res.Err = cmd.Process.Signal(signal)
			}
		case <-ctx.Done():
			res.TimedOut, res.Err = outer.Err() == nil, outer.Err()
			killTree(cmd.Process.Pid)
			waitErr = <-done
			break wait
		}
	}
	killGroup(cmd.Process.Pid)
	if when != nil && stopped != nil && res.Err == nil && !res.TimedOut {
		res.Err = errors.New("the client ended before it was to be stopped")
	}
	res.ExitCode = cmd.ProcessState.ExitCode()
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) && res.Err == nil {
		res.Err = waitErr
	}
	res.Stdout, res.Stderr = tail(stdout), tail(stderr)
	return res
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
