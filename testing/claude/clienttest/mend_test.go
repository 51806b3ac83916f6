package clienttest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

const someID = "0fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4"

// lay puts a session into a home of its own.
func lay(t testing.TB, data []byte) (path, home string) {
	t.Helper()
	home = filepath.Join(t.TempDir(), ".claude")
	dir := filepath.Join(home, "projects", "-home-dev-demo")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, someID+".jsonl")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, home
}

// lintText lints a session that lies alone.
func lintText(t testing.TB, data []byte, opts lint.Options) []lint.Finding {
	t.Helper()
	path, home := lay(t, data)
	opts.Agent, opts.Home, opts.Name = "claude", home, lint.NameOf(path, true)
	res, err := lint.File(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return res.Findings
}

// mend repairs a session that lies alone.
func mend(t testing.TB, data []byte, opts lint.Options) ([]byte, *repair.Report) {
	t.Helper()
	return mendAs(t, data, opts, repair.Choice{})
}

// mendAs repairs of such a session what is chosen.
func mendAs(t testing.TB, data []byte, opts lint.Options, choice repair.Choice) ([]byte, *repair.Report) {
	t.Helper()
	path, home := lay(t, data)
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	opts.Agent, opts.Home, opts.Name = "claude", home, lint.NameOf(path, true)
	var out bytes.Buffer
	rep, err := repair.Do(t.Context(), repair.Job{Source: src, Lint: opts, Choice: choice, Mode: repair.ToStream, Stream: &out, Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), rep
}

func allowed(f *lint.Finding) bool { return repair.Choice{}.Allows(f) }
