package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testkit/corpus"
	"github.com/hist-cli/hist/lint"
)

// profilePath is the profile by which releases are compiled, from the module's root: the compiler then knows which calls are
// worth inlining. It is no default.pgo, which would be compiled by in every build of a developer, too, all libraries anew.
const profilePath = "testing/bench/lint.pgo"

// releaseFlags are the flags of go build that make the program as a release has it, which .goreleaser.yaml sets, too. Without the tag,
// a tenth of the program's start goes into a library for manual pages that nothing uses.
func releaseFlags() ([]string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/hist-cli/hist").Output()
	if err != nil {
		return nil, fmt.Errorf("looking for the module: %w", err)
	}
	return []string{"-tags=urfave_cli_no_docs", "-pgo=" + filepath.Join(strings.TrimSpace(string(root)), profilePath)}, nil
}

// profiled are the kinds of session that lint is profiled with, each for the same time.
var profiled = []struct {
	name  string
	write func(io.Writer, corpus.Options) error
	corpus.Options
}{
	{"long texts", corpus.Write, corpus.Options{Seed: 1, Paginated: true, Images: true}},
	{"short texts", corpus.Write, corpus.Options{Seed: 1, Paginated: true, Text: 50}},
	{"without ordinals", corpus.Write, corpus.Options{Seed: 1}},
	{"Claude Code's, short texts", corpus.WriteClaude, corpus.Options{Seed: 1, Text: 50}},
}

// profile writes to a file where lint spends its time, on one processor: each kind of session, of size bytes, is linted for the
// same time.
func profile(path string, size int64, each time.Duration) error {
	dir, err := os.MkdirTemp("", "hist-profile-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir}
	for _, kind := range profiled {
		kind.Size = size
		if err := b.write(kind.name, func(w io.Writer) error { return kind.write(w, kind.Options) }); err != nil {
			return err
		}
	}
	var out bytes.Buffer
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if err := pprof.StartCPUProfile(&out); err != nil {
		return err
	}
	for _, kind := range profiled {
		for end := time.Now().Add(each); err == nil && time.Now().Before(end); {
			err = lintFile(b.path(kind.name))
		}
	}
	pprof.StopCPUProfile()
	if err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// lintFile lints a session, and returns an error if it has findings.
func lintFile(path string) error {
	src, err := source.Open(path)
	if err != nil {
		return err
	}
	defer src.Close()
	res, err := lint.Source(context.Background(), src, lint.Options{Name: lint.NameOf(path, false), Processors: 1})
	if err == nil && len(res.Findings) > 0 {
		err = fmt.Errorf("%s: %s in a sound session", path, res.Findings[0].Message)
	}
	return err
}
