package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestReleaseFlags: what is measured is compiled as a release is.
func TestReleaseFlags(t *testing.T) {
	config, err := os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	flags, err := releaseFlags()
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range flags {
		if profile, ok := strings.CutPrefix(flag, "-pgo="); ok {
			if _, err := os.Stat(profile); err != nil {
				t.Error(err)
			}
			flag = "-pgo=" + profilePath
		}
		if !strings.Contains(string(config), "- "+flag+"\n") {
			t.Errorf("a release is not compiled with %s", flag)
		}
	}
}

// TestProfile: a profile is written of all kinds of session.
func TestProfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lint.pgo")
	if err := profile(path, 100_000, 20*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || len(text) == 0 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
