package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestScaffold: what is made compiles, and its tests fail for what is missing and for nothing else.
func TestScaffold(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles an agent; left out by -short")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	made, err := scaffold(dir, "fourth", "The Fourth")
	if err != nil || len(made) != 3 {
		t.Fatal(made, err)
	}
	overlay := map[string]map[string]string{"Replace": {}}
	for _, path := range made {
		if filepath.Ext(path) == ".go" {
			rel, _ := filepath.Rel(dir, path)
			overlay["Replace"][filepath.Join(root, rel)] = path
		}
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "fourth.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-c", "-o", bin, "-overlay", file, "./internal/agent/fourth")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), bin)
	cmd.Dir = filepath.Join(dir, "internal", "agent", "fourth")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("the tests of an agent that is not written pass")
	}
	for _, want := range []string{"add fourth.Agent to all.Agents", "no command resumes a thread", "write ReadSent", "fill in Home"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "panic") {
		t.Errorf("%s", out)
	}
	if _, err := scaffold(dir, "fourth", ""); err == nil {
		t.Error("it writes over what is there")
	}
	if _, err := scaffold(dir, "Not-a-name", ""); err == nil {
		t.Error("it takes any name")
	}
}
