package clienttest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
)

// Home is a fresh CODEX_HOME with a stand-in as its only provider.
type Home struct {
	Root   string // holds everything below; removed by Close
	Codex  string // CODEX_HOME
	Work   string // the client's working directory
	Bin    Binary
	Server *Server

	// Config holds extra `-c key=value` overrides for every run.
	Config []string
	// Wrap, if it is not empty, is a command line that the client's is appended to.
	Wrap []string

	stored map[string]string // session id to the file that AddSession made
}

// NewHome makes a home below base, or below the user's cache directory if
// base is empty, and starts its stand-in.
func NewHome(base string, bin Binary) (*Home, error) {
	if base == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			cache = os.TempDir() // the client warns; it works all the same
		}
		base = filepath.Join(cache, "hist-clienttest")
	}
	base, err := filepath.Abs(base)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp(base, "home-")
	if err != nil {
		return nil, err
	}
	// The client reports resolved paths, so that ours must be too.
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	h := &Home{
		Root: root, Codex: filepath.Join(root, "codex"), Work: filepath.Join(root, "demo"),
		Bin: bin, Server: NewServer(),
	}
	for _, d := range []string{h.Codex, h.Work, h.tmp()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, errors.Join(err, h.Close())
		}
	}
	if err := os.WriteFile(filepath.Join(h.Codex, "config.toml"), []byte(h.config()), 0o600); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// Close stops the stand-in and removes the home.
func (h *Home) Close() error {
	h.Server.Close()
	return os.RemoveAll(h.Root)
}

func (h *Home) tmp() string { return filepath.Join(h.Root, "tmp") }

func (h *Home) config() string {
	return fmt.Sprintf(`model = %q
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
project_doc_max_bytes = 0

[features]
plugins = false

[analytics]
enabled = false

[otel]
exporter = "none"

[model_providers.mock]
name = "mock"
base_url = %q
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 0
stream_max_retries = 1
supports_websockets = false
`, ModelFor(h.Bin.Version), h.Server.URL())
}

// Env is the whole environment of the client: nothing of ours but PATH and
// what the system needs to start a program at all.
func (h *Home) Env() []string {
	env := []string{
		"HOME=" + h.Root, "CODEX_HOME=" + h.Codex, "TMPDIR=" + h.tmp(), "MOCK_KEY=unused",
		"LANG=C.UTF-8", "TERM=dumb", "TZ=UTC", "SHELL=/bin/bash", "NO_COLOR=1",
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"PATH=" + strings.Join(append(append([]string{}, h.Bin.Extra...), os.Getenv("PATH")), string(os.PathListSeparator)),
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		env = append(env, name+"="+h.Server.Proxy())
	}
	for _, name := range []string{"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "WINDIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

const uuidPattern = `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`

var rolloutName = regexp.MustCompile(`^rollout-((\d{4})-(\d{2})-(\d{2})T\d{2}-\d{2}-\d{2})-(` + uuidPattern + `)(?:_` + uuidPattern + `)?\.jsonl(?:\.zst)?$`)

var anyID = regexp.MustCompile(uuidPattern)

// AddSession copies a rollout into the home and returns the id to resume it
// by, which is the one in its file name. A file whose name is not canonical
// gets one, with the id that its text names first.
func (h *Home) AddSession(path string) (id string, err error) {
	name := filepath.Base(path)
	m := rolloutName.FindStringSubmatch(name)
	if m == nil {
		if id, err = firstID(path); err != nil {
			return "", err
		}
		suffix := ".jsonl"
		if strings.HasSuffix(name, ".zst") {
			suffix += ".zst"
		}
		name = "rollout-2026-01-02T03-04-05-" + id + suffix
		m = rolloutName.FindStringSubmatch(name)
	}
	dir := filepath.Join(h.Codex, "sessions", m[2], m[3], m[4])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	stored := filepath.Join(dir, name)
	if err := copyFile(stored, path); err != nil {
		return "", err
	}
	if h.stored == nil {
		h.stored = map[string]string{}
	}
	h.stored[m[5]] = stored
	return m[5], nil
}

// Stored is the path of the session that AddSession made for the id; empty if
// there is none. A compressed one is named without its suffix, as the client
// unpacks it to append.
func (h *Home) Stored(id string) string { return strings.TrimSuffix(h.stored[id], ".zst") }

// firstID finds the thread id of a file by its first line, as well as it can.
func firstID(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(head), "\n")
	if gjson.Valid(line) {
		for _, key := range []string{"payload.id", "id"} {
			if id := gjson.Get(line, key).String(); anyID.MatchString(id) {
				return anyID.FindString(id), nil
			}
		}
	}
	if id := anyID.Find(head); id != nil {
		return string(id), nil
	}
	return "01a00000-0000-7000-8000-000000000001", nil
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// Rollouts lists the session files of the home, oldest name first.
func (h *Home) Rollouts() []string {
	hits, err := filepath.Glob(filepath.Join(h.Codex, "sessions", "*", "*", "*", "rollout-*.jsonl"))
	if err != nil {
		return nil
	}
	return hits
}

// SessionID is the thread id in the name of a session file.
func SessionID(path string) (string, error) {
	m := rolloutName.FindStringSubmatch(filepath.Base(path))
	if m == nil {
		return "", fmt.Errorf("not the name of a session file: %q", filepath.Base(path))
	}
	return m[5], nil
}
