package repair

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/testkit/corpus"
)

// BenchmarkRepair mends ten megabytes of a session that is torn at its end, and one from whose middle a line is gone, so
// that all numbers behind it change.
func BenchmarkRepair(b *testing.B) {
	var text bytes.Buffer
	if err := corpus.Write(&text, corpus.Options{Size: 10 << 20, Seed: 1, Paginated: true}); err != nil {
		b.Fatal(err)
	}
	lines := bytes.SplitAfter(text.Bytes(), newline)
	call := 0
	for i, l := range lines[:len(lines)/2] {
		if bytes.Contains(l[:min(len(l), 300)], []byte(`"type":"function_call"`)) {
			call = i
		}
	}
	for name, damaged := range map[string][]byte{
		"torn at the end":      append(bytes.Clone(text.Bytes()), `{"timestamp":"2026-11`...),
		"a torn call, halfway": bytes.Join(append(append(append([][]byte{}, lines[:call]...), append(bytes.Clone(lines[call][:90]), '\n')), lines[call+1:]...), nil),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(damaged)))
			b.ReportAllocs()
			for b.Loop() {
				if err := repairOnce(damaged); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func repairOnce(damaged []byte) error {
	src, err := source.Stdin(bytes.NewReader(damaged), "")
	if err != nil {
		return err
	}
	defer src.Close()
	rep, err := Do(context.Background(), Job{Source: src, Mode: ToStream, Stream: io.Discard})
	if err == nil && len(rep.Edits) == 0 {
		err = fmt.Errorf("nothing was mended")
	}
	return err
}
