package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"hist": func() { os.Exit(Main(os.Args, os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the sessions in testdata/script: terminal sessions as a user might have them. $FIXTURES is the
// repository's fixtures; each script has a home and a state folder of its own.
func TestScripts(t *testing.T) {
	fixtures, err := filepath.Abs("../fixtures")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("FIXTURES", fixtures)
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("CODEX_HOME", filepath.Join(e.WorkDir, "codex"))
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("KILLED", "rollout-2026-11-20T19-53-51-01a1fa85-bfc3-74d1-9684-43a82083e7d1.jsonl")
			e.Setenv("ID", "01a1fa85-bfc3-74d1-9684-43a82083e7d1")
			return nil
		},
	})
}
