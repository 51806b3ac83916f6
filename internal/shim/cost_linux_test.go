package shim_test

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// The costs are measured with the client that the tests play, bare and behind the shim, in turns:
//
//	go test ./internal/shim -run - -bench . -count 5
func eachWay(b *testing.B, role string, run func(b *testing.B, p *place)) {
	for _, way := range []string{"bare", "shim"} {
		b.Run(way, func(b *testing.B) {
			p := newPlace(b, role)
			if way == "bare" {
				p.shim = filepath.Join(p.dir, "real/codex")
			}
			run(b, p)
		})
	}
}

// BenchmarkStart is the start, and the end, of a client that is no app-server.
func BenchmarkStart(b *testing.B) {
	eachWay(b, "none", func(b *testing.B, p *place) {
		for b.Loop() {
			if err := p.command("exec", "hello").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFirstAnswer is the time from the start of an app-server to its first answer.
func BenchmarkFirstAnswer(b *testing.B) {
	eachWay(b, "app", func(b *testing.B, p *place) {
		for b.Loop() {
			r := p.start("app-server")
			r.ask(hello)
			b.StopTimer()
			r.in.Close()
			r.cmd.Wait()
			b.StartTimer()
		}
	})
}

// BenchmarkMessage is a message of 120 bytes, there and back.
func BenchmarkMessage(b *testing.B) {
	eachWay(b, "echo:0", func(b *testing.B, p *place) {
		r := p.start("app-server")
		line := fmt.Sprintf(`{"method":"item/agentMessage/delta","params":{"delta":"%s"}}`, strings.Repeat("x", 60))
		r.exchange(line)
		for b.Loop() {
			r.exchange(line)
		}
	})
}

// exchange sends a line and reads one.
func (r *running) exchange(line string) {
	r.say(line)
	r.line()
}

// BenchmarkBulk is what a client says as fast as it can, in lines of 120 bytes.
func BenchmarkBulk(b *testing.B) {
	const size = 60 << 20 / 120 * 120
	eachWay(b, fmt.Sprintf("flood:%d", size), func(b *testing.B, p *place) {
		b.SetBytes(size)
		for b.Loop() {
			r := p.start("app-server")
			if n, err := io.Copy(io.Discard, r.out); n != size || err != nil {
				b.Fatal(n, err)
			}
			r.cmd.Wait()
		}
	})
}
