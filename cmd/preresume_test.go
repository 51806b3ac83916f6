package cmd

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/preresume"
	"github.com/hist-cli/hist/internal/source"
)

// TestRepairedOnlyByARun: where a repair changes nothing, neither the answer nor the log says that something was repaired.
func TestRepairedOnlyByARun(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	clean, err := os.ReadFile("../fixtures/codex/0.169.0/clean/rollout-2026-11-20T19-53-37-01a1fa85-897f-7b72-87b7-f6ebde981289.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for want, text := range map[preresume.Verdict]string{preresume.Resumable: string(clean), preresume.Corrupt: "no record\nnor this\n"} {
		path := filepath.Join(t.TempDir(), "rollout-2026-11-20T19-53-37-01a1fa85-897f-7b72-87b7-f6ebde981289.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := cli.NewContext(cli.NewApp(), flag.NewFlagSet("", flag.ContinueOnError), nil)
		c.Context = t.Context()
		p := &preRun{env: &env{}, c: c}
		if p.src, err = source.Open(path); err != nil {
			t.Fatal(err)
		}
		after, err := p.repair(target{path: path}, &preresume.Answer{Verdict: preresume.Repairable})
		if err != nil || after.Verdict != want || after.Repaired || after.Run != "" || p.log.Repaired {
			t.Errorf("%s: %+v, %+v, %v", want, after, p.log, err)
		}
	}
}

// TestRepairedUnseen: that a session could not be looked at after its repair hides neither the repair nor how to take it back.
func TestRepairedUnseen(t *testing.T) {
	gone := errors.New("it is gone")
	if a, err := unseen(&preresume.Answer{Verdict: preresume.Repairable}, "20261122T100000Z-aaaaaa", gone); err != nil || !a.Repaired || a.Run == "" || !strings.Contains(a.Reason, "hist undo "+a.Run) {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := unseen(&preresume.Answer{}, "", gone); a != nil || !errors.Is(err, gone) {
		t.Errorf("nothing was repaired: %+v, %v", a, err)
	}
}
