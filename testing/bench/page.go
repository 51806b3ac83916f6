package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

const head = `# Benchmarks

` + "`go run ./testing/bench -write docs/dev/benchmarks.md`" + ` measures all this. It generates the sessions, builds hist as a release is
built, and runs all commands in turn, so that the ratios hold even if the machine is slow for a moment. The sessions come from
` + "`internal/testkit/corpus`" + `: records as 0.169.0 writes them, unless noted, with the events that repeat each item. Half of the lines are longer
than 1.4 KB, one in a hundred is longer than 21 KB, with 72 escapes per KB and some Japanese text. The mixed session has four lines of
20 MB with an image. With short texts, half of the lines are below 400 bytes, as in sessions that have only just begun.

`

// page writes everything that was measured.
func (b *bench) page(w io.Writer) error {
	var p strings.Builder
	p.WriteString(head)
	fmt.Fprintf(&p, "Machine: %s, %d processors, %s; %s; %d runs each.\n\n", cpu(), runtime.NumCPU(), runtime.Version(), time.Now().Format(time.DateOnly), b.runs)
	if len(b.missing) > 0 {
		fmt.Fprintf(&p, "Not on this machine, so not measured: %s.\n\n", strings.Join(b.missing, ", "))
	}
	fmt.Fprintf(&p, "| what (mixed session: %d MB) | min s | median s | max s |\n|---|---|---|---|\n", b.size/1e6)
	for _, name := range b.order {
		t := b.times[name]
		fmt.Fprintf(&p, "| %s | %.3f | %.3f | %.3f |\n", name, t.at(0), t.median(), t.at(1))
	}
	p.WriteString("\n## Goals\n\n| goal | measured | |\n|---|---|---|\n")
	for _, g := range b.goals() {
		met := "met"
		if !g.met {
			met = "not met"
		}
		fmt.Fprintf(&p, "| %s | %s | %s |\n", g.goal, g.got, met)
	}
	p.WriteString(tail)
	_, err := io.WriteString(w, p.String())
	return err
}

type goal struct {
	goal, got string
	met       bool
}

// ratio returns how many times as long the first takes as the second, by their medians; 0 if one was not measured.
func (b *bench) ratio(slow, fast string) float64 {
	if b.times[slow] == nil || b.times[fast] == nil {
		return 0
	}
	return b.times[slow].median() / b.times[fast].median()
}

func (b *bench) goals() []goal {
	times := func(r float64) string {
		if r == 0 {
			return "not measured"
		}
		return fmt.Sprintf("%.1f ×", r)
	}
	atLeast := func(text string, r, want float64) goal { return goal{text, times(r), r >= want} }
	atMost := func(text string, r, want float64) goal { return goal{text, times(r), r > 0 && r <= want} }
	ms := b.median(preTen) * 1000
	return []goal{
		atLeast("lint of the mixed session on one processor, against a gjson pipeline: at least 3 ×", b.ratio(gjsonMixed, lintMixedOne), 3),
		atLeast("the same of short texts: at least 2.2 ×", b.ratio(gjsonShort, lintShort), 2.2),
		atMost("lint of Claude Code's records against Codex's of the same length: at most 1.15 ×", b.ratio(lintClaude, lintSame), 1.15),
		atLeast("lint against `jq -c .type`: at least 12 ×", b.ratio("jq -c .type", lintMixed), 12),
		atLeast("eight files on all processors against one: at least 1.8 ×", b.ratio(lintManyOne, lintMany), 1.8),
		atLeast("one file on all processors against one: at least 1.7 ×", b.ratio(lintPlainOne, lintPlain), 1.7),
		atMost("repair against lint of the same file: at most 3 ×", b.ratio(repairTorn, lintTorn), 3),
		atMost("repair against `dd` with fsync: at most 1 ×", b.ratio(repairTorn, ddTorn), 1),
		{fmt.Sprintf("memory for %d GB of ordinary lines through a pipe: at most 64 MiB", b.peaks["stream GB"]), fmt.Sprintf("%d MiB", b.peaks["stream"]), b.peaks["stream"] <= 64},
		{"memory for a line of 1024 MiB: at most 1088 MiB", fmt.Sprintf("%d MiB", b.peaks["line"]), b.peaks["line"] <= 1088},
		{"pre-resume on a healthy session of 10 MB: at most 30 ms", fmt.Sprintf("%.0f ms", ms), ms <= 30},
		atMost("the same against `cat`: at most 10 ×", b.ratio(preTen, catTen), 10),
		{"pre-resume on a session of 1 GB: at most 50 ms", fmt.Sprintf("%.0f ms", b.median(preGiga)*1000), b.median(preGiga) <= 0.05},
		atMost("four times the session: at most 4.4 × the time", b.ratio(lintPlain, lintQuarter), 4.4),
	}
}

func (b *bench) median(name string) float64 {
	if b.times[name] == nil {
		return 0
	}
	return b.times[name].median()
}

// cpu returns the processor's name, from Linux's /proc.
func cpu() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	_, after, found := strings.Cut(string(info), "model name\t: ")
	if !found {
		return runtime.GOARCH
	}
	name, _, _ := strings.Cut(after, "\n")
	return name
}
