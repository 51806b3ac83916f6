// Command bench compares hist with the programs that one would use instead, in one run, and writes docs/dev/benchmarks.md.
//
//	go run ./testing/bench -runs 7 -write docs/dev/benchmarks.md
//
// It also makes the profile by which releases are compiled:
//
//	go run -trimpath ./testing/bench -profile testing/bench/lint.pgo
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/testkit/corpus"
)

func main() {
	size := flag.Int64("size", 524_000_000, "length of the long session in bytes")
	stream := flag.Int64("stream", 10_000_000_000, "length in bytes of the session that comes through a pipe")
	runs := flag.Int("runs", 7, "how often each program is run")
	page := flag.String("write", "", "write the page to this file; without it, to standard output")
	pgo := flag.String("profile", "", "only profile lint, and write that to this file")
	flag.Parse()
	if *pgo != "" {
		if err := profile(*pgo, 100_000_000, 10*time.Second); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*size, *stream, *runs, *page); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(size, stream int64, runs int, page string) error {
	dir, err := os.MkdirTemp("", "hist-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, runs: runs, size: size}
	if err := b.prepare(); err != nil {
		return err
	}
	// Data that is still being written to the disk would disturb the measurements.
	if err := exec.Command("sync").Run(); err != nil {
		return fmt.Errorf("waiting for the disk: %w", err)
	}
	if err := b.compare(); err != nil {
		return err
	}
	if err := b.memory(stream); err != nil {
		return err
	}
	var out io.Writer = os.Stdout
	if page != "" {
		f, err := os.Create(page)
		if err != nil {
			return err
		}
		defer f.Close()
		out = f
	}
	return b.page(out)
}

// bench is one run of all measurements.
type bench struct {
	dir     string
	runs    int
	size    int64
	times   map[string]*series
	order   []string
	peaks   map[string]int64 // MiB
	missing []string         // programs that are not installed
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// prepare builds the programs and makes the sessions.
func (b *bench) prepare() error {
	b.times, b.peaks = map[string]*series{}, map[string]int64{}
	flags, err := releaseFlags()
	if err != nil {
		return err
	}
	for name, args := range map[string][]string{"hist": append(flags, "github.com/hist-cli/hist"), "gjsonpipe": {"github.com/hist-cli/hist/testing/bench/gjsonpipe"}} {
		build := exec.Command("go", append([]string{"build", "-trimpath", "-o", b.path(name)}, args...)...)
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as in a release
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w: %s", name, err, out)
		}
	}
	files := map[string]corpus.Options{
		"mixed.jsonl": {Size: b.size, Seed: 1, Paginated: true, Images: true}, "ten.jsonl": {Size: 10 << 20, Seed: 3, Paginated: true},
		"quarter.jsonl": {Size: b.size / 4, Seed: 1, Paginated: true}, "plain.jsonl": {Size: b.size, Seed: 1, Paginated: true},
		"giga.jsonl": {Size: 1 << 30, Seed: 4, Paginated: true}, "legacy.jsonl": {Size: b.size, Seed: 1, Images: true},
		"short.jsonl": {Size: b.size / 4, Seed: 1, Paginated: true, Text: 50},
		"same.jsonl":  {Size: b.size / 8, Seed: 1, Paginated: true, Text: sameText},
	}
	for i := range 8 {
		files[fmt.Sprintf("many/s%d.jsonl", i)] = corpus.Options{Size: b.size / 8, Seed: int64(10 + i), Paginated: true}
	}
	for name, o := range files {
		if err := b.write(name, func(w io.Writer) error { return corpus.Write(w, o) }); err != nil {
			return err
		}
	}
	if err := b.write("claude.jsonl", func(w io.Writer) error {
		return corpus.WriteClaude(w, corpus.Options{Size: b.size / 8, Seed: 1, Text: 50})
	}); err != nil {
		return err
	}
	if err := b.write("line.jsonl", oneLine); err != nil {
		return err
	}
	return b.write("torn.jsonl", func(w io.Writer) error {
		if err := corpus.Write(w, corpus.Options{Size: b.size / 2, Seed: 1, Paginated: true}); err != nil {
			return err
		}
		_, err := io.WriteString(w, `{"timestamp":"2026-11-18T09:30:00.000Z","type":"event_msg","payload":{"type":"token_c`)
		return err
	})
}

// sameText is how long texts of Codex's are, for its records to be as long as those of Claude Code's with short texts: that
// writes more beside them.
const sameText = 530

func (b *bench) write(name string, fill func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(b.path(name)), 0o755); err != nil {
		return err
	}
	f, err := os.Create(b.path(name))
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Close())
}

// oneLine writes a session with a message of a gigabyte.
func oneLine(w io.Writer) error {
	if err := corpus.Write(w, corpus.Options{Seed: 5}); err != nil {
		return err
	}
	if _, err := io.WriteString(w, `{"timestamp":"2026-11-18T09:30:00.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"`); err != nil {
		return err
	}
	block := []byte(strings.Repeat("words and more of them ", 1<<15))
	for n := 0; n < 1<<30; n += len(block) {
		if _, err := w.Write(block); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "\"}]}}\n")
	return err
}

