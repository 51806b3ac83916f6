package cmd

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInstallAndRemove: what is installed is removed to the last file, an earlier version is replaced, and what a user has changed or
// added is left alone.
func TestInstallAndRemove(t *testing.T) {
	home := t.TempDir()
	dir := pluginDir(home)
	install := func(program string) error { return installPlugin(t.Context(), home, program) }
	if err := removePlugin(home); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without an install: %v", err)
	}
	for _, program := range []string{"/opt/old one/hist", "hist"} {
		if err := install(program); err != nil {
			t.Fatal(err)
		}
		var hooks any
		data, err := os.ReadFile(filepath.Join(dir, "hooks", "hooks.json"))
		if err != nil || json.Unmarshal(data, &hooks) != nil || !strings.Contains(string(data), program) {
			t.Errorf("%s: %v: %s", program, err, data)
		}
	}
	skill := filepath.Join(dir, "SKILL.md")
	own, err := os.ReadFile(skill)
	if err != nil {
		t.Fatal(err)
	}
	put(t, skill, "mine")
	for name, err := range map[string]error{"install": install("hist"), "remove": removePlugin(home)} {
		if !errors.Is(err, errAltered) || !strings.Contains(err.Error(), skill) {
			t.Errorf("%s over a changed file: %v", name, err)
		}
	}
	if data, _ := os.ReadFile(skill); string(data) != "mine" {
		t.Errorf("the user's file is %q", data)
	}
	put(t, skill, string(own))
	added := filepath.Join(dir, "notes.md")
	put(t, added, "mine")
	if err := removePlugin(home); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 || left[0] != added {
		t.Errorf("left: %s", left)
	}
	if err := os.Remove(added); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(install("hist"), removePlugin(home)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

// TestRecordIsNotTrusted: a record that names files outside of the folder removes nothing.
func TestRecordIsNotTrusted(t *testing.T) {
	home := t.TempDir()
	if err := installPlugin(t.Context(), home, "hist"); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(home, "config.toml")
	put(t, other, "mine")
	put(t, filepath.Join(pluginDir(home), pluginRecord), `{"../../config.toml":"`+hexSHA256([]byte("mine"))+`"}`)
	if err := removePlugin(home); !errors.Is(err, errAltered) {
		t.Error(err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
