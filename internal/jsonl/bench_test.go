package jsonl

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

func benchCorpora() map[string][]string {
	return map[string][]string{
		"mixed":    mixedLines(24_000_000),
		"short":    repeat(seedLines[:5], 2000),
		"escapes":  repeat([]string{mixedEscapes()}, 200),
		"image":    {base64Line(1_000_000)},
		"japanese": repeat([]string{`{"type":"x","payload":{"type":"y","text":"` + strings.Repeat("テストは成功しました。", 200) + `"}}`}, 200),
	}
}

func mixedEscapes() string {
	return `{"type":"x","payload":{"type":"y","text":"` + strings.Repeat(`if err != nil {\n\t\treturn \"nothing\"\n}\n`, 50) + `"}}`
}

func repeat(lines []string, n int) []string {
	var all []string
	for range n {
		all = append(all, lines...)
	}
	return all
}

func BenchmarkScan(b *testing.B) {
	shape := mustCompile("type", "payload.type", "payload.call_id", "payload.id")
	corpora := benchCorpora()
	for _, name := range []string{"mixed", "short", "escapes", "image", "japanese"} {
		var lines [][]byte
		size := 0
		for _, l := range corpora[name] {
			lines = append(lines, []byte(l))
			size += len(l)
		}
		each := func(tool string, check func([]byte) bool) {
			b.Run(name+"/"+tool, func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					for _, l := range lines {
						if !check(l) {
							b.Fatal("refused")
						}
					}
				}
			})
		}
		s := NewScanner(shape)
		spans := make([]Span, 4)
		each("hist", func(l []byte) bool { return s.Scan(l, spans).Fault == None })
		each("gjson", func(l []byte) bool {
			if !gjson.ValidBytes(l) || !utf8.Valid(l) {
				return false
			}
			for _, p := range []string{"type", "payload.type", "payload.call_id", "payload.id"} {
				gjson.GetBytes(l, p)
			}
			return true
		})
		each("json", json.Valid)
	}
}

func BenchmarkReader(b *testing.B) {
	text := strings.Join(mixedLines(24_000_000), "\n") + "\n"
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(strings.NewReader(text))
		for {
			if _, err := r.Next(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}
