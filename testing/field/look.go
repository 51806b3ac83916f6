package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// looker runs hist on one file after the other.
type looker struct {
	hist    string
	timeout time.Duration // of one run
	copies  bool
	scratch string

	mu   sync.Mutex
	seen map[string]bool // the hashes of the files so far
}

// found is one finding of lint, as its JSON has it.
type found struct {
	Line    int64  `json:"line"`
	Rule    string `json:"rule"`
	Impact  string `json:"impact"`
	Message string `json:"message"`
}

// damages says whether lint exits with 1 for a finding.
func (f *found) damages() bool {
	return f.Impact == "blocks" || f.Impact == "loses" || f.Impact == "rejects"
}

// sighting is what was seen of one file.
type sighting struct {
	path, hash string
	by         writer
	lines      int64
	trimmed    bool    // whoever kept the file has taken the last newline off
	again      bool    // the same bytes were seen before
	unclaimed  bool    // it is no session of an agent that hist knows
	findings   []found // all but those that only say that the file is trimmed
	trouble    string  // hist crashed, did not end in time, or changed a healthy file
	class      class
	reason     string
}

// hashDigits is how many digits of its SHA-256 name a file.
const hashDigits = 12

// look runs lint on a file and, if that finds nothing, repair.
func (l *looker) look(ctx context.Context, path string) *sighting {
	s := &sighting{path: path}
	text, err := os.ReadFile(path)
	if err != nil {
		s.trouble = err.Error()
		return s
	}
	sum := sha256.Sum256(text)
	s.hash = hex.EncodeToString(sum[:])[:hashDigits]
	l.mu.Lock()
	s.again, l.seen[s.hash] = l.seen[s.hash], true
	l.mu.Unlock()
	if s.again {
		return s
	}
	s.lines = int64(bytes.Count(bytes.TrimRight(text, "\n"), []byte("\n")) + 1)
	s.by = writerOf(filepath.Base(path), text)
	s.trimmed = len(text) > 0 && text[len(text)-1] != '\n'
	l.lint(ctx, s)
	if l.copies && s.trouble == "" && !s.unclaimed && len(s.findings) == 0 && !s.trimmed {
		l.repair(ctx, s, text)
	}
	return s
}

// lint fills in what lint finds.
func (l *looker) lint(ctx context.Context, s *sighting) {
	out, code, trouble := l.run(ctx, "lint", "--no-cache", "--no-config", "--no-titles", "-f", "json", s.path)
	s.trouble = trouble
	if trouble != "" {
		return
	}
	var told struct {
		Sessions []struct {
			Findings []found `json:"findings"`
		} `json:"sessions"`
	}
	err := json.Unmarshal(out, &told)
	switch {
	case code == 3:
		s.unclaimed = true
		return
	case err != nil || code > 1 || len(told.Sessions) == 0:
		s.trouble = fmt.Sprintf("lint exits with %d and says nothing that can be read", code)
		return
	}
	for _, f := range told.Sessions[0].Findings {
		if f.Rule != "no-final-newline" || !s.trimmed {
			s.findings = append(s.findings, f)
		}
	}
}

// repair checks that a copy of a healthy file has the same bytes.
func (l *looker) repair(ctx context.Context, s *sighting, text []byte) {
	dir, err := os.MkdirTemp(l.scratch, "copy-")
	if err != nil {
		s.trouble = err.Error()
		return
	}
	defer os.RemoveAll(dir)
	to := filepath.Join(dir, "copy.jsonl")
	if _, code, trouble := l.run(ctx, "repair", "-o", to, s.path); trouble != "" || code != 0 {
		s.trouble = fmt.Sprintf("repair of a healthy file exits with %d %s", code, trouble)
		return
	}
	switch copied, err := os.ReadFile(to); {
	case err != nil:
		s.trouble = err.Error()
	case !bytes.Equal(copied, text):
		s.trouble = "repair changed a healthy file"
	}
}

// run runs hist once. trouble is a crash, or that it did not end in time; "" otherwise.
func (l *looker) run(ctx context.Context, args ...string) (out []byte, code int, trouble string) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.hist, args...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+l.scratch)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, -1, fmt.Sprintf("%s does not end within %v", args[0], l.timeout)
	case err != nil && !errors.As(err, &exit):
		return nil, -1, err.Error()
	case bytes.Contains(stderr.Bytes(), []byte("panic: ")) || bytes.Contains(stderr.Bytes(), []byte("fatal error: ")):
		first, _, _ := bytes.Cut(stderr.Bytes(), []byte("\n"))
		return nil, -1, args[0] + " crashes: " + string(first)
	}
	return stdout.Bytes(), cmd.ProcessState.ExitCode(), ""
}
