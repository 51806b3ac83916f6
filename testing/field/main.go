// Command field runs hist over a folder of real session files and says what it found, so that a person can look at each finding: a finding
// in a healthy session is the worst kind of bug. docs/dev/field.md says what it found so far, and how that was judged.
//
//	go run ./testing/field -hist ./hist [-judged FILE] [-v] DIR ...
//
// Files that hold the same bytes count once. Each file is linted where it lies, with what lies beside it; a file without any finding is
// repaired into a copy, which must be the same to the byte. Nothing is written but the report on standard output. The exit code is 1 if
// hist crashed, did not end in time, or changed a healthy file, or if more of the healthy files than -most have a finding.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

func main() {
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "field:", err)
		code = 3
	}
	os.Exit(code)
}

func run() (int, error) {
	hist := flag.String("hist", "hist", "the `program` to run")
	judgedFile := flag.String("judged", "", "a `file` with a line for each session that a person has found damaged: the first digits of its SHA-256, and the reason")
	most := flag.Float64("most", 0.2, "how many `percent` of the healthy sessions of an agent may have a finding")
	timeout := flag.Duration("timeout", time.Minute, "how long one run of hist may take")
	jobs := flag.Int("jobs", 2, "how many `files` are looked at at the same time")
	copies := flag.Bool("copies", true, "repair each file without a finding, and compare the copy")
	verbose := flag.Bool("v", false, "print each finding with its file and line")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		return 2, nil
	}
	program, err := filepath.Abs(*hist)
	if err != nil {
		return 0, err
	}
	judged, err := readJudged(*judgedFile)
	if err != nil {
		return 0, err
	}
	paths, err := sessionsBelow(flag.Args())
	if err != nil {
		return 0, err
	}
	scratch, err := os.MkdirTemp("", "field-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(scratch)
	l := &looker{hist: program, timeout: *timeout, copies: *copies, scratch: scratch, seen: map[string]bool{}}
	sessions := l.all(paths, *jobs)
	r := &report{most: *most, verbose: *verbose, files: len(paths)}
	for _, s := range sessions {
		s.judge(judged)
		r.add(s)
	}
	out := bufio.NewWriter(os.Stdout)
	bad := r.print(out)
	if err := out.Flush(); err != nil {
		return 0, err
	}
	if bad {
		return 1, nil
	}
	return 0, nil
}

// all looks at every file, and returns the sessions in the order of their paths.
func (l *looker) all(paths []string, jobs int) []*sighting {
	found := make([]*sighting, len(paths))
	next := make(chan int)
	var wait sync.WaitGroup
	for range max(1, jobs) {
		wait.Go(func() {
			for i := range next {
				found[i] = l.look(context.Background(), paths[i])
			}
		})
	}
	for i := range paths {
		next <- i
	}
	close(next)
	wait.Wait()
	return found
}

// sessionsBelow are the files below some folders whose names end like a session's.
func sessionsBelow(dirs []string) (paths []string, err error) {
	for _, dir := range dirs {
		err = errors.Join(err, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && strings.HasSuffix(path, ".jsonl") {
				paths = append(paths, path)
			}
			return err
		}))
	}
	return paths, err
}

// readJudged reads which sessions are known to be damaged, by the first digits of their hashes.
func readJudged(path string) (map[string]string, error) {
	judged := map[string]string{}
	if path == "" {
		return judged, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for n, line := range strings.Split(string(text), "\n") {
		sum, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case sum == "" || strings.HasPrefix(sum, "#"):
		case len(sum) < hashDigits || reason == "":
			return nil, fmt.Errorf("%s:%d: a line is %d digits of a SHA-256, a space, and why the session is damaged", path, n+1, hashDigits)
		default:
			judged[sum[:hashDigits]] = reason
		}
	}
	return judged, nil
}
