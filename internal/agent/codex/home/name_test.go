package home

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/testkit/testfile"
)

const (
	idA = "019a0000-0000-7000-8000-000000000001"
	idB = "019a0000-0000-7000-8000-000000000002"
	idC = "0199ffff-0000-7000-8000-000000000003"
)

func TestParseName(t *testing.T) {
	const at = "2026-11-20T22-03-59"
	for name, want := range map[string]FileName{
		"rollout-" + at + "-" + idA + ".jsonl":                  {at, idA, idA, false},
		"rollout-" + at + "-" + idA + ".jsonl.zst":              {at, idA, idA, true},
		"rollout-" + at + "-" + idA + "_" + idB + ".jsonl":      {at, idA, idB, false},
		"rollout-" + at + "-" + idA + "_" + idB + ".jsonl.zst":  {at, idA, idB, true},
		"rollout-" + at + "-" + strings.ToUpper(idA) + ".jsonl": {at, idA, idA, false},
	} {
		if got, ok := ParseName(name); !ok || got != want {
			t.Errorf("%s: %+v %v", name, got, ok)
		}
	}
	for _, name := range []string{
		"", "rollout-", "rollout-.jsonl", ".jsonl", "rollout-" + at + ".jsonl", "rollout-" + at + "-.jsonl",
		"rollout-" + at + "-" + idA, "rollout-" + at + "-" + idA + ".json", "rollout-" + at + "-" + idA + ".zst",
		"rollout-" + at + "-" + idA + ".jsonl.zst.zst", "rollout-" + at + "_" + idA + ".jsonl",
		"rollout-" + at + "-" + idA + "_.jsonl", "rollout-" + at + "-" + idA + "_" + idB + "_" + idA + ".jsonl",
		"rollout-" + at + "-" + idA + "x.jsonl", "x-rollout-" + at + "-" + idA + ".jsonl",
		"rollout-2026-13-20T22-03-59-" + idA + ".jsonl", "rollout-2026-02-30T22-03-59-" + idA + ".jsonl",
		"rollout-2026-11-20T24-03-59-" + idA + ".jsonl", "rollout-2026-11-20 22-03-59-" + idA + ".jsonl",
		"rollout-2026-11-20T2-03-59.1-" + idA + ".jsonl", "rollout-" + at + "-{" + idA + "}.jsonl",
		"rollout-" + at + "-" + strings.ReplaceAll(idA, "-", "") + ".jsonl", ".hist-6560a1b2-0123456789abcdef.tmp",
	} {
		if got, ok := ParseName(name); ok {
			t.Errorf("%q parses as %+v", name, got)
		}
	}
}

// TestRight: a copy is known by the name that its own begins with, compressed or not.
func TestRight(t *testing.T) {
	const name = "rollout-2026-11-20T22-03-59-" + idA
	for base, want := range map[string]string{
		name + ".jsonl":                       "",
		name + ".jsonl.zst":                   "",
		name + "_" + idB + ".jsonl":           name + ".jsonl",
		name + " (1).jsonl":                   name + ".jsonl",
		name + " (1).jsonl.zst":               name + ".jsonl",
		name + ".sync-conflict-1-ABC.jsonl":   name + ".jsonl",
		name + " (1).json":                    "",
		"Copy of " + name + ".jsonl":          name + ".jsonl",
		"rollout-2026-13-20T22-03-59-x.jsonl": "",
	} {
		if got := Right(base); got != want {
			t.Errorf("%q: %q", base, got)
		}
	}
	dir := testfile.Tree(t, name+".jsonl.zst", name+" (1).jsonl", name+" (2).jsonl.zst", "rollout-2026-11-20T22-03-59-"+idB+" (1).jsonl")
	if got := Doubles(filepath.Join(dir, name+".jsonl.zst"), ""); len(got) != 2 {
		t.Error(got)
	}
}

func TestNameRoundTrip(t *testing.T) {
	at := time.Date(2026, 11, 20, 22, 3, 59, 0, time.FixedZone("x", 3600))
	name := Name(at, strings.ToUpper(idA))
	if name != "rollout-2026-11-20T22-03-59-"+idA+".jsonl" {
		t.Error(name)
	}
	if got, ok := ParseName(name); !ok || got.ThreadID != idA {
		t.Errorf("%+v %v", got, ok)
	}
	if got := Name(at, "../../etc/passwd"); got != "" {
		t.Errorf("a bad id made the name %q", got)
	}
}

func TestIsID(t *testing.T) {
	if !IsID(idA) || !IsID(strings.ToUpper(idA)) {
		t.Error("a UUID is not an id")
	}
	for _, s := range []string{
		"", "x", idA + "\n", idA + "\x00", " " + idA, idA[1:], "{" + idA + "}", strings.ReplaceAll(idA, "-", ""),
		"../../../../../../../../etc/passwd00", "..%2f" + idA[5:], "\x1b[31m" + idA[5:], strings.Replace(idA, "-", "/", 1),
		strings.Replace(idA, "0", "é", 1), strings.Replace(idA, "-", "0", 1), strings.Repeat("-", 36),
	} {
		if IsID(s) {
			t.Errorf("%q is an id", s)
		}
	}
}

func TestDefaultAndSessions(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("CODEX_HOME", dir)
	if got, err := Default(); got != dir || err != nil {
		t.Error(got, err)
	}
	t.Chdir(dir)
	t.Setenv("CODEX_HOME", "sub")
	if got, err := Default(); !filepath.IsAbs(got) || err != nil {
		t.Error(got, err)
	}
	t.Setenv("CODEX_HOME", "")
	t.Setenv("HOME", dir)
	t.Setenv("USERPROFILE", dir)
	if got, err := Default(); got != filepath.Join(dir, ".codex") || err != nil {
		t.Error(got, err)
	}
	if got := Sessions(dir); got != nil {
		t.Error(got)
	}
	os.Mkdir(filepath.Join(dir, "archived_sessions"), 0o700)
	os.WriteFile(filepath.Join(dir, "sessions"), nil, 0o600) // not a directory
	if got := Sessions(dir); len(got) != 1 || filepath.Base(got[0]) != "archived_sessions" {
		t.Error(got)
	}
}