// program is one thing that is measured.
type program struct {
	name string
	args []string
	one  bool   // on one processor
	warm bool   // it is run once before it is measured
	undo func() // removes what it wrote; may be nil
}

func (b *bench) programs() []program {
	hist, mixed := b.path("hist"), b.path("mixed.jsonl")
	lint := func(name string) []string { return []string{hist, "lint", "--no-config", "--no-cache", b.path(name)} }
	return []program{
		{name: lintMixed, args: lint("mixed.jsonl")},
		{name: lintMixedOne, args: lint("mixed.jsonl"), one: true},
		{name: gjsonMixed, args: []string{b.path("gjsonpipe"), mixed}, one: true},
		{name: "jq -c .type", args: []string{"jq", "-c", ".type", mixed}},
		{name: "python3, json.loads", args: []string{"python3", "-c", "import sys, json\nfor l in open(sys.argv[1], 'rb'): json.loads(l)", mixed}},
		{name: "node, JSON.parse", args: []string{"node", "-e", `const r=require("readline").createInterface({input:require("fs").createReadStream(process.argv[1])});r.on("line",l=>JSON.parse(l))`, mixed}},
		{name: "cat", args: []string{"cat", mixed}},
		{name: "hist lint, as 0.114.0 writes, one processor", args: lint("legacy.jsonl"), one: true},
		{name: "the gjson pipeline with that", args: []string{b.path("gjsonpipe"), b.path("legacy.jsonl")}, one: true},
		{name: lintShort, args: lint("short.jsonl"), one: true},
		{name: gjsonShort, args: []string{b.path("gjsonpipe"), b.path("short.jsonl")}, one: true},
		{name: lintClaude, args: lint("claude.jsonl"), one: true},
		{name: lintSame, args: lint("same.jsonl"), one: true},
		{name: lintMany, args: lint("many")},
		{name: lintManyOne, args: lint("many"), one: true},
		{name: lintPlain, args: lint("plain.jsonl")},
		{name: lintPlainOne, args: lint("plain.jsonl"), one: true},
		{name: lintQuarter, args: lint("quarter.jsonl")},
		{name: lintTorn, args: lint("torn.jsonl")},
		// A disk that is told what has been deleted takes four times as long for places that it has to find anew. Where dd has just been,
		// neither it nor the repair behind it has to wait for that.
		{name: ddTorn, warm: true, args: []string{"dd", "status=none", "bs=1M", "conv=fsync", "if=" + b.path("torn.jsonl"), "of=" + b.path("copy.jsonl")}, undo: func() {
			os.Remove(b.path("copy.jsonl"))
		}},
		{name: repairTorn, args: []string{hist, "repair", "-o", b.path("copy.jsonl"), b.path("torn.jsonl")}, undo: func() {
			os.Remove(b.path("copy.jsonl"))
			os.RemoveAll(b.path("state"))
		}},
		{name: preTen, args: []string{hist, "pre-resume", b.path("ten.jsonl")}},
		{name: catTen, args: []string{"cat", b.path("ten.jsonl")}},
		{name: preGiga, args: []string{hist, "pre-resume", b.path("giga.jsonl")}},
		{name: start, args: []string{hist, "--version"}},
	}
}

// Names of measurements that goals refer to.
const (
	lintMixed    = "hist lint, all processors"
	lintMixedOne = "hist lint, one processor"
	gjsonMixed   = "a gjson pipeline, one processor"
	lintMany     = "hist lint, eight files"
	lintManyOne  = "hist lint, eight files, one processor"
	lintPlain    = "hist lint, without images"
	lintPlainOne = "hist lint, without images, one processor"
	lintQuarter  = "hist lint, a quarter of it"
	lintShort    = "hist lint, a quarter, short texts, one processor"
	gjsonShort   = "the gjson pipeline with those"
	lintClaude   = "hist lint, an eighth, of Claude Code's, short texts, one processor"
	lintSame     = "hist lint, an eighth, of Codex's, records of that length, one processor"
	lintTorn     = "hist lint, half of it, torn at the end"
	ddTorn       = "dd with fsync, that half"
	repairTorn   = "hist repair of that"
	preTen       = "hist pre-resume, 10 MB"
	catTen       = "cat, 10 MB"
	preGiga      = "hist pre-resume, 1 GB"
	start        = "hist --version"
)

// compare runs the programs in turn, so that a slow moment of the machine affects all of them.
func (b *bench) compare() error {
	list := b.programs()
	for round := range b.runs + 1 { // the first one warms the caches
		for _, p := range list {
			if _, err := exec.LookPath(p.args[0]); err != nil {
				if round == 0 {
					b.missing = append(b.missing, p.args[0])
				}
				continue
			}
			took, err := b.time(p)
			if err == nil && p.warm {
				took, err = b.time(p)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if round > 0 {
				b.add(p.name, took)
			}
		}
	}
	return nil
}

func (b *bench) command(p program) *exec.Cmd {
	c := exec.Command(p.args[0], p.args[1:]...)
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+b.path("state"), "CODEX_HOME="+b.path("home"))
	if p.one {
		c.Env = append(c.Env, "GOMAXPROCS=1")
	} else {
		c.Env = append(c.Env, fmt.Sprintf("GOMAXPROCS=%d", runtime.NumCPU()))
	}
	return c
}
