package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInstalled: from a registry that has the packages, npm installs the program of this platform and no other, runs nothing of them
// at install, and npx starts it: with its output, its exit codes and a signal.
func TestInstalled(t *testing.T) {
	if testing.Short() {
		t.Skip("builds hist and installs it")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("no npm")
	}
	if runtime.GOOS == "windows" {
		t.Skip("npm's scripts are others there")
	}
	t.Chdir("../..")
	dist := t.TempDir()
	program := filepath.Join(dist, "hist")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	put(t, filepath.Join(dist, "metadata.json"), map[string]string{"version": "1.2.3"})
	put(t, filepath.Join(dist, "artifacts.json"), []artifact{
		{Path: program, Goos: runtime.GOOS, Goarch: runtime.GOARCH, Type: "Binary"},
		{Path: program, Goos: "windows", Goarch: "amd64", Type: "Binary"},
		{Path: "none", Goos: "linux", Goarch: "amd64", Type: "Archive"},
	})
	packages := filepath.Join(dist, "npm")
	if err := run([]string{dist, packages}); err != nil {
		t.Fatal(err)
	}
	registry := serve(t, packages)
	work := t.TempDir()
	session, err := filepath.Abs("fixtures/codex/rules/nul-bytes/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+work, "npm_config_registry="+registry, "npm_config_cache="+filepath.Join(work, "cache"), "npm_config_update_notifier=false", "XDG_STATE_HOME="+work, "XDG_CACHE_HOME="+work)
	try := func(want int, words string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Env = work, env
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if got := cmd.ProcessState.ExitCode(); got != want || !strings.Contains(string(out), words) {
			t.Errorf("%s: exit code %d, want %d with %q:\n%s", strings.Join(args, " "), got, want, words, out)
		}
	}
	put(t, filepath.Join(work, "package.json"), map[string]string{"name": "work"})
	try(0, "added 2 packages", npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "@hist-cli/hist")
	if list, _ := filepath.Glob(filepath.Join(work, "node_modules/@hist-cli/*")); len(list) != 2 {
		t.Errorf("installed: %s", list)
	}
	try(0, "hist version", "npx", "--offline", "hist", "--version")
	try(1, "[nul-bytes]", "npx", "--offline", "hist", "lint", session)
	hist := filepath.Join(work, "node_modules/.bin/hist")
	try(2, "hist", hist, "lint", "--no-such-flag")
	ended(t, env, hist)
	if err := os.RemoveAll(filepath.Join(work, "node_modules/@hist-cli/hist-"+nodeName(runtime.GOOS)+"-"+nodeName(runtime.GOARCH))); err != nil {
		t.Fatal(err)
	}
	try(3, "without --omit=optional", hist, "--version")
}

// ended: a program that is told to end ends, and so does what started it, with the same exit code.
func ended(t *testing.T, env []string, hist string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, hist, "lint", "-")
	cmd.Env = env
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second) // until it reads
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() //nolint:errcheck // its exit code tells
	if code := cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("after SIGTERM: %s", cmd.ProcessState)
	}
}

// serve packs the packages and serves them as a registry does.
func serve(t *testing.T, packages string) string {
	t.Helper()
	var list []string
	for _, dir := range must(filepath.Glob(filepath.Join(packages, "*"))) {
		cmd := exec.CommandContext(t.Context(), "npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", packages)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, dir, strings.TrimSpace(string(out)))
	}
	answers := map[string]any{} // by name
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer, ok := answers[r.URL.Path[1:]]; ok {
			json.NewEncoder(w).Encode(answer) //nolint:errcheck // npm says so
			return
		}
		http.ServeFile(w, r, filepath.Join(packages, path.Base(r.URL.Path)))
	}))
	t.Cleanup(server.Close)
	for i := 0; i < len(list); i += 2 {
		var m map[string]any
		if err := read(filepath.Join(list[i], "package.json"), &m); err != nil {
			t.Fatal(err)
		}
		name, version, file := m["name"].(string), m["version"].(string), list[i+1]
		m["dist"] = map[string]string{"tarball": server.URL + "/-/" + file}
		answers[name] = map[string]any{"name": name, "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: m}}
	}
	return server.URL
}

func must(list []string, err error) []string {
	if err != nil {
		panic(err)
	}
	return list
}

func put(t *testing.T, path string, value any) {
	t.Helper()
	data, err := json.Marshal(value)
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
