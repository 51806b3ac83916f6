package shim_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkCost measures what the shim costs, all in one run, with the client that the tests play, bare and behind the
// shim in turns, so that whatever else the machine does meets both:
//
//	go test ./testing/shim -run - -bench Cost
//
// It reports medians: of the bare client, of the one behind the shim, and of the differences between neighbours.
func BenchmarkCost(b *testing.B) {
	const size = 60 << 20 / 120 * 120
	load, _ := os.ReadFile("/proc/loadavg")
	b.Logf("load: %s", load)
	pairs(b, "start of anything else", "ms", "none", func(p *place) float64 {
		began := time.Now()
		if err := p.command("exec", "hello").Run(); err != nil {
			b.Fatal(err)
		}
		return millis(began)
	})
	pairs(b, "first answer", "ms", "app", func(p *place) float64 {
		began := time.Now()
		r := p.start("app-server")
		r.ask(hello)
		took := millis(began)
		r.end()
		return took
	})
	pairs(b, "first answer at a socket", "ms", "socket", func(p *place) float64 {
		path := filepath.Join(p.dir, "s")
		began := time.Now()
		r := p.start("app-server", "--listen", "unix://"+path)
		c := reach(b, path)
		took := millis(began)
		c.Close()
		r.cmd.Process.Kill()
		r.cmd.Wait()
		os.Remove(path)
		os.Remove(path + ".c")
		return took
	})
	for _, c := range []struct {
		name string
		size int
	}{{"message of 120 bytes, there and back", 120}, {"message of 4 kB, there and back", 4 << 10}, {"message of 500 kB, there and back", 500 << 10}} {
		line := fmt.Sprintf(`{"method":"item/agentMessage/delta","params":{"delta":"%s"}}`, strings.Repeat("x", c.size-60))
		pairs(b, c.name, "ms", "echo:0", func(p *place) float64 {
			many := min(200, 20<<20/c.size)
			r := p.start("app-server")
			r.exchange(line)
			began := time.Now()
			for range many {
				r.exchange(line)
			}
			took := millis(began) / float64(many)
			r.end()
			return took
		})
	}
	pairs(b, "what a client says at once", "MB/s", fmt.Sprintf("flood:%d", size), func(p *place) float64 {
		began := time.Now()
		r := p.start("app-server")
		if n, err := io.Copy(io.Discard, r.out); n != size || err != nil {
			b.Fatal(n, err)
		}
		took := millis(began)
		r.cmd.Wait()
		return size / 1e3 / took
	})
}

// pairs runs a measurement bare and behind the shim, in turns.
func pairs(b *testing.B, name, unit, role string, measure func(p *place) float64) {
	b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
		bare, shim := newPlace(b, role), newPlace(b, role)
		bare.shim = filepath.Join(bare.dir, "real/codex")
		var without, with, more []float64
		for b.Loop() {
			one, other := measure(bare), measure(shim)
			without, with, more = append(without, one), append(with, other), append(more, other-one)
		}
		b.ReportMetric(0, "ns/op") // that of both together says nothing
		b.ReportMetric(median(without), "bare-"+unit)
		b.ReportMetric(median(with), "shim-"+unit)
		b.ReportMetric(median(more), "more-"+unit)
	})
}

func millis(began time.Time) float64 { return float64(time.Since(began)) / float64(time.Millisecond) }

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// end lets a client end, which is not a part of what is measured.
func (r *running) end() {
	r.in.Close()
	r.cmd.Wait()
}

// exchange sends a line and reads one; one that does not fit into the pipes is read while it is sent.
func (r *running) exchange(line string) {
	if len(line) < 32<<10 {
		r.say(line)
		r.line()
		return
	}
	sent := make(chan error)
	go func() {
		_, err := io.WriteString(r.in, line+"\n")
		sent <- err
	}()
	r.line()
	<-sent
}
