//go:build unix

package cmd

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWatchExecEnds: when the watching is ended, or after --exec-timeout, the command of --exec ends, and so does what it has started;
// after the timeout the watching goes on.
func TestWatchExecEnds(t *testing.T) {
	for name, limit := range map[string]string{"interrupted": "0", "timeout": "300ms"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			bad, err := os.ReadFile("../fixtures/codex/rules/call-without-output/bad.jsonl")
			if err != nil {
				t.Fatal(err)
			}
			dir, beats := t.TempDir(), filepath.Join(t.TempDir(), "beats")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			problems, complained := io.Pipe()
			ended := make(chan error, 1)
			go func() {
				e := &env{in: strings.NewReader(""), out: io.Discard, err: complained}
				err := newApp(e).RunContext(ctx, []string{
					"hist", "watch", "--rest", "20ms", "--exec-timeout", limit, "--exec", `while :; do echo >>"` + beats + `"; sleep 0.02; done & wait`, dir,
				})
				complained.Close()
				ended <- err
			}()
			told := bufio.NewReader(problems)
			if _, err := told.ReadString('\n'); err != nil { // it watches
				t.Fatal(err)
			}
			path := filepath.Join(dir, "rollout-2026-11-18T09-30-00-01a1edfd-e191-74b0-9003-79b97f4a7c15.jsonl")
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(20 * time.Second); size(beats) == 0; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the command did not start")
				}
			}
			if limit == "0" {
				cancel()
			} else if line, err := told.ReadString('\n'); err != nil || !strings.Contains(line, path) || !strings.Contains(line, "--exec-timeout") {
				t.Errorf("told as %q, %v", line, err)
			}
			go io.Copy(io.Discard, told) //nolint:errcheck // nothing more is expected
			if limit == "0" {
				<-ended
			}
			before := size(beats)
			time.Sleep(300 * time.Millisecond)
			if size(beats) != before {
				t.Error("what the command has started goes on")
			}
			if limit != "0" {
				if len(ended) > 0 {
					t.Error("the watching has ended")
				}
				cancel()
				<-ended
			}
		})
	}
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
