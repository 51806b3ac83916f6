package lint

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/testkit/corpus"
)

// long repeats the turn of a clean recording, each time an hour later, under ids and ordinals of its own.
func long(b testing.TB, version string, size int) []byte {
	b.Helper()
	found, err := filepath.Glob(filepath.Join(fixtures, "codex", version, "clean", "rollout-*.jsonl"))
	if err != nil || len(found) != 1 {
		b.Fatal(found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		b.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(lines[len(lines)-1], '\n')
	ordinal := regexp.MustCompile(`"ordinal":\d+`)
	ids := regexp.MustCompile(`"(call_id|id|turn_id|root_turn_id)":"([^"]*)"`)
	times := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)
	out := bytes.Clone(lines[0])
	for n, turn := 1, 0; len(out) < size; turn++ {
		for _, l := range lines[1:] {
			l = times.ReplaceAllFunc(l, func(at []byte) []byte {
				then, err := time.Parse(time.RFC3339, string(at))
				if err != nil {
					b.Fatal(err)
				}
				return then.Add(time.Duration(turn)*time.Hour).AppendFormat(nil, "2006-01-02T15:04:05.000Z")
			})
			l = ordinal.ReplaceAll(l, fmt.Appendf(nil, `"ordinal":%d`, n))
			out = append(out, ids.ReplaceAll(l, fmt.Appendf(nil, `"${1}":"${2}%d"`, turn))...)
			n++
		}
	}
	return out
}

// BenchmarkSession lints ten megabytes of a session: turns as real clients of Codex wrote them, and generated ones of Claude Code.
func BenchmarkSession(b *testing.B) {
	var claude bytes.Buffer
	if err := corpus.WriteClaude(&claude, corpus.Options{Size: 10 << 20, Seed: 1, Text: 400}); err != nil {
		b.Fatal(err)
	}
	for _, s := range []struct {
		name string
		text []byte
	}{{"0.114.0", long(b, "0.114.0", 10<<20)}, {"0.169.0", long(b, "0.169.0", 10<<20)}, {"Claude Code", claude.Bytes()}} {
		b.Run(s.name, func(b *testing.B) {
			res, err := Session(context.Background(), bytes.NewReader(s.text), Options{})
			if err != nil {
				b.Fatal(err)
			}
			if n := len(res.Findings); n > 0 {
				b.Fatalf("%d findings in a sound session, the first: %s", n, res.Findings[0].Message)
			}
			b.SetBytes(int64(len(s.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Session(context.Background(), bytes.NewReader(s.text), Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
