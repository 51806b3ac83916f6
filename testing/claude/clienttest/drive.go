package clienttest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Prompt is what a measuring resume says.
const Prompt = "hist measures this resume"

// Deadline is how long one run of the client may take.
const Deadline = 90 * time.Second

// Home is a config directory of its own, a working directory, and a stand-in API for one client.
type Home struct {
	Bin    Binary
	Root   string // holds all the rest
	Work   string // the client's working directory
	Server *Server
	Input  []byte   // what the next runs read from stdin
	Extra  []string // more of their environment
}

// NewHome makes one below dir.
func NewHome(bin Binary, dir string) (*Home, error) {
	h := &Home{Bin: bin, Root: dir, Work: filepath.Join(dir, "work"), Server: NewServer()}
	for _, d := range []string{h.Work, h.Projects(), filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			h.Server.Close()
			return nil, err
		}
	}
	return h, nil
}

// Close stops the stand-in.
func (h *Home) Close() { h.Server.Close() }

// Config is the client's config directory, ~/.claude.
func (h *Home) Config() string { return filepath.Join(h.Root, ".claude") }

// Projects is the folder of the present working directory's sessions.
func (h *Home) Projects() string {
	real, err := filepath.EvalSymlinks(h.Work)
	if err != nil {
		real = h.Work
	}
	return filepath.Join(h.Config(), "projects", notAlnum.ReplaceAllString(real, "-"))
}

var notAlnum = regexp.MustCompile(`[^A-Za-z0-9]`)

// Put lays a session into the home.
func (h *Home) Put(id string, data []byte) (path string, err error) {
	path = filepath.Join(h.Projects(), id+".jsonl")
	return path, os.WriteFile(path, data, 0o600)
}

// Result is what one run of the client came to.
type Result struct {
	ExitCode int // -1 if it did not exit by itself
	TimedOut bool
	Stdout   string
	Stderr   string
	First    []byte // the first request that carried the conversation, nil if none was sent
}

// Resumed says whether the client took the session up.
func (r Result) Resumed() bool { return !r.TimedOut && r.First != nil }

// Resume continues the session with the given id by one prompt.
func (h *Home) Resume(ctx context.Context, id string) (Result, error) {
	return h.Run(ctx, "-p", Prompt, "--resume", id)
}

// Run runs the client once; the model answers with a few words.
func (h *Home) Run(ctx context.Context, args ...string) (Result, error) {
	return h.run(ctx, nil, args...)
}

// run runs the client once, with the model's answers.
func (h *Home) run(ctx context.Context, answers [][]Block, args ...string) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	h.Server.Reset()
	h.Server.Queue(answers...)
	full := append(append([]string(nil), h.Bin.Command...), args...)
	cmd := exec.CommandContext(ctx, full[0], full[1:]...)
	cmd.Dir, cmd.Env = h.Work, append(h.env(), h.Extra...)
	if h.Input != nil {
		cmd.Stdin = bytes.NewReader(h.Input)
	}
	setGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd) }
	cmd.WaitDelay = 2 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	res := Result{
		ExitCode: cmd.ProcessState.ExitCode(), TimedOut: ctx.Err() != nil,
		Stdout: stdout.String(), Stderr: stderr.String(), First: h.Server.Main(),
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !res.TimedOut {
		return res, err
	}
	return res, nil
}

// env keeps the client in its home and off every network but loopback.
func (h *Home) env() []string {
	env := []string{
		"HOME=" + h.Root, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(h.Root, "tmp"), "LANG=C.UTF-8",
		"ANTHROPIC_BASE_URL=" + h.Server.URL(), "ANTHROPIC_API_KEY=sk-ant-stand-in",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
		"DISABLE_ERROR_REPORTING=1", "IS_SANDBOX=1", "CLAUDE_CONFIG_DIR=" + h.Config(),
		"HTTP_PROXY=" + h.Server.URL(), "HTTPS_PROXY=" + h.Server.URL(), "NO_PROXY=127.0.0.1,localhost",
	}
	for _, e := range os.Environ() {
		if strings.HasPrefix(e, "SYSTEMROOT=") {
			env = append(env, e)
		}
	}
	return env
}
