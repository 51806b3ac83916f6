package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/testkit/corpus"
)

// series is how long the runs of one program took, in seconds.
type series struct{ took []float64 }

func (s *series) at(part float64) float64 {
	t := slices.Sorted(slices.Values(s.took))
	return t[int(part*float64(len(t)-1))]
}

func (s *series) median() float64 { return s.at(0.5) }

func (b *bench) add(name string, took float64) {
	if b.times[name] == nil {
		b.times[name] = &series{}
		b.order = append(b.order, name)
	}
	b.times[name].took = append(b.times[name].took, took)
}

// time runs a program once. Exit code 1 is no error, because lint uses it for findings.
func (b *bench) time(p program) (seconds float64, err error) {
	c := b.command(p)
	from := time.Now()
	err = c.Run()
	took := time.Since(from).Seconds()
	if p.undo != nil {
		p.undo()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil
	}
	return took, err
}

// memory measures the peak resident memory of hist lint: for a long stream, and for a line of a gigabyte.
func (b *bench) memory(stream int64) error {
	from, to := io.Pipe()
	go func() { to.CloseWithError(corpus.Write(to, corpus.Options{Size: stream, Seed: 6, Paginated: true})) }()
	var err error
	if b.peaks["stream"], err = b.peak(from, "-"); err != nil {
		return err
	}
	b.peaks["stream GB"] = stream / 1e9
	b.peaks["line"], err = b.peak(nil, b.path("line.jsonl"))
	return err
}

// peak returns the peak resident memory of hist lint in MiB, as Linux counts it.
func (b *bench) peak(in io.Reader, path string) (int64, error) {
	c := b.command(program{args: []string{b.path("hist"), "lint", "--no-config", "--no-cache", path}})
	c.Stdin = in
	if err := c.Start(); err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	var most int64
	for {
		select {
		case err := <-done:
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() == 1 {
				err = nil
			}
			return most, err
		case <-time.After(20 * time.Millisecond):
			most = max(most, resident(c.Process.Pid))
		}
	}
}

func resident(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0 // it has just ended
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	return kib >> 10
}
